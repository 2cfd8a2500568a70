"""Whether what a retriever found is re-ranked, by which cross-encoder, and how deep."""

from __future__ import annotations

from dataclasses import dataclass

MODEL = "builtin"
DEPTH = 30  # a passage takes 5 ms on two cores of a CPU; a GPU does hundreds in that time


@dataclass(frozen=True, slots=True)
class Reranking:
    """The name of the cross-encoder, and how many of the best passages it reads."""

    model: str = MODEL
    depth: int = DEPTH

    def __post_init__(self) -> None:
        """Refuse a depth at which nothing is read."""
        if self.depth < 1:
            raise ValueError(f"the depth of re-ranking must be at least 1, not {self.depth}")


def reranking_of(retriever: str, model: str | None, depth: int = DEPTH) -> tuple[str, Reranking | None]:
    """The retriever below, and how it is re-ranked: by the model named, or as "+rerank" in its name says.

    >>> reranking_of("bm25+rerank", None)
    ('bm25', Reranking(model='builtin', depth=30))
    """
    from ..retrieval.reranking import SUFFIX

    below = retriever.removesuffix(SUFFIX)
    chosen = Reranking(MODEL if model is None else model, depth)
    return below, chosen if below != retriever or model is not None else None
