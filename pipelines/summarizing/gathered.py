"""The passages that a summary is made of: those found for a question, or all of a document or folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spanwise.types import Filter, Hit, Passage, Scope

from ...index.snapshot import Snapshot
from ...retrieval.protocol import Retriever
from ..folders import Root
from ..folders import resolve_document_id
from ..view import IndexView


@dataclass(frozen=True, slots=True)
class Gathered:
    """Passages in the order in which they are read; `hits` are those that a question found."""

    passages: Sequence[Passage]
    hits: Sequence[Hit]
    scope: Scope | None


def found(
    generation: IndexView, retriever: Retriever, question: str, k: int, where: Filter | None
) -> Gathered:
    """The best `k` passages for a question, best first."""
    selection = generation.selection(where)
    [hits] = retriever.search([question], k, selection.passage_ids if selection else None)
    return Gathered([hit.passage for hit in hits], hits, selection.scope if selection else None)


def whole(
    generation: IndexView, document: str | None, where: Filter | None, roots: Sequence[Root]
) -> Gathered:
    """All passages of one document, or of all that a filter leaves, by document and place.

    `DocumentNotFound` for a name that is none, `ValueError` for one that was found and is not in the index.
    """
    snapshot = generation.snapshot
    selection = generation.selection(where)
    if document is None:
        chosen = selection.passage_ids if selection else None
    else:
        chosen = snapshot.passage_ids_of([_indexed(document, snapshot, roots)])
    ids = _in_order(snapshot.passage_ids(), chosen)
    return Gathered(snapshot.passages(ids.tolist()), (), selection.scope if selection else None)


def _in_order(ordered: NDArray[np.int64], chosen: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """The chosen ids in the order of documents and places."""
    return ordered if chosen is None else ordered[np.isin(ordered, chosen)]


def _indexed(document: str, snapshot: Snapshot, roots: Sequence[Root]) -> str:
    return resolve_document_id(document, set(snapshot.document_ids()), roots)
