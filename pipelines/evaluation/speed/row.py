"""One figure of a comparison: our engine beside one peer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from .comparisons import Comparison

LEAST_OVERLAP = 0.2
LEAST_SHARE = 0.9


@dataclass(frozen=True, slots=True)
class Measured:
    """What came of one engine: its figure in each round, in order, and how good its results were.

    `overlap` is the mean share of our best k that it found, too; `recall` the share of questions whose
    paragraph was among its best k.
    """

    figures: tuple[float, ...]
    overlap: float
    recall: float

    @property
    def median(self) -> float:
        """The figure that is shown."""
        return median(self.figures)

    def record(self) -> dict[str, Any]:
        """As it stands in a file of results."""
        return {
            "median": rounded(self.median),
            "min": rounded(min(self.figures)),
            "max": rounded(max(self.figures)),
            "overlap": rounded(self.overlap),
            "recall": rounded(self.recall),
        }


@dataclass(frozen=True, slots=True)
class Row:
    """Both were measured in turns, so that round i of one lies beside round i of the other."""

    comparison: Comparison
    peer_name: str
    ours: Measured
    peer: Measured

    @property
    def ratio(self) -> float:
        """How many times ours is as fast, of the medians; above 1 where ours is faster."""
        return self._ratio(self.ours.median, self.peer.median)

    @property
    def ratios(self) -> tuple[float, ...]:
        """The same of each round."""
        return tuple(map(self._ratio, self.ours.figures, self.peer.figures))

    @property
    def doubt(self) -> str:
        """Why the two may not have done the same work, or the empty string."""
        ours, peer = self.ours.recall, self.peer.recall
        if min(ours, peer) < LEAST_SHARE * max(ours, peer):
            return f"recall {ours:.2f} (ours) and {peer:.2f}"
        if self.peer.overlap < LEAST_OVERLAP:
            return f"only {self.peer.overlap:.2f} of our best are among its own"
        return ""

    def record(self) -> dict[str, Any]:
        """What `eval speed --json` prints of it."""
        return {
            "name": self.comparison.name,
            "ours": rounded(self.ours.median),
            "peer": rounded(self.peer.median),
            "peer_name": self.peer_name,
            "unit": self.comparison.unit,
            "ratio": rounded(self.ratio),
        }

    def full_record(self) -> dict[str, Any]:
        """With the spread and what vouches for it, for a file of results."""
        low_high = {"ratio_min": rounded(min(self.ratios)), "ratio_max": rounded(max(self.ratios))}
        checked = {"ours_measured": self.ours.record(), "peer_measured": self.peer.record()}
        return {**self.record(), **low_high, **checked, "doubt": self.doubt}

    def _ratio(self, ours: float, peer: float) -> float:
        return ours / peer if self.comparison.unit == "passages/s" else peer / ours


def overlap(ours: Sequence[Sequence[int]], found: Sequence[Sequence[int]]) -> float:
    """The mean share of our results that were found, too; 1 where neither found anything.

    >>> overlap([[1, 2], []], [[2, 3], []])
    0.75
    """
    shares = [
        len({*mine} & {*theirs}) / len({*mine} or {*theirs} or {0}) if mine or theirs else 1.0
        for mine, theirs in zip(ours, found, strict=True)
    ]
    return sum(shares) / len(shares)


def rounded(figure: float) -> float:
    """Four significant digits: more were not measured.

    >>> rounded(0.0123456), rounded(12345.6)
    (0.01235, 12350.0)
    """
    return float(f"{figure:.4g}")
