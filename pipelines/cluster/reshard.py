"""Splitting an index into another number of shards, without parsing or encoding anything again.

The new shards are made beside the old ones and take their place with one write of the manifest. Until then
the old ones answer, and an interrupted split is begun again. Documents come in the order of their ids, so
that postings equal those of a fresh sync; vectors and codes of tokens are copied, with their codebook.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...index.analysis import Analyzer
from ...index.maxsim.codebook import Codebook
from ...index.protocol import Ids
from ...index.schema import indexed_text
from ...index.snapshot import Snapshot
from ...index.store import Store
from ...index.writer import Writer
from ..folders import FOLDER_NAME
from ..sync import PASSAGES_PER_COMMIT
from .manifest import MAX_SHARDS, SHARD, Manifest, is_sharded, shard_of
from .store import ShardedStore

if TYPE_CHECKING:
    from ...index.rows import StoredRows

COPIED = 1_024  # passages whose vectors are copied together


def check_shards(index: Path, n_shards: int) -> None:
    """`ValueError` for a number of shards, or a place of them, that cannot be."""
    if not 1 <= n_shards <= MAX_SHARDS:
        raise ValueError(f"shards is {n_shards}, expected 1 to {MAX_SHARDS}")
    if index.name == FOLDER_NAME:
        raise ValueError(
            f"an index of shards is not kept in {FOLDER_NAME}: name another place with --index DIR"
        )


def create_shards(index: Path, n_shards: int, settings: Mapping[str, str]) -> None:
    """Make an index of empty shards with these settings."""
    check_shards(index, n_shards)
    ShardedStore.create_shards(index, n_shards, settings).write(index)


def split_index(index: Path, n_shards: int) -> None:
    """Make an index consist of `n_shards` shards; nothing where it does already.

    An index without shards stays in its folder until the new ones are complete.
    """
    check_shards(index, n_shards)
    old = Manifest.read(index) if is_sharded(index) else None
    if old and len(old.folders) == n_shards:
        return
    sources = old.paths(index) if old else [index]
    generation = 1 + max((int(name.partition(".")[2] or 1) for name in old.folders), default=1) if old else 1
    suffix = f".{generation}" if generation > 1 else ""
    with ExitStack() as opened:
        stores = [opened.enter_context(Store.open(path)) for path in sources]
        for store in stores:  # nobody may change what is copied
            opened.enter_context(store.writer())
        snapshots = [opened.enter_context(store.snapshot()) for store in stores]
        for left in index.glob(f"shard-*{suffix}" if suffix else "shard-????"):
            shutil.rmtree(left)  # of an interrupted split
        settings = {key: value for key, value in stores[0].settings.items() if key != SHARD}
        new = ShardedStore.create_shards(index, n_shards, settings, suffix)
        for number, path in enumerate(new.paths(index)):
            with Store.open(path) as target, target.writer() as writer:
                _fill(writer, snapshots, partial(_belongs, number, n_shards), settings)
        new.write(index)
    _remove_old(index, sources)


def _belongs(number: int, n_shards: int, document_id: str) -> bool:
    return shard_of(document_id, n_shards) == number


def _fill(
    writer: Writer, snapshots: Sequence[Snapshot], belongs: Callable[[str], bool], settings: Mapping[str, str]
) -> None:
    """Copy the documents that belong to a shard, with what was computed for them."""
    analyzer, n_staged = Analyzer.from_settings(settings), 0
    books = _codebooks(snapshots)
    for model, book in books.items():
        writer.put_codebook(model, book)
    rows = [list(_rows(snapshot, books)) for snapshot in snapshots]
    owners = {name: at for at, one in enumerate(snapshots) for name in filter(belongs, one.document_ids())}
    files = {name: state for one in snapshots for name, state in one.files().items() if name in owners}
    staged: dict[int, list[tuple[int, int]]] = {}  # of each old index: old and new ids

    def copy_staged() -> None:
        for at, pairs in staged.items():
            _copy_rows(writer, rows[at], *np.array(pairs, np.int64).T)
        staged.clear()

    for name, at in sorted(owners.items()):
        snapshot = snapshots[at]
        passages = snapshot.passages(snapshot.passage_ids_of([name]).tolist())
        passages.sort(key=lambda one: (one.start, one.end))
        terms = [analyzer.terms(indexed_text(one)) for one in passages]
        ids = writer.put(snapshot.document(name), passages, terms, files[name])
        staged.setdefault(at, []).extend(zip((one.id for one in passages), ids, strict=True))
        n_staged += len(ids)
        if sum(map(len, staged.values())) >= COPIED:
            copy_staged()
        if n_staged >= PASSAGES_PER_COMMIT:
            copy_staged()
            writer.commit()
            n_staged = 0
    copy_staged()
    for one in snapshots:
        for name, refusal in one.refusals().items():
            if belongs(name):
                writer.refuse(name, refusal)
    writer.commit()


def _codebooks(snapshots: Sequence[Snapshot]) -> dict[str, Codebook]:
    """The largest codebook of each model."""
    books: dict[str, Codebook] = {}
    for snapshot in snapshots:
        for model in snapshot.token_models():
            book = snapshot.codebook(model)
            if book and (model not in books or len(book.centroids) > len(books[model].centroids)):
                books[model] = book
    return books


def _rows(snapshot: Snapshot, books: Mapping[str, Codebook]) -> Iterator[tuple[str, bool, StoredRows]]:
    """The digest of each model, whether it is one of tokens, and its rows; no codes of other codebooks."""
    yield from ((model, False, snapshot.stored_vectors(model)) for model in snapshot.vector_models())
    for model in snapshot.token_models():
        own, book = snapshot.codebook(model), books[model]
        is_begin = own and np.array_equal(own.centroids, book.centroids[: len(own.centroids)])
        if own and is_begin and np.array_equal(own.levels, book.levels):
            yield model, True, snapshot.stored_tokens(model)


def _copy_rows(writer: Writer, rows: Sequence[tuple[str, bool, StoredRows]], old: Ids, new: Ids) -> None:
    """Copy the rows of passages, where there are some."""
    for model, is_tokens, stored in rows:
        at = stored.rows_of(old)
        found = at[at >= 0]
        if len(found):
            data = stored.read(found)
            writer.copy_rows(model, is_tokens, new[at >= 0], stored.lengths[found], data)


def _remove_old(index: Path, sources: Sequence[Path]) -> None:
    for path in sources:
        if path != index:
            shutil.rmtree(path)
            continue
        for each in ("segments", "cache"):
            shutil.rmtree(index / each, ignore_errors=True)
        for file in index.glob("catalog.sqlite*"):
            file.unlink()
