"""What an index holds, what could not be read, and what there is to do about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spanwise.types import Span

from ..index.ann import CACHE as CODES
from .answer_cache import KIND as ANSWER
from .cache_file import CACHE_NAME, CacheFile, Looks
from .disk_usage import bytes_below
from .loaded_models import QUESTION as VECTOR
from .locations import CATALOG_NAME, is_writable

if TYPE_CHECKING:
    from ..index.snapshot import Snapshot
    from .library import Library


def status_record(library: Library) -> dict[str, Any]:
    """The figures of an index; counts are of its last commit."""
    with library.reading() as snapshot:
        return _record(library, snapshot)


def _record(library: Library, snapshot: Snapshot) -> dict[str, Any]:
    return {
        "index": str(library.store.path),
        "roots": [
            {"label": root.label, "folder": str(root.folder), "there": root.folder.is_dir()}
            for root in library.roots
        ],
        "generation": snapshot.generation,
        "last_commit": last_commit(library.store.path),
        "bytes": bytes_below(library.store.path),
        "disk": disk_record(library.store.path, snapshot),
        "documents": snapshot.n_documents,
        "passages": snapshot.n_passages,
        "vectors": snapshot.n_passages - library.missing_vectors(),
        "missing_vectors": library.missing_vectors(),
        "model": library.model,
        "approximate": approximate_record(snapshot),
        "colbert": colbert_record(library, snapshot),
        "beyond_window": beyond_window_record(library.gaps()),
        **_documents(snapshot),
        **_refused(snapshot),
        "cache": cache_record(library.store.path, library.is_caching),
    }


def cache_record(index: Path, on: bool) -> dict[str, Any]:
    """What the cache of an index holds and how often it helped; `fault` says why it is of no use, if so.

    `hits`, `misses` and `hit_rate` are of answers and hits of searches, since the cache was made or cleared.
    """
    with CacheFile(index / CACHE_NAME) as file:
        entries, looks = file.entries(), file.looks()
        fault = file.fault
    answers, vectors = looks.get(ANSWER, Looks()), looks.get(VECTOR, Looks())
    return {
        "on": on,
        "fault": fault or ("" if is_writable(index) else f"{index} cannot be written to"),
        "answers": entries.get(ANSWER, 0),
        "vectors": entries.get(VECTOR, 0),
        "bytes": sum(path.stat().st_size for path in index.glob(f"{CACHE_NAME}*")),
        "hits": answers.hits,
        "misses": answers.misses,
        "hit_rate": answers.rate,
        "vector_hits": vectors.hits,
        "vector_misses": vectors.misses,
    }


def disk_record(index: Path, snapshot: Snapshot) -> dict[str, int]:
    """How many bytes each part of an index takes: the catalog with the text of all documents, segments by
    their kind, the codes of a large collection, the answers that were kept.
    """
    names = ("catalog", "answers")
    found = {
        name: sum(path.lstat().st_size for path in index.glob(f"{file}*"))
        for name, file in zip(names, (CATALOG_NAME, CACHE_NAME), strict=True)
    }
    codes = bytes_below(index / CODES)
    return {
        "catalog": found["catalog"],
        **snapshot.sizes(),
        "codes": codes,
        "answers": found["answers"],
    }


def colbert_record(library: Library, snapshot: Snapshot) -> dict[str, Any] | None:
    """The token vectors that an index keeps; None when it keeps none.

    `passages` have vectors, `missing` do not yet; `tokens` counts the vectors, `bytes` what they take on
    disk with their codebook.
    """
    setting = library.colbert
    if setting is None:
        return None
    models, sizes = snapshot.token_models(), snapshot.sizes()
    return {
        "model": setting.name,
        "passages": max(models.values(), default=0),
        "missing": library.missing_tokens(),
        "tokens": sum(snapshot.stored_tokens(model).n_rows for model in models),
        "bytes": sizes.get("tokens", 0) + sizes.get("codebook", 0),
    }


def approximate_record(snapshot: Snapshot) -> list[dict[str, Any]]:
    """Of each model with an approximate index: its recall of the exact top 10, wanted and as measured when it
    was tuned, and how many vectors are searched by it.
    """
    found = {model: snapshot.codes(model) for model in sorted(snapshot.vector_models())}
    return [
        {
            "model": model,
            "recall": round(codes.tuning.recall, 4),
            "wanted": round(codes.tuning.wanted, 4),
            "vectors": len(codes.passage_ids),
        }
        for model, codes in found.items()
        if codes is not None
    ]


def file_records(library: Library) -> list[dict[str, str]]:
    """One record for each file that the last sync read or refused, ordered by document id."""
    with library.reading() as snapshot:
        return _files(snapshot)


def _files(snapshot: Snapshot) -> list[dict[str, str]]:
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
        for name, refusal in snapshot.refusals().items()
    ]
    return sorted(read + refused, key=lambda record: record["document"])


def advice(record: Mapping[str, Any], sync_command: str) -> list[str]:
    """What to do about the state of an index, one sentence each; empty when all is well."""
    told = [
        f"{root['folder']} is missing: bring it back, or: {sync_command} --drop FOLDER"
        for root in record["roots"]
        if not root["there"]
    ]
    if not record["passages"]:
        told.append(f"nothing can be searched yet; fill it with: {sync_command}")
    if record["missing_vectors"]:
        told.append(f"dense search lacks {record['missing_vectors']} passages; finish with: {sync_command}")
    if record["colbert"] and record["colbert"]["missing"]:
        n = record["colbert"]["missing"]
        told.append(f"search by tokens lacks {n} passages; finish with: {sync_command}")
    beyond = record["beyond_window"]
    if beyond["documents"]:
        told.append(f"{beyond_sentence(beyond)}; see where with: spanwise status --gaps")
    if record["rejected"]:
        told.append("some files could not be read; see which with: spanwise status --rejected")
    if record["remarks"]:
        told.append("on some documents there are remarks; see them with: spanwise status --files")
    return told


def beyond_window_record(gaps: Sequence[Span]) -> dict[str, int]:
    """How many documents have parts beyond the encoder's window, and how many characters these have."""
    return {
        "documents": len({gap.document_id for gap in gaps}),
        "characters": sum(len(gap.text) for gap in gaps),
    }


def beyond_sentence(beyond: Mapping[str, int]) -> str:
    """The same in words.

    >>> beyond_sentence({"documents": 3, "characters": 1204})
    "3 documents have parts beyond the encoder's window (1,204 characters)"
    """
    n = beyond["documents"]
    have = "document has" if n == 1 else "documents have"
    return f"{n} {have} parts beyond the encoder's window ({beyond['characters']:,} characters)"


def _documents(snapshot: Snapshot) -> dict[str, Any]:
    known = snapshot.descriptions()
    return {
        "formats": _counts(document.media_type for document in known),
        "remarks": sum("remark" in document.metadata for document in known),
    }


def _refused(snapshot: Snapshot) -> dict[str, Any]:
    refusals = snapshot.refusals().values()
    return {
        kind: _counts(refusal.reason.partition(":")[0] for refusal in refusals if refusal.kind == kind)
        for kind in ("rejected", "skipped")
    }


def _counts(names: Iterable[str]) -> dict[str, int]:
    """How often each name occurs, the most frequent first, then by name."""
    return dict(sorted(Counter(names).items(), key=lambda item: (-item[1], item[0])))


def last_commit(index: Path) -> str:
    """Local time, to the second, at which the catalog or its log was last written.

    A reader that opens the catalog makes an empty log, which says nothing.
    """
    parts = [path.stat() for path in index.glob(f"{CATALOG_NAME}*") if not path.name.endswith("-shm")]
    latest = max(part.st_mtime for part in parts if part.st_size)
    return datetime.fromtimestamp(latest).astimezone().isoformat(timespec="seconds")
