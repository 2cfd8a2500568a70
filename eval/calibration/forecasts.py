"""Forecasts: the confidence that an answer is right, 0..1, and its outcome."""

from __future__ import annotations

import math
from collections.abc import Sequence


def require_forecasts(confidences: Sequence[float], outcomes: Sequence[float], binary: bool = True) -> None:
    """Raise ValueError for what no measure of confidence is defined on.

    That is: no forecasts, sequences of different lengths, a confidence that is NaN or outside 0..1, an
    outcome that is neither 0 nor 1 or, where `binary` is False, that is outside 0..1.

    >>> require_forecasts([0.9, 0.4], [True, False])
    >>> require_forecasts([1.5], [True])
    Traceback (most recent call last):
    ValueError: confidence 0 is 1.5; expected a number in 0..1
    """
    if len(confidences) != len(outcomes):
        raise ValueError(
            f"{len(confidences)} confidences for {len(outcomes)} outcomes; expected one for each"
        )
    if not confidences:
        raise ValueError("no forecasts; expected at least one")
    for i, (confidence, outcome) in enumerate(zip(confidences, outcomes, strict=True)):
        if math.isnan(confidence) or not 0 <= confidence <= 1:
            raise ValueError(f"confidence {i} is {confidence}; expected a number in 0..1")
        if binary and outcome not in (0, 1):
            raise ValueError(f"outcome {i} is {outcome}; expected 0 or 1")
        if not 0 <= outcome <= 1:
            raise ValueError(f"outcome {i} is {outcome}; expected a number in 0..1")
