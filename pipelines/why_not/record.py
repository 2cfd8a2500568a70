"""What `why-not --json` prints."""

from __future__ import annotations

from typing import Any

from ..explaining.record import rank_record, weighed_record
from ..records import answer_record, span_record
from .loss import WhyNot
from .sought import Sought


def why_not_record(lost: WhyNot) -> dict[str, Any]:
    """The stage and all that was found on the way to it; offsets are code points."""
    return {
        "question": lost.question,
        "document": lost.document,
        "stage": lost.stage,
        "reason": lost.reason,
        "advice": lost.advice,
        "remarks": list(lost.remarks),
        "lacks": list(lost.lacks),
        "ranks": [rank_record(rank) for rank in lost.ranks],
        "read": lost.read,
        "own": weighed_record(lost.own) if lost.own else None,
        "winner": weighed_record(lost.winner) if lost.winner else None,
        "sought": [_sought_record(place) for place in lost.sought],
        "asked": answer_record(lost.answer) if lost.answer else None,
    }


def _sought_record(place: Sought) -> dict[str, Any]:
    proposed = place.proposed
    return {
        **span_record(place.span),
        "passages": [passage.id for passage in place.passages],
        "cut": [passage.id for passage in place.cut],
        "rank": place.rank,
        "proposed": {**span_record(proposed.span), "score": proposed.score} if proposed else None,
    }
