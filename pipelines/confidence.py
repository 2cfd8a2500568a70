"""The candidates of a question in their order, with the confidence in each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..reader.evidence import Calibration
from .candidates import Candidate


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate, its evidence, its lead over what says something else, the confidence if it was fitted."""

    evidence: float
    candidate: Candidate
    lead: float
    confidence: float | None


def with_confidence(
    scored: Sequence[tuple[float, Candidate]], leads: Sequence[float], calibration: Calibration | None
) -> list[Ranked]:
    """The candidates, best first, the others surest first; `scored` is in the order of evidence.

    None is surer than the best one, for which the confidence was fitted. Ties keep the order of evidence.
    """
    if calibration is None:
        return [Ranked(*row, lead, None) for row, lead in zip(scored, leads, strict=True)]
    sure = [
        calibration.confidence(evidence, candidate.features, lead)
        for (evidence, candidate), lead in zip(scored, leads, strict=True)
    ]
    rows = zip(scored, leads, sure, strict=True)
    ranked = [(min(one, sure[0]), row, lead) for row, lead, one in rows]
    ranked.sort(key=lambda one: -one[0])
    return [Ranked(*row, lead, confidence) for confidence, row, lead in ranked]
