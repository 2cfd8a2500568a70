"""Log loss: the surprise of what came, given the confidence in it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean

from .forecasts import require_forecasts


def log_loss(confidences: Sequence[float], right: Sequence[float]) -> float:
    """The mean of -ln(the probability given to what came), 0..infinity; lower is better.

    -1/n sum [o_i ln p_i + (1 - o_i) ln(1 - p_i)]; infinite when one was certain and wrong, as nothing is
    clipped. Source: Good 1952, "Rational Decisions". ValueError: see `forecasts.require_forecasts`.

    >>> round(log_loss([0.9, 0.4], [1, 0]), 6)
    0.308093
    """
    require_forecasts(confidences, right)
    given = [p if o else 1 - p for p, o in zip(confidences, right, strict=True)]
    return math.inf if 0 in given else 0.0 - fmean(map(math.log, given))
