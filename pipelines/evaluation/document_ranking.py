"""From ranked passages to ranked documents: a document stands where its best passage stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spanwise.types import Hit

from ...retrieval.protocol import Retriever


@dataclass(frozen=True, slots=True)
class DocumentRanking:
    """The passages of the first search, best first, and (document id, score) of each document, best first."""

    hits: Sequence[Hit]
    documents: Sequence[tuple[str, float]]


def rank_documents(
    retriever: Retriever, question: str, n_documents: int, n_passages: int = 1
) -> DocumentRanking:
    """The best `n_documents` for a question, fewer only where no more can be found.

    The first search is for `n_passages`, or `n_documents` where that is more. While these lie in too few
    documents, a third more are searched for. What was found before keeps its place, as does what a person
    sees who asks for less: a fusion ranks otherwise when it looks deeper. Scores never rise along the
    ranking, so that a run sorted by score keeps its order.
    """
    k = max(n_documents, n_passages)
    first = hits = retriever.search([question], k)[0]
    best: dict[str, float] = {}
    lowest = float("inf")
    while True:
        for hit in hits:
            if hit.passage.document_id not in best:
                best[hit.passage.document_id] = lowest = min(lowest, hit.score)
        if len(best) >= n_documents or len(hits) < k:
            return DocumentRanking(first, list(best.items())[:n_documents])
        k += -(-k // 3)
        hits = retriever.search([question], k)[0]
