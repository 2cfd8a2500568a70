"""Whether what a retriever found is re-ranked, by which cross-encoder, and how deep."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

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


AS_USUAL = Reranking()


def system_reranking(system: str, how: Reranking) -> dict[str, Any]:
    """The arguments `rerank` and `rerank_depth` of a `Library` for a system that may end in "+rerank".

    >>> system_reranking("bm25+rerank", Reranking("mine", 100)), system_reranking("bm25", Reranking())
    ({'rerank': 'mine', 'rerank_depth': 100}, {})
    """
    is_reranked = reranking_of(system)[1]
    return {"rerank": how.model, "rerank_depth": how.depth} if is_reranked else {}


def below_reranking(system: str) -> str:
    """The retriever below.

    >>> below_reranking("bm25+rerank")
    'bm25'
    """
    return reranking_of(system)[0]


def stages_below(systems: Iterable[str]) -> set[str]:
    """What these systems search by together; `ValueError` for one that is not known.

    >>> sorted(stages_below(["hybrid", "bm25+colbert+rerank"]))
    ['bm25', 'colbert', 'dense']
    """
    from .stages import stages_named

    return {stage for system in systems for stage in stages_named(below_reranking(system))}


def reranking_of(retriever: str, model: str = "", depth: int = DEPTH) -> tuple[str, Reranking | None]:
    """The retriever below, and how it is re-ranked: by the model named, or as "+rerank" in its name says.

    >>> reranking_of("bm25+rerank")
    ('bm25', Reranking(model='builtin', depth=30))
    """
    from ..retrieval.reranking import SUFFIX

    below = retriever.removesuffix(SUFFIX)
    chosen = Reranking(model or MODEL, depth)
    return below, chosen if below != retriever or model else None
