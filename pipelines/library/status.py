"""Figures of an index, advice on its state, a check of the installation, and verification of its files."""

from __future__ import annotations

import platform
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from os.path import isdir
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spanwise.errors import DocumentRejected, SpanwiseError
from spanwise.version import __version__

from ...corpora.folder import read_regular
from ...corpora.readers.scan import MISSING, find_engine
from ...index.ann import CACHE as CODES
from ...index.pages import OCR
from ...index.schema import UnreadFile
from ...index.shards import is_sharded, shard_folders
from ...index.store import Store
from ...models.model_files import BUILTIN, wrong_weights
from ...reader.evidence import Calibrations
from ...reader.load import CALIBRATION, reader_folder
from ..folders import CATALOG_NAME, Root, is_writable, list_roots, read_roots, resolve_index
from ..parsing.ocr import DEFAULT, waiting_pages
from .answer_cache import CACHE_NAME, AnswerCache
from .loaded_models import COLBERT, MODEL, RERANKER, VECTORS, LoadedModels, ModelKind, command

if TYPE_CHECKING:
    from ...index.snapshot import Snapshot

LANGUAGE = "the built-in models read English"
ABSENT = "file not there now"
BUILT_IN = {None, "base", "dpr", "builtin"}  # names of encoders
# The package that shows an extra.
EXTRAS = {
    "models": "torch",
    "train": "sklearn",
    "serve": "uvicorn",
    "mcp": "mcp",
    "llm": "xllamacpp",
    "ocr": "rapidocr",
}
Record = dict[str, Any]


def status_record(
    snapshot: Snapshot, store: Store, models: LoadedModels, roots: Sequence[Root], is_caching: bool
) -> Record:
    """The figures of a commit of an index."""
    index = store.path
    model = store.settings[MODEL] or None
    colbert = store.settings.get(COLBERT) or None
    documents = snapshot.descriptions()
    missing = missing_vectors(snapshot, models, model)
    refusals = list(snapshot.unread_files().values())
    absent = sum(state.is_absent for state in snapshot.files().values())
    calibration = reader_folder(BUILTIN) / CALIBRATION
    unseen = Calibrations.load(calibration).fallback.unseen if calibration.is_file() else None
    return {
        "index": str(index),
        "roots": [
            {"label": root.label, "folder": str(root.folder), "there": isdir(root.folder)}  # noqa: PTH112
            for root in roots
        ],
        "generation": snapshot.generation,
        "last_commit": last_commit(index),
        "bytes": bytes_below(index),
        "disk": disk_record(index, snapshot),
        "documents": snapshot.n_documents,
        "absent": absent,
        "passages": snapshot.n_passages,
        "vectors": snapshot.n_passages - missing,
        "missing_vectors": missing,
        "model": model,
        "language": LANGUAGE if {model, colbert} <= BUILT_IN else "",
        "approximate": approximate_record(snapshot),
        "colbert": colbert_record(snapshot, models, colbert),
        "formats": _counts(document.media_type for document in documents),
        "remarks": sum("remark" in document.metadata for document in documents),
        "rejected": _reasons(refusals, "rejected"),
        "skipped": _reasons(refusals, "skipped"),
        "unseen": unseen and asdict(unseen),
        "cache": cache_record(index, is_caching),
        "ocr": ocr_record(snapshot, store.settings),
    }


def ocr_record(snapshot: Snapshot, settings: Mapping[str, str]) -> Record:
    """The setting of OCR, the number of pages that wait for it, and the engine, or None without one."""
    engine = find_engine()
    mode = settings.get(OCR, DEFAULT)
    waiting = sum(waiting_pages(snapshot, mode).values())
    return {"mode": mode, "waiting": waiting, "engine": str(engine) if engine else None}


def waiting_scans(ocr: Mapping[str, Any], sync_command: str) -> str:
    """The advice on pages that wait for OCR; empty if none do, or if OCR is off."""
    if not ocr["waiting"] or ocr["mode"] == "off":
        return ""
    pages = "1 page waits" if ocr["waiting"] == 1 else f"{ocr['waiting']:,} pages wait"
    return f"{pages} for OCR: {'' if ocr['engine'] else MISSING}run: {sync_command}"


def missing_vectors(snapshot: Snapshot, models: LoadedModels, model: str | None) -> int:
    """The number of passages without a dense vector, or token vector in an index without dense ones.

    Vectors of another model than the index names do not count, such as those of an older version.
    """
    key, stored = (MODEL, snapshot.vector_models()) if model else (COLBERT, snapshot.token_models())
    return snapshot.n_passages - models.n_encoded(key, stored)


def cache_record(index: Path, on: bool) -> Record:
    """The answer cache of an index; `fault` is the reason why it cannot be used, or ""."""
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
    return {
        "catalog": sum(path.lstat().st_size for path in _files(index, CATALOG_NAME)),
        **snapshot.sizes(),
        "codes": sum(map(bytes_below, _files(index, CODES))),
        "answers": sum(path.lstat().st_size for path in _files(index, CACHE_NAME)),
        "ocr": sum(map(bytes_below, _files(index, OCR))),
    }


def _files(index: Path, name: str) -> list[Path]:
    """The files of an index and of its shards whose names start with this one."""
    return [*index.glob(f"{name}*"), *index.glob(f"shard-*/{name}*")]


def colbert_record(snapshot: Snapshot, models: LoadedModels, model: str | None) -> Record | None:
    """The token vectors of an index; None without a model of them.

    `passages` have vectors, `missing` do not yet. `tokens` is the number of vectors, `bytes` their size on
    disk with their codebook.
    """
    if model is None:
        return None
    stored = snapshot.token_models()
    sizes = snapshot.sizes()
    n_encoded = models.n_encoded(COLBERT, stored)
    return {
        "model": model,
        "passages": n_encoded,
        "missing": snapshot.n_passages - n_encoded,
        "tokens": sum(map(snapshot.n_tokens, stored)),
        "bytes": sizes.get("tokens", 0) + sizes.get("codebook", 0),
    }


def approximate_record(snapshot: Snapshot) -> list[Record]:
    """The approximate index of each model: recall of the exact top 10, and vectors."""
    records = []
    for model in sorted(snapshot.vector_models()):
        tuning = snapshot.tuning(model)
        if tuning is not None:
            quality, n_vectors = tuning
            records.append({"model": model, "recall": round(quality.recall, 4), "vectors": n_vectors})
    return records


def file_records(snapshot: Snapshot) -> list[dict[str, str]]:
    """One record for each file that the last sync read or rejected, ordered by document id."""
    states = snapshot.files()
    read = [
        {
            "document": document.id,
            "state": "absent" if states[document.id].is_absent else "indexed",
            "format": document.media_type,
            "remark": ABSENT * states[document.id].is_absent or document.metadata.get("remark", ""),
        }
        for document in snapshot.descriptions()
    ]
    refused = [
        {"document": name, "state": refusal.kind, "format": "", "remark": refusal.reason}
        for name, refusal in snapshot.unread_files().items()
    ]
    return sorted(read + refused, key=lambda record: record["document"])


def advice(record: Mapping[str, Any]) -> list[str]:
    """One sentence per problem in the state of an index, with its remedy."""
    sync_command = command("index", record["index"])
    listing = command("status", record["index"])
    sentences = [
        f"{root['folder']} is missing: restore it, or run: {sync_command} --drop FOLDER"
        for root in record["roots"]
        if not root["there"]
    ]
    if record["absent"]:
        sentences.append(kept(record["absent"], sync_command))
    if not record["passages"]:
        sentences.append(f"nothing can be searched yet; fill it with: {sync_command}")
    n_tokens = record["colbert"]["missing"] if record["colbert"] else 0
    n_dense = record["missing_vectors"] if record["model"] else 0
    for kind, n in (("dense search", n_dense), ("search by tokens", n_tokens)):
        if n:
            sentences.append(f"{kind} lacks {n} passages; finish with: {sync_command}")
    sentences += filter(None, [waiting_scans(record["ocr"], sync_command)])
    if record["rejected"]:
        sentences.append(f"some files could not be read; list them with: {listing} --rejected")
    if record["remarks"]:
        sentences.append(f"some documents have remarks; list them with: {listing} --remarks")
    return sentences


def kept(n_documents: int, sync_command: str) -> str:
    """The advice on documents whose files are not there now."""
    return f"{n_documents} kept, {ABSENT}: restore the folder, or run: {sync_command} --accept-deletions"


def _reasons(refusals: Iterable[UnreadFile], kind: str) -> dict[str, int]:
    """The number of refusals of a kind by reason."""
    return _counts(each.reason.partition(":")[0] for each in refusals if each.kind == kind)


def _counts(names: Iterable[str]) -> dict[str, int]:
    """The number of times that each name occurs, the most frequent first, then by name."""
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


def installation_record(store: Store, models: LoadedModels) -> Record:
    """Versions, extras, digests of the models in use, free disk; `problems` are sentences."""
    packages: dict[str, str] = {}
    problems: list[str] = []
    for requirement in requires("spanwise") or []:
        if "extra ==" in requirement:
            continue
        name = re.split(r"[ \[<>=!~;]", requirement, maxsplit=1)[0]
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            problems.append(f"{name} is not installed. Install it with: pip install {name}")
    problems += wrong_weights()
    digests = _model_digests(store, models, problems)
    index = store.path
    free = shutil.disk_usage(index).free
    if free < bytes_below(index):
        problems.append(f"only {free / 1e9:.1f} GB are free at {index}: a sync may fill the disk")
    if not is_writable(index):
        problems.append(f"{index} cannot be written to: it can be searched and not synced")
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


def _model_digests(store: Store, models: LoadedModels, problems: list[str]) -> dict[str, dict[str, str]]:
    """Name and digest of each model in use; a model that cannot be used is added to the problems."""
    names: dict[ModelKind, str] = {"reader": "builtin", "cross-encoder": RERANKER}
    names |= {kind: store.settings[key] for _, key, kind in VECTORS if store.settings.get(key)}
    digests: dict[str, dict[str, str]] = {}
    for kind, name in names.items():
        try:
            digests[kind] = {"name": name, "digest": models.digest(kind, name)}
        except (SpanwiseError, OSError) as error:
            problems.append(f"the {kind} {name} cannot be used: {error}")
    return digests


# Verification


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of reading and checking all files of an index.

    Attributes:
        index: the directory of the index.
        problems: one line per problem.
        documents: the number of documents checked; 0 with a problem.
        passages: the number of passages checked; 0 with a problem.
        bytes: the number of bytes checked; 0 with a problem.
    """

    index: Path
    problems: tuple[str, ...]
    documents: int = 0
    passages: int = 0
    bytes: int = 0


def verify(index: str | Path, files: bool = False) -> Verification:
    """Read and check all files of an index, named by its directory or by the folder that holds it.

    With `files` also the indexed files: a problem is one that differs or is not there.
    """
    path = resolve_index(Path(index))
    problems: list[str] = []
    changed: list[str] = []
    n_documents = 0
    n_passages = 0
    for part in shard_folders(path) if is_sharded(path) else [path]:
        with Store.open(part) as store:
            problems += store.verify()
            if not problems:
                with store.snapshot() as snapshot:
                    n_documents += snapshot.n_documents
                    n_passages += snapshot.n_passages
                    changed += _changed_files(store, snapshot) if files else ()
    problems += changed
    if problems:
        return Verification(path, tuple(problems))
    return Verification(path, (), n_documents, n_passages, bytes_below(path))


def _changed_files(store: Store, snapshot: Snapshot) -> Iterator[str]:
    """A line for each document whose file has other bytes now, or is not there."""
    listing = list_roots(read_roots(store.settings, store.path))
    present = {file.document_id: file for file in listing.files}
    for name, state in snapshot.files().items():
        file = present.get(name)
        try:
            if file is None:
                yield f"{name}: {ABSENT}"
            elif sha256(read_regular(file.root, file.place)).hexdigest() != state.sha256:
                yield f"{name}: the file differs from the indexed one"
        except DocumentRejected as error:
            yield f"{name}: {error}"


def verification_record(verification: Verification) -> Record:
    """The JSON of `verify --json`."""
    record = asdict(verification)
    index = str(record.pop("index"))
    problems = list(record.pop("problems"))
    return {"index": index, "problems": problems, "checked": {} if problems else record}
