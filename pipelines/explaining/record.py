"""An explanation, and its parts, as plain JSON values."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ..records import span_record
from .explanation import Explanation
from .stage_ranks import StageRank
from .weighed import Weighed


def explanation_record(explained: Explanation) -> dict[str, Any] | None:
    """What `ask --explain --json` prints under "explanation"; None when no span was read at all.

    `tokens` are [start, end, p_start, p_end] in code points of the document.
    """
    if explained.weighed is None:
        return None
    return {
        "of": "answer" if explained.answer.best else "rejected",
        "evidence": weighed_record(explained.weighed),
        "confidence": asdict(explained.formula) if explained.formula else None,
        "tokens": [[one.start, one.end, one.p_start, one.p_end] for one in explained.tokens],
        "null": {"p_start": explained.null_start, "p_end": explained.null_end},
        "rank": explained.rank,
        "scores": dict(explained.scores),
        "ranks": [rank_record(rank) for rank in explained.ranks],
    }


def rank_record(rank: StageRank) -> dict[str, Any]:
    """Where the best passage stands in a stage; `passage` is its id."""
    passage = rank.passage.id if rank.passage else None
    return {
        "stage": rank.stage,
        "rank": rank.rank,
        "depth": rank.depth,
        "score": rank.score,
        "passage": passage,
    }


def weighed_record(weighed: Weighed) -> dict[str, Any]:
    """A candidate with its evidence taken apart: the contributions add up to it."""
    return {
        **span_record(weighed.span),
        "passage": weighed.passage.id,
        "evidence": weighed.evidence,
        "confidence": weighed.confidence,
        "features": {
            one.feature: {"value": one.value, "weight": one.weight, "contribution": one.contribution}
            for one in weighed.contributions
        },
    }
