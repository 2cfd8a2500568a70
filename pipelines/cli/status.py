"""`spanwise status`: what an index holds, what could not be read, and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from ..records import gap_record
from .arguments import IndexOption, JsonOption, library_of
from .terminal import print_json, visible


def status(
    index: IndexOption = None,
    files: Annotated[bool, typer.Option("--files", help="List every file, with remarks.")] = False,
    rejected: Annotated[
        bool, typer.Option("--rejected", help="List the files that were not indexed, and why.")
    ] = False,
    gaps: Annotated[
        bool, typer.Option("--gaps", help="List what of the documents the encoder's window did not reach.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Show what an index holds: documents, passages, vectors, model, and what could not be read."""
    from ..status import advice, file_records

    with library_of(None, index) as library:
        record = library.status()
        told = [*advice(record, library.sync_command), *filter(None, [library.default_advice])]
        listed = [
            each
            for each in (file_records(library) if files or rejected else [])
            if files or each["state"] != "indexed"
        ]
        missed = library.gaps() if gaps else []
    if json:
        listing = ({"files": listed} if files or rejected else {}) | (
            {"gaps": [gap_record(gap) for gap in missed]} if gaps else {}
        )
        print_json({**record, "advice": told, **listing})
    elif gaps:
        for gap in missed:
            print(visible(f"{gap.document_id}  {gap.start}-{gap.end}  {' '.join(gap.text.split())}"))
    elif files or rejected:
        for each in listed:
            print(visible("  ".join(filter(None, (f"{each['state']:8}", each["document"], each["remark"])))))
    else:
        _show(record, told)


def _show(record: Mapping[str, Any], told: list[str]) -> None:
    rows = {
        "index": f"{record['index']} ({record['bytes'] / 1e6:.1f} MB)",
        "folders": ", ".join(root["folder"] for root in record["roots"]),
        "last commit": f"{record['last_commit']}, generation {record['generation']}",
        "documents": _total(record["documents"], record["formats"]),
        "passages": str(record["passages"]),
        "vectors": f"{record['vectors']} of model {record['model']}, {record['missing_vectors']} missing",
        "colbert": _colbert(record["colbert"]),
        "disk": ", ".join(f"{name} {size / 1e6:.1f} MB" for name, size in record["disk"].items() if size),
        "approximate": "; ".join(
            f"{each['vectors']} vectors, recall {each['recall']:.3f}, {each['wanted']:.3f} wanted"
            for each in record["approximate"]
        ),
        "remarks": f"on {record['remarks']} documents" if record["remarks"] else "",
        "rejected": _total(sum(record["rejected"].values()), record["rejected"]),
        "skipped": _total(sum(record["skipped"].values()), record["skipped"]),
        "cache": _cache(record["cache"]),
    }
    for name, value in rows.items():
        if value:
            print(f"{name:12} {visible(value)}")
    for sentence in told:
        print(f"- {visible(sentence)}")


def _colbert(colbert: Mapping[str, Any] | None) -> str:
    if colbert is None:
        return ""
    return (
        f"{colbert['tokens']:,} token vectors of {colbert['passages']} passages by {colbert['model']}, "
        f"{colbert['missing']} missing ({colbert['bytes'] / 1e6:.1f} MB)"
    )


def _cache(cache: Mapping[str, Any]) -> str:
    if not cache["on"] or cache["fault"]:
        return f"not in use: {cache['fault'] or 'it was turned off'}"
    held = f"{cache['answers']} answers, {cache['vectors']} question vectors ({cache['bytes'] / 1e6:.1f} MB)"
    looks = cache["hits"] + cache["misses"]
    return f"{held}; found {cache['hits']} of {looks} ({cache['hit_rate']:.0%})" if looks else held


def _total(total: int | None, counts: Mapping[str, int]) -> str:
    parts = ", ".join(f"{count} {name}" for name, count in counts.items())
    return parts if total is None else f"{total}: {parts}" if parts else str(total)
