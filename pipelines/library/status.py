"""What an index holds, what could not be read, what to do about it, and whether its files are intact."""

from __future__ import annotations

import platform
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from os.path import isdir
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spanwise.errors import SpanwiseError
from spanwise.version import __version__

from ...index.ann import CACHE as CODES
from ...index.shards import is_sharded, shard_folders
from ...index.store import Store
from ...models.model_files import wrong_weights
from ..folders import CATALOG_NAME, is_writable, resolve_index
from .answer_cache import CACHE_NAME, AnswerCache
from .loaded_models import RERANKER, ModelKind, command

if TYPE_CHECKING:
    from ...index.snapshot import Snapshot
    from .library import Library

LANGUAGE = "the built-in models read English"
BUILT_IN = {None, "base", "dpr", "builtin"}  # names of encoders
EXTRAS = {"serve": "uvicorn", "mcp": "mcp", "llm": "xllamacpp"}  # the package that shows an extra


def status_record(library: Library, check: bool = False) -> dict[str, Any]:
    """The figures of an index, of its last commit; with `check` also those of the installation."""
    with library.reading() as snapshot:
        record = _record(library, snapshot)
    return record | ({"check": check_record(library)} if check else {})


def _record(library: Library, snapshot: Snapshot) -> dict[str, Any]:
    known, missing = snapshot.descriptions(), library.missing_vectors()
    refusals = snapshot.unread_files().values()
    refused = {
        kind: _counts(one.reason.partition(":")[0] for one in refusals if one.kind == kind)
        for kind in ("rejected", "skipped")
    }
    return {
        "index": str(library.store.path),
        "roots": [
            {"label": root.label, "folder": str(root.folder), "there": isdir(root.folder)}  # noqa: PTH112
            for root in library.roots
        ],
        "generation": snapshot.generation,
        "last_commit": last_commit(library.store.path),
        "bytes": bytes_below(library.store.path),
        "disk": disk_record(library.store.path, snapshot),
        "documents": snapshot.n_documents,
        "passages": snapshot.n_passages,
        "vectors": snapshot.n_passages - missing,
        "missing_vectors": missing,
        "model": library.model,
        "language": LANGUAGE if {library.model, library.colbert} <= BUILT_IN else "",
        "approximate": approximate_record(snapshot),
        "colbert": colbert_record(library, snapshot),
        "formats": _counts(document.media_type for document in known),
        "remarks": sum("remark" in document.metadata for document in known),
        **refused,
        "cache": cache_record(library.store.path, library.is_caching),
    }


def cache_record(index: Path, on: bool) -> dict[str, Any]:
    """The answer cache of an index; `fault` is the reason why it is of no use, if so."""
    cache = AnswerCache(index / CACHE_NAME)
    answers = cache.count()
    cache.close()
    return {
        "on": on,
        "fault": cache.fault or ("" if is_writable(index) else f"{index} cannot be written to"),
        "answers": answers,
        "bytes": sum(path.stat().st_size for path in index.glob(f"{CACHE_NAME}*")),
    }


def disk_record(index: Path, snapshot: Snapshot) -> dict[str, int]:
    """The bytes of each part of an index: catalog, segments by kind, approximate indexes, cached answers."""
    catalog, answers = (
        sum(path.lstat().st_size for path in _files(index, file)) for file in (CATALOG_NAME, CACHE_NAME)
    )
    codes = sum(map(bytes_below, _files(index, CODES)))
    return {"catalog": catalog, **snapshot.sizes(), "codes": codes, "answers": answers}


def _files(index: Path, name: str) -> list[Path]:
    """The files of an index and of its shards whose names begin so."""
    return [*index.glob(f"{name}*"), *index.glob(f"shard-*/{name}*")]


def colbert_record(library: Library, snapshot: Snapshot) -> dict[str, Any] | None:
    """The token vectors of an index; None when it keeps none.

    `passages` have vectors, `missing` do not yet; `tokens` is the number of vectors, `bytes` their size on
    disk with their codebook.
    """
    if library.colbert is None:
        return None
    models, sizes = snapshot.token_models(), snapshot.sizes()
    done = max(models.values(), default=0)
    return {
        "model": library.colbert,
        "passages": done,
        "missing": snapshot.n_passages - done,
        "tokens": sum(map(snapshot.n_tokens, models)),
        "bytes": sizes.get("tokens", 0) + sizes.get("codebook", 0),
    }


def approximate_record(snapshot: Snapshot) -> list[dict[str, Any]]:
    """The approximate index of each model: recall of the exact top 10, wanted and measured, and vectors."""
    found = {model: snapshot.tuning(model) for model in sorted(snapshot.vector_models())}
    return [
        {
            "model": model,
            "recall": round(one[0].recall, 4),
            "wanted": round(one[0].wanted, 4),
            "vectors": one[1],
        }
        for model, one in found.items()
        if one is not None
    ]


def file_records(snapshot: Snapshot) -> list[dict[str, str]]:
    """One record for each file that the last sync read or rejected, ordered by document id."""
    read = [
        {
            "document": document.id,
            "state": "indexed",
            "format": document.media_type,
            "remark": document.metadata.get("remark", ""),
        }
        for document in snapshot.descriptions()
    ]
    refused = [
        {"document": name, "state": refusal.kind, "format": "", "remark": refusal.reason}
        for name, refusal in snapshot.unread_files().items()
    ]
    return sorted(read + refused, key=lambda record: record["document"])


def advice(record: Mapping[str, Any]) -> list[str]:
    """What to do about the state of an index, one sentence each; empty when all is well."""
    sync_command, listing = (command(verb, record["index"]) for verb in ("index", "status"))
    found = [
        f"{root['folder']} is missing: restore it, or run: {sync_command} --drop FOLDER"
        for root in record["roots"]
        if not root["there"]
    ]
    if not record["passages"]:
        found.append(f"nothing can be searched yet; fill it with: {sync_command}")
    n_tokens = record["colbert"]["missing"] if record["colbert"] else 0
    n_dense = record["missing_vectors"] if record["model"] else 0
    for kind, n in (("dense search", n_dense), ("search by tokens", n_tokens)):
        if n:
            found.append(f"{kind} lacks {n} passages; finish with: {sync_command}")
    if record["rejected"]:
        found.append(f"some files could not be read; list them with: {listing} --rejected")
    if record["remarks"]:
        found.append(f"some documents have remarks; list them with: {listing} --files")
    return found


def _counts(names: Iterable[str]) -> dict[str, int]:
    """How often each name occurs, the most frequent first, then by name."""
    return dict(sorted(Counter(names).items(), key=lambda item: (-item[1], item[0])))


def last_commit(index: Path) -> str:
    """Local time, to the second, at which the catalog or its log was last written."""
    parts = [path.stat() for path in _files(index, CATALOG_NAME) if not path.name.endswith("-shm")]
    latest = max(part.st_mtime for part in parts if part.st_size)  # a reader makes an empty log
    return datetime.fromtimestamp(latest).astimezone().isoformat(timespec="seconds")


def bytes_below(folder: Path) -> int:
    """The total size of the files in a directory and below it; links are not followed."""
    sizes = (path.lstat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sum(sizes)


# The installation


def check_record(library: Library) -> dict[str, Any]:
    """Versions, extras, digests of the models in use, free disk; `problems` are sentences."""
    packages, problems = {}, []
    for requirement in requires("spanwise") or []:
        if "extra ==" in requirement:
            continue
        name = re.split(r"[ \[<>=!~;]", requirement, maxsplit=1)[0]
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            problems.append(f"{name} is not installed. Install it with: pip install {name}")
    problems += wrong_weights()
    digests = {}
    models: dict[ModelKind, str] = {"reader": "builtin", "cross-encoder": RERANKER}
    if library.model is not None:
        models["encoder"] = library.model
    if library.colbert is not None:
        models["token-encoder"] = library.colbert
    for kind, name in models.items():
        try:
            digests[kind] = {"name": name, "digest": library.model_digest(kind, name)}
        except (SpanwiseError, OSError) as error:
            problems.append(f"the {kind} {name} cannot be used: {error}")
    path = library.store.path
    free = shutil.disk_usage(path).free
    if free < bytes_below(path):
        problems.append(f"only {free / 1e9:.1f} GB are free at {path}: a sync may fill the disk")
    if not is_writable(path):
        problems.append(f"{path} cannot be written to: it can be searched and not synced")
    return {
        "spanwise": __version__,
        "python": sys.version.split()[0],
        "system": platform.platform(terse=True),
        "packages": packages,
        "extras": {name: find_spec(package) is not None for name, package in EXTRAS.items()},
        "models": digests,
        "disk_free_bytes": free,
        "problems": problems,
    }


# Verification


@dataclass(frozen=True, slots=True)
class Verification:
    """The index, a line for each problem, and how much was checked: 0 where there is a problem."""

    index: Path
    problems: tuple[str, ...]
    documents: int = 0
    passages: int = 0
    bytes: int = 0


def verify(index: str | Path) -> Verification:
    """The problems of an index, named by its directory or by the folder that holds it; reads all of it."""
    path, problems, counts = resolve_index(Path(index)), list[str](), [0, 0]
    for part in shard_folders(path) if is_sharded(path) else [path]:
        with Store.open(part) as store:
            problems += store.verify()
            if not problems:
                with store.snapshot() as snapshot:
                    counts = [counts[0] + snapshot.n_documents, counts[1] + snapshot.n_passages]
    return Verification(path, tuple(problems), *([] if problems else [*counts, bytes_below(path)]))


def verification_record(found: Verification) -> dict[str, Any]:
    """The JSON of `verify --json`."""
    checked = {"documents": found.documents, "passages": found.passages, "bytes": found.bytes}
    problems = list(found.problems)
    return {"index": str(found.index), "problems": problems, "checked": {} if problems else checked}
