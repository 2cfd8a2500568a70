"""How good a confidence is: the figures of a fit, on what it was and what it was not fitted on.

ece            calibration error over 15 bins of equal width
brier          the mean squared error of the confidence
log_loss       the mean surprise, in nats
aurc           the area under risk against coverage
right_at_50    the share that is right of the surer half of the questions; right_at_100: of all

An answer is right from the F1 on that the fit was told; to an absent question none is.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...eval.calibration import (
    HeldBack,
    aurc,
    brier_score,
    credit_at_coverage,
    expected_calibration_error,
    log_loss,
)

BINS = 15


def confidence_figures(records: Sequence[HeldBack]) -> dict[str, float]:
    """The figures by name; ValueError without a record."""
    forecasts = [record.score for record in records], [record.right for record in records]
    return {
        "ece": expected_calibration_error(*forecasts, BINS),
        "brier": brier_score(*forecasts),
        "log_loss": log_loss(*forecasts),
        "aurc": aurc(*forecasts),
        "right_at_50": credit_at_coverage(*forecasts, 0.5),
        "right_at_100": credit_at_coverage(*forecasts, 1.0),
    }
