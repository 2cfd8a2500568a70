"""Documents ranked by their best passage, deep enough to be judged."""

from __future__ import annotations

from collections.abc import Sequence

from spanwise.types import Hit

from ...retrieval.protocol import Retriever


def best_passages(retriever: Retriever, questions: Sequence[str], depth: int) -> list[list[Hit]]:
    """For each question the best hit of each of its first `depth` documents, best first.

    Passages are searched until they come from so many documents or there are no more, twice as many at each
    try; what a question finds does not depend on those beside it.
    """
    found: list[list[Hit]] = [[] for _ in questions]
    waiting, k = list(range(len(questions))), depth
    while waiting:
        rankings = retriever.search([questions[at] for at in waiting], k)
        short = []
        for at, ranking in zip(waiting, rankings, strict=True):
            found[at] = best_of_each_document(ranking)[:depth]
            if len(found[at]) < depth and len(ranking) == k:
                short.append(at)
        waiting, k = short, 2 * k
    return found


def best_of_each_document(ranking: Sequence[Hit]) -> list[Hit]:
    """The first hit of each document, in the order of the ranking."""
    first: dict[str, Hit] = {}
    for hit in ranking:
        first.setdefault(hit.passage.document_id, hit)
    return list(first.values())
