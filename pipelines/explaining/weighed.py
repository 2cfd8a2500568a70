"""A candidate with what its evidence is made of, feature by feature."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from spanwise.types import Passage, Span

from ...reader.evidence import Calibration
from ..confidence import Ranked

MARGIN = "margin"  # the only evidence where nothing was fitted


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one feature adds to the evidence: `weight * value`."""

    feature: str
    value: float
    weight: float

    @property
    def contribution(self) -> float:
        """The product."""
        return self.weight * self.value


@dataclass(frozen=True, slots=True)
class Weighed:
    """A span that was read, its evidence and its confidence, which is None where none has been fitted.

    The evidence is the sum of the contributions; candidates are ranked by it.
    """

    span: Span
    passage: Passage
    evidence: float
    confidence: float | None
    contributions: tuple[Contribution, ...]


def weighed(one: Ranked, calibration: Calibration | None) -> Weighed:
    """The candidate, its evidence taken apart."""
    weights = calibration.weights if calibration else {MARGIN: 1.0}
    features = asdict(one.candidate.features)
    return Weighed(
        one.candidate.scored.span,
        one.candidate.scored.passage,
        one.evidence,
        one.confidence,
        tuple(Contribution(name, value, weights.get(name, 0.0)) for name, value in features.items()),
    )
