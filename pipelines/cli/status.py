"""`spanwise status` and `spanwise verify`: the state of an index and of the installation."""

from collections.abc import Mapping
from typing import Annotated, Any

from typer import Exit, Option

from ..plain_text import one_line
from . import options as opt
from .show import print_json, write


def status(
    index: opt.Index = None,
    files: Annotated[bool, Option("--files", "--documents", help="List every file, with its state.")] = False,
    rejected: Annotated[bool, Option("--rejected", help="List unindexed files, and why.")] = False,
    remarks: Annotated[bool, Option("--remarks", help="List the documents with remarks.")] = False,
    check: Annotated[
        bool, Option("--check", help="Check the installation: versions, models, extras, disk.")
    ] = False,
    json: opt.Json = False,
) -> None:
    """Show what an index contains: documents, passages, vectors, models, rejected files."""
    from ..library.status import advice

    with opt.library_of(None, index) as library:
        record = library.status(check)
        advised = advice(record)
        is_listing = files or rejected or remarks
        listed = library.files() if is_listing else []
    if not files:
        indexed = [file for file in listed if file["state"] == "indexed" and file["remark"]]
        unread = [file for file in listed if file["state"] != "indexed"]
        listed = (indexed if remarks else []) + (unread if rejected else [])
    if json:
        listing = {"files": listed} if is_listing else {}
        print_json({**record, "advice": advised, **listing})
    elif is_listing:
        for file in listed:
            write("  ".join(filter(None, (f"{file['state']:8}", one_line(file["document"]), file["remark"]))))
    else:
        _show(record, advised)


def verify(
    index: opt.Index = None,
    files: Annotated[
        bool, Option("--files", help="Read the indexed files too: name those that differ or are gone.")
    ] = False,
    json: opt.Json = False,
) -> None:
    """Read every byte of an index; print a line for each problem, and exit with 1 if there is one."""
    from ..library.status import verification_record, verify as verify_index

    result = verify_index(opt.index_of(index), files)
    if json:
        print_json(verification_record(result))
    else:
        for problem in result.problems:
            write(" ".join(problem.split()))
        if not result.problems:
            size = f"{result.documents} documents, {result.passages} passages, {result.bytes:,} bytes"
            write(f"no problems: {size} in {result.index}")
    if result.problems:
        raise Exit(1)


def _show(record: Mapping[str, Any], advised: list[str]) -> None:
    rows = {
        "index": f"{record['index']} ({record['bytes'] / 1e6:.1f} MB)",
        "folders": ", ".join(root["folder"] for root in record["roots"]),
        "last commit": record["last_commit"],
        "documents": _total(record["formats"]),
        "passages": str(record["passages"]),
        "vectors": f"{record['vectors']} by model {record['model']}, {record['missing_vectors']} missing"
        if record["model"]
        else "",
        "language": record["language"],
        "colbert": _colbert(record["colbert"]),
        "disk": ", ".join(f"{name} {size / 1e6:.1f} MB" for name, size in record["disk"].items() if size),
        "approximate": "; ".join(
            f"{search['vectors']} vectors, recall {search['recall']:.3f}" for search in record["approximate"]
        ),
        "remarks": f"on {record['remarks']} documents" if record["remarks"] else "",
        "rejected": _total(record["rejected"]),
        "skipped": _total(record["skipped"]),
        "declining": _unseen(record["unseen"]),
        "cache": _cache(record["cache"]),
        "ocr": f"{record['ocr']['mode']}, by {record['ocr']['engine'] or 'no engine'}",
    }
    for name, value in rows.items():
        if value:
            write(f"{name:12} {value}")
    for sentence in advised:
        write(f"- {sentence}")
    if "check" in record:
        _show_check(record["check"])


def _show_check(check: Mapping[str, Any]) -> None:
    write(f"spanwise {check['spanwise']}, Python {check['python']}, {check['system']}")
    write("packages     " + ", ".join(f"{name} {number}" for name, number in check["packages"].items()))
    extras = (f"{name} {'installed' if there else 'missing'}" for name, there in check["extras"].items())
    write("extras       " + ", ".join(extras))
    for kind, model in check["models"].items():
        write(f"{kind:12} {model['name']} {model['digest']}")
    write(f"free disk    {check['disk_free_bytes'] / 1e9:.1f} GB")
    for problem in check["problems"] or ["no problems found"]:
        write(f"- {problem}")


def _colbert(colbert: Mapping[str, Any] | None) -> str:
    if colbert is None:
        return ""
    return (
        f"{colbert['tokens']:,} token vectors of {colbert['passages']} passages by {colbert['model']}, "
        f"{colbert['missing']} missing ({colbert['bytes'] / 1e6:.1f} MB)"
    )


def _unseen(unseen: Mapping[str, Any] | None) -> str:
    if unseen is None:
        return ""
    return (
        f"of {unseen['absent']} questions without an answer about {unseen['folders']} unseen folders "
        f"{unseen['answered']} are answered ({unseen['lowest']:.0%} to {unseen['highest']:.0%} of a folder)"
    )


def _cache(cache: Mapping[str, Any]) -> str:
    if not cache["on"] or cache["fault"]:
        return f"off: {cache['fault'] or 'disabled'}"
    return f"{cache['answers']} answers ({cache['bytes'] / 1e6:.1f} MB)"


def _total(counts: Mapping[str, int]) -> str:
    total = str(sum(counts.values()))
    return f"{total}: {', '.join(f'{count} {name}' for name, count in counts.items())}" if counts else total
