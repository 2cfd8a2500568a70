"""What came of an adaptation, and its JSON form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...eval.significance.comparison import Comparison
from .made_question import MadeQuestion
from .measure import MRR
from .recipe import AdaptRecipe

LEAST_TRAINING, LEAST_MEASURED = 40, 20
"""Fewer questions teach nothing, and could not show it."""


@dataclass(frozen=True, slots=True)
class Adaptation:
    """How many questions there were for `training`, how many of them the teacher was `consistent` with.

    `comparisons` are of the `measured` questions over so many `passages`, before and after; there are none
    when there were too few questions to try.

    `installed` is the digest of the model that the index is searched by since, None when it stayed as it was.
    """

    training: int
    consistent: int
    measured: tuple[MadeQuestion, ...]
    passages: int = 0
    comparisons: tuple[Comparison, ...] = ()
    installed: str | None = None

    @property
    def has_too_few(self) -> bool:
        """Whether there are too few questions to try."""
        return self.consistent < LEAST_TRAINING or len(self.measured) < LEAST_MEASURED

    @property
    def deciding(self) -> Comparison | None:
        """The comparison that decides."""
        return next((one for one in self.comparisons if one.measure == MRR), None)

    @property
    def verdict(self) -> str:
        """What came of it, in one sentence."""
        one = self.deciding
        if one is None:
            return (
                f"nothing installed: {self.consistent} questions to train on and {len(self.measured)} to "
                f"measure with are too few, {LEAST_TRAINING} and {LEAST_MEASURED} are needed"
            )
        gain = f"{one.measure} {one.baseline_mean:.3f} before, {one.system_mean:.3f} after, p {one.p:.4f}"
        return f"{'installed' if self.installed else 'no gain: nothing installed'}: {gain}"


def is_better(comparison: Comparison, recipe: AdaptRecipe) -> bool:
    """Whether a model is worth its installation."""
    return comparison.difference > 0 and comparison.p < recipe.level


def adaptation_record(adaptation: Adaptation) -> dict[str, Any]:
    """The JSON form of it, without the questions."""
    return {
        "installed": adaptation.installed,
        "verdict": adaptation.verdict,
        "questions": {
            "training": adaptation.training,
            "consistent": adaptation.consistent,
            "measured": len(adaptation.measured),
            "kinds": dict(sorted(Counter(one.kind for one in adaptation.measured).items())),
        },
        "passages": adaptation.passages,
        "measures": measures_record(adaptation.comparisons),
    }


def measures_record(comparisons: Sequence[Comparison]) -> dict[str, Any]:
    """The figures of each measure."""
    return {
        one.measure: {
            "before": round(one.baseline_mean, 6),
            "after": round(one.system_mean, 6),
            "difference": round(one.difference, 6),
            "interval": None if one.interval is None else [round(end, 6) for end in one.interval],
            "p": round(one.p, 6),
            "wins": len(one.wins),
            "losses": len(one.losses),
            "ties": len(one.ties),
        }
        for one in comparisons
    }


def question_record(question: MadeQuestion) -> dict[str, Any]:
    """The JSON form of a question."""
    place = {"document": question.document_id, "start": question.start, "end": question.end}
    return {"question": question.text, "kind": question.kind, **place}
