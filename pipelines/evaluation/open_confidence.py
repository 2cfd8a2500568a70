"""What the confidences of an open-domain evaluation were worth, over all questions read, none declined.

ece, ece_mass            calibration error over 15 bins of equal width, and of equal mass; 0..1
ece_exact                the same as `ece` where only an exact match is right
reliability              the bins of equal width that hold answers: count, mean confidence, share right
exact@25%, f1@25%, …     EM and F1 of the surest quarter, half, three quarters and all of the questions
best_exact, best_f1      by the rule of SQuAD 2.0 with the threshold that is best for it, told afterwards

An answer is right when its F1 is at least 0.6, which is what a calibration is fitted to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...eval.calibration.calibration_error import expected_calibration_error, reliability_bins
from ...eval.calibration.equal_mass import equal_mass_calibration_error
from ...eval.calibration.risk_coverage import credit_at_coverage
from ...eval.calibration.threshold import HeldBack, choose_threshold
from ...eval.question_record import QuestionRecord
from ..training.calibrate import BINS
from ..training.observe import RIGHT_F1

COVERAGES = (0.25, 0.5, 0.75, 1.0)


def confidence_figures(read: Sequence[QuestionRecord]) -> dict[str, Any]:
    """The figures by name; none where a reader says no confidence, or too few questions were read."""
    sure = [record.confidence for record in read if record.confidence is not None]
    if len(sure) < max(2, len(read)):
        return {}
    f1 = [record.scores.get("f1", 0.0) for record in read]
    exact = [record.scores.get("exact", 0.0) for record in read]
    right = [float(one >= RIGHT_F1) for one in f1]
    return {
        "ece": expected_calibration_error(sure, right, BINS),
        "ece_mass": equal_mass_calibration_error(sure, right, BINS),
        "ece_exact": expected_calibration_error(sure, exact, BINS),
        **{f"exact@{share:.0%}": 100 * credit_at_coverage(sure, exact, share) for share in COVERAGES},
        **{f"f1@{share:.0%}": 100 * credit_at_coverage(sure, f1, share) for share in COVERAGES},
        **_best_thresholds(read, sure, {"exact": exact, "f1": f1}),
        "reliability": [
            {"count": one.count, "confidence": one.confidence, "accuracy": one.accuracy}
            for one in reliability_bins(sure, right, BINS)
            if one.count
        ],
    }


def _best_thresholds(
    read: Sequence[QuestionRecord], sure: Sequence[float], credits: dict[str, list[float]]
) -> dict[str, float]:
    """The best threshold of each measure and what it reaches; none where every question has an answer."""
    if all(record.answerable for record in read):
        return {}
    found: dict[str, float] = {}
    for name, credit in credits.items():
        records = [HeldBack(*one) for one in zip(sure, credit, (r.answerable for r in read), strict=True)]
        best = choose_threshold(records)
        found |= {f"best_{name}": 100 * best.utility, f"best_{name}_threshold": min(best.value, 1.0)}
    return found
