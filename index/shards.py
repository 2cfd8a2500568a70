"""Indexes of shards: the manifest, the shard of each document, and copying of documents between indexes.

<index>/shards.json     {"format": 1, "shards": ["shard-0000", "shard-0001", ...]}
<index>/shard-0000/     an ordinary index, with the setting "shard": "0/8"

The SHA-256 of a document's id selects its shard, so a changed document changes one shard. Because of the
setting, a sync of one shard touches only the documents of that shard.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from spanwise.errors import FormatTooNew, IndexCorrupt

from .analysis import Analyzer
from .files import publish, write_file
from .languages import stored_terms
from .maxsim.codebook import Codebook
from .passage_rows import StoredRows
from .protocol import Ids
from .snapshot import Snapshot
from .writer import Writer

MANIFEST = "shards.json"
SHARD = "shard"  # the setting of a shard: its number and the number of shards, such as "3/8"
FORMAT = 1
COPIED_TOGETHER = 1_024  # passages whose vectors are copied together
ModelRows = tuple[str, bool, StoredRows]
"""The digest of a model, whether its rows are token codes, and the rows."""


def is_sharded(index: Path) -> bool:
    """True if this is the folder of an index of shards."""
    return (index / MANIFEST).is_file()


def shard_folders(index: Path) -> list[Path]:
    """The folder of each shard, by number. Raise `IndexCorrupt` for a damaged manifest, or `FormatTooNew`."""
    path = index / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        version = int(manifest["format"])
        names = [str(name) for name in manifest["shards"]]
        if not names or any(not name or Path(name).name != name for name in names):
            raise ValueError(f"{names!r:.60}")
    except (ValueError, KeyError, TypeError) as error:
        raise IndexCorrupt(f"{path} is damaged ({error}): restore it from a copy of the index") from error
    if version > FORMAT:
        raise FormatTooNew(f"{path} has format {version}, this program reads {FORMAT}: install a newer one")
    return [index / name for name in names]


def write_manifest(index: Path, names: Sequence[str]) -> None:
    """Atomically replace the manifest of an index by one that lists these folders."""
    temporary = index / f"{MANIFEST}.unfinished"
    temporary.unlink(missing_ok=True)
    write_file(temporary, [json.dumps({"format": FORMAT, "shards": list(names)}, indent=1).encode("ascii")])
    publish(temporary, index / MANIFEST)


def shard_of(document_id: str, n_shards: int) -> int:
    """The number of the shard that a document belongs to.

    >>> [shard_of(f"{name}.md", 4) for name in ("mill", "weir", "tram")]
    [2, 3, 2]
    """
    digest = hashlib.sha256(document_id.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") % n_shards


def copy_documents(
    writer: Writer,
    sources: Sequence[Snapshot],
    is_selected: Callable[[str], bool],
    analyzer: Analyzer,
    passages_per_commit: int,
) -> None:
    """Copy the documents and unread files with a selected id, in the order of ids, as a sync stores them.

    Passages are split into terms again; nothing else is computed. Token codes are copied if they fit the
    largest codebook of their model.
    """
    codebooks = _codebooks(sources)
    for model, codebook in codebooks.items():
        writer.put_codebook(model, codebook)
    rows = [list(_rows(snapshot, codebooks)) for snapshot in sources]
    owners: dict[str, int] = {}  # the place of the source of each document
    for place, snapshot in enumerate(sources):
        owners.update(dict.fromkeys(filter(is_selected, snapshot.document_ids()), place))
    states = {name: state for snapshot in sources for name, state in snapshot.files().items()}
    staged: dict[int, list[tuple[int, int]]] = {}  # by source: old and new ids
    n_staged = 0

    def copy_staged() -> None:
        for place, pairs in staged.items():
            _copy_rows(writer, rows[place], *np.array(pairs, np.int64).T)
        staged.clear()

    for name, place in sorted(owners.items()):
        snapshot = sources[place]
        passages = snapshot.passages(snapshot.passage_ids_of([name]).tolist())
        passages.sort(key=lambda passage: (passage.start, passage.end))
        document = snapshot.document(name)
        terms = [*stored_terms(document, passages, analyzer)]
        ids = writer.put(document, passages, terms, states[name])
        staged.setdefault(place, []).extend(zip((passage.id for passage in passages), ids, strict=True))
        n_staged += len(ids)
        if sum(map(len, staged.values())) >= COPIED_TOGETHER:
            copy_staged()
        if n_staged >= passages_per_commit:
            copy_staged()
            writer.commit()
            n_staged = 0
    copy_staged()
    for snapshot in sources:
        for name, unread in snapshot.unread_files().items():
            if is_selected(name):
                writer.put_unread_file(name, unread)
    writer.commit()


def _codebooks(sources: Sequence[Snapshot]) -> dict[str, Codebook]:
    """The largest codebook of each model."""
    codebooks: dict[str, Codebook] = {}
    for snapshot in sources:
        for model in snapshot.token_models():
            codebook = snapshot.codebook(model)
            largest = codebooks.get(model)
            if codebook and (largest is None or len(codebook.centroids) > len(largest.centroids)):
                codebooks[model] = codebook
    return codebooks


def _rows(snapshot: Snapshot, codebooks: Mapping[str, Codebook]) -> Iterator[ModelRows]:
    """The rows of each model; no codes that the codebook of the model cannot decode."""
    for model in snapshot.vector_models():
        yield model, False, snapshot.stored_vectors(model)
    for model in snapshot.token_models():
        own = snapshot.codebook(model)
        largest = codebooks[model]
        if (
            own
            and np.array_equal(own.centroids, largest.centroids[: len(own.centroids)])
            and np.array_equal(own.levels, largest.levels)
        ):
            yield model, True, snapshot.stored_tokens(model)


def _copy_rows(writer: Writer, models: Sequence[ModelRows], old: Ids, new: Ids) -> None:
    """Copy the rows of the `old` passages, if they have any, for the `new` ones."""
    for model, is_tokens, stored in models:
        rows = stored.rows_of(old)
        has_rows = rows >= 0
        if has_rows.any():
            rows = rows[has_rows]
            writer.copy_rows(model, is_tokens, new[has_rows], stored.lengths[rows], stored.read(rows))
