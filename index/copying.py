"""Copying of documents from other indexes, with their passages, vectors and tokens."""

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
ModelRows = tuple[str, bool, StoredRows]
"""The digest of a model, whether its rows are token codes, and the rows."""


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
        terms = [analyzer.terms(indexed_text(passage)) for passage in passages]
        ids = writer.put(snapshot.document(name), passages, terms, states[name])
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
