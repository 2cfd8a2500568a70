"""Copies documents from other indexes, with their passages, postings, vectors and tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from .analysis import Analyzer
from .maxsim.codebook import Codebook
from .passage_rows import StoredRows
from .protocol import Ids
from .schema import indexed_text
from .snapshot import Snapshot
from .writer import Writer

COPIED_TOGETHER = 1_024  # passages whose vectors are copied together
Rows = Sequence[tuple[str, bool, StoredRows]]


def copy_documents(
    writer: Writer,
    sources: Sequence[Snapshot],
    wanted: Callable[[str], bool],
    analyzer: Analyzer,
    passages_per_commit: int,
) -> None:
    """Copy the documents and refusals with a wanted id, in the order of ids, as a sync would store them.

    Passages are split into terms again; nothing else is computed. Tokens that another codebook encoded than
    the largest one of their model are left out.
    """
    books, n_staged = _codebooks(sources), 0
    for model, book in books.items():
        writer.put_codebook(model, book)
    rows = [list(_rows(one, books)) for one in sources]
    owners = {name: at for at, one in enumerate(sources) for name in filter(wanted, one.document_ids())}
    files = {name: state for one in sources for name, state in one.files().items() if name in owners}
    staged: dict[int, list[tuple[int, int]]] = {}  # of each source: old and new ids

    def copy_staged() -> None:
        for at, pairs in staged.items():
            _copy_rows(writer, rows[at], *np.array(pairs, np.int64).T)
        staged.clear()

    for name, at in sorted(owners.items()):
        snapshot = sources[at]
        passages = snapshot.passages(snapshot.passage_ids_of([name]).tolist())
        passages.sort(key=lambda one: (one.start, one.end))
        terms = [analyzer.terms(indexed_text(one)) for one in passages]
        ids = writer.put(snapshot.document(name), passages, terms, files[name])
        staged.setdefault(at, []).extend(zip((one.id for one in passages), ids, strict=True))
        n_staged += len(ids)
        if sum(map(len, staged.values())) >= COPIED_TOGETHER:
            copy_staged()
        if n_staged >= passages_per_commit:
            copy_staged()
            writer.commit()
            n_staged = 0
    copy_staged()
    for one in sources:
        for name, refusal in one.unread_files().items():
            if wanted(name):
                writer.put_unread_file(name, refusal)
    writer.commit()


def _codebooks(sources: Sequence[Snapshot]) -> dict[str, Codebook]:
    """The largest codebook of each model."""
    books: dict[str, Codebook] = {}
    for snapshot in sources:
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


def _copy_rows(writer: Writer, rows: Rows, old: Ids, new: Ids) -> None:
    """Copy the rows of passages, where there are some."""
    for model, is_tokens, stored in rows:
        at = stored.rows_of(old)
        if len(found := at[at >= 0]):
            writer.copy_rows(model, is_tokens, new[at >= 0], stored.lengths[found], stored.read(found))
