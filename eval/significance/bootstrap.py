"""Bootstrap interval of a mean: how far it would move, had other questions of the same kind been asked.

The interval is BCa (bias-corrected and accelerated), not the plain percentile interval: differences between
systems are skewed (few large losses among many small wins), and BCa corrects for that to second order.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from .randomization import Floats, finite_differences

BLOCK = 2**20
"""About so many drawn questions are held at a time, however many there are."""


def bootstrap_interval(
    differences: ArrayLike, confidence: float = 0.95, resamples: int = 10_000, seed: int = 0
) -> tuple[float, float]:
    """The BCa interval of the mean of the differences, (n,) floats with n at least 2.

    With d̄* the means of n differences drawn with replacement, and Φ the normal distribution:
    z0 = Φ⁻¹(share of d̄* below d̄, ties half); a = Σ(d - d̄)³ / (6 (Σ(d - d̄)²)^1.5), the jackknife's
    acceleration in closed form; the ends are the quantiles of d̄* at Φ(z0 + (z0 + z) / (1 - a(z0 + z))) for
    z = Φ⁻¹((1 ∓ confidence) / 2). Differences that are all equal have the interval of width 0. The order of
    the differences and the seed alone decide what is drawn.

    ValueError: fewer than 2 differences, one that is not finite, or a confidence outside of (0, 1).
    Source: Efron, JASA 1987; Efron and Tibshirani, An Introduction to the Bootstrap, equations 14.9 to 14.15.

    >>> low, high = bootstrap_interval([1, 1, 0, 1, 0, 0, 1, 0, 1, 1])
    >>> low < 0.6 < high
    True
    """
    values = finite_differences(differences)
    if len(values) < 2:
        raise ValueError("1 difference; an interval needs at least 2")
    if not 0 < confidence < 1 or resamples < 1:
        raise ValueError(f"confidence {confidence} and {resamples} resamples; expected (0, 1) and at least 1")
    if (values == values[0]).all():
        return float(values[0]), float(values[0])
    means = _resampled_means(values, resamples, seed)
    levels = _bca_levels(values, means, (1 - confidence) / 2)
    low, high = np.quantile(means, levels)
    return float(low), float(high)


def _resampled_means(values: Floats, resamples: int, seed: int) -> Floats:
    generator, rows = np.random.default_rng(seed), max(1, BLOCK // len(values))
    blocks = []
    for at in range(0, resamples, rows):
        drawn = generator.integers(len(values), size=(min(rows, resamples - at), len(values)))
        blocks.append(values[drawn].mean(axis=1))
    return np.concatenate(blocks)


def _bca_levels(values: Floats, means: Floats, tail: float) -> list[float]:
    """The levels of the two quantiles; `tail` and 1 - `tail` where nothing is biased or skewed."""
    normal, mean = NormalDist(), values.mean()
    below = float(np.mean(means < mean) + np.mean(means <= mean)) / 2
    least = 0.5 / len(means)  # a share of 0 or 1 has no finite quantile
    z0 = normal.inv_cdf(min(max(below, least), 1 - least))
    centred = values - mean
    acceleration = float((centred**3).sum() / (6 * (centred**2).sum() ** 1.5))
    shifted = [z0 + normal.inv_cdf(level) for level in (tail, 1 - tail)]
    return [normal.cdf(z0 + z / (1 - acceleration * z)) for z in shifted]
