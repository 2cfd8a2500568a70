"""What other frameworks are told about a hit: flat, plain values, as their stores and filters want them."""

from __future__ import annotations

from dataclasses import dataclass

from spanwise.types import Filter, Hit, Passage

from ..library import Library
from ..questions import checked_k
from ..reranking import DEPTH

Value = str | int | float | None

PLACES = ("source", "page", "line", "label", "heading")
"""Where a passage stands, in words that a language model can cite; the rest is for programs."""


def place_metadata(passage: Passage) -> dict[str, Value]:
    """Where a passage stands; `source` is the document's id, offsets are code points of its stored text.

    >>> place_metadata(Passage(7, "a.pdf", 4, 9, "words", page=2, heading=("Mill", "Rules")))["heading"]
    'Mill > Rules'
    """
    return {
        "source": passage.document_id,
        "passage": passage.id,
        "start": passage.start,
        "end": passage.end,
        "page": passage.page,
        "line": passage.line,
        "label": passage.label,
        "heading": " > ".join(passage.heading),
    }


def hit_metadata(hit: Hit) -> dict[str, Value]:
    """The place of a hit, its rank and score, and that of each stage as "score_bm25"."""
    stages = {f"score_{stage}": value for stage, value in hit.scores.items()}
    return {**place_metadata(hit.passage), "rank": hit.rank, "score": hit.score, **stages}


@dataclass(frozen=True, slots=True)
class Search:
    """How a library is searched, as `Library.search` takes it; ValueError for a k below 1."""

    k: int = 10
    retriever: str | None = None
    group: bool = True
    where: Filter | None = None
    rerank: str | None = None
    rerank_depth: int = DEPTH

    def __post_init__(self) -> None:
        """Refuse a k that could find nothing, here and not at the first question."""
        checked_k(self.k)

    def hits(self, library: Library, question: str, k: int | None = None) -> list[Hit]:
        """The hits of a question, best first."""
        return library.search(
            question,
            k=self.k if k is None else k,
            retriever=self.retriever or "",
            dedupe=self.group,
            where=self.where,
            rerank=self.rerank or "",
            rerank_depth=self.rerank_depth,
        )
