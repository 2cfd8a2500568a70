"""Paired comparison of two systems: means, a bootstrap interval, a randomisation test, wins and losses."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Alternative = Literal["two-sided", "less"]
Floats = NDArray[np.float64]

EXACT_UP_TO = 16
"""Up to this many non-zero differences, all 2^n sign assignments are enumerated."""
CONFIDENCE = 0.95
BLOCK = 2**20
"""Random numbers in memory: some 20 MB, however many questions there are."""
_TIE = 1e-10  # relative to the sum of absolute values; larger than rounding errors


@dataclass(frozen=True, slots=True)
class Change:
    """The two scores of one question."""

    id: str
    baseline: float
    system: float

    @property
    def difference(self) -> float:
        """Above 0 if the system is better; rounding errors below 1e-12 are ties."""
        return round(self.system - self.baseline, 12)


@dataclass(frozen=True, slots=True)
class Comparison:
    """One measure of two systems over their common questions.

    baseline_mean, system_mean: over all questions.
    interval: the 95 % interval of the mean difference; None for a single question.
    p: the p-value of the randomisation test.
    wins, losses: of the system, the largest difference first, then by id.
    ties: by id.
    """

    baseline_mean: float
    system_mean: float
    interval: tuple[float, float] | None
    p: float
    wins: tuple[Change, ...]
    losses: tuple[Change, ...]
    ties: tuple[Change, ...]

    @property
    def difference(self) -> float:
        """The mean of the system minus that of the baseline."""
        return self.system_mean - self.baseline_mean

    @property
    def questions(self) -> int:
        """The number of questions compared."""
        return len(self.wins) + len(self.losses) + len(self.ties)


def compare(
    baseline: Mapping[str, float],
    system: Mapping[str, float],
    alternative: Alternative = "two-sided",
    permutations: int = 10_000,
    seed: int = 0,
) -> Comparison:
    """The comparison of two systems by their scores, by question id; questions of one alone are ignored.

    The order of the mappings does not matter. ValueError: no common question.

    >>> compare({"q1": 0.0, "q2": 1.0}, {"q1": 1.0, "q2": 1.0, "q3": 1.0}).difference
    0.5
    """
    changes = [Change(qid, baseline[qid], system[qid]) for qid in sorted(baseline.keys() & system.keys())]
    if not changes:
        raise ValueError("the systems share no question with this measure")
    differences = np.array([change.difference for change in changes])
    ordered = sorted(changes, key=lambda change: (-abs(change.difference), change.id))
    return Comparison(
        float(np.mean([change.baseline for change in changes])),
        float(np.mean([change.system for change in changes])),
        bootstrap_interval(differences, resamples=permutations, seed=seed) if len(changes) > 1 else None,
        randomization_test(differences, alternative, permutations, seed),
        tuple(change for change in ordered if change.difference > 0),
        tuple(change for change in ordered if change.difference < 0),
        tuple(change for change in ordered if change.difference == 0),
    )


def randomization_test(
    differences: ArrayLike, alternative: Alternative = "two-sided", permutations: int = 10_000, seed: int = 0
) -> float:
    """The p-value of the mean of paired differences, (n,) floats: new system minus baseline.

    Fisher's paired randomisation test: under the null hypothesis every assignment of signs to the
    differences is equally likely. T(s) = Σ s_i d_i with signs s_i = ±1, and T the observed sum. p is the
    share of assignments with |T(s)| >= |T| ("two-sided") or T(s) <= T ("less": is the new system worse?).
    Zero differences are dropped. With at most EXACT_UP_TO others the share is over all 2^n assignments; else
    over `permutations` random ones and the observed one: p = (extreme + 1) / (permutations + 1), never 0.

    ValueError: no differences, or one that is not finite.
    Source: Fisher, The Design of Experiments (1935), section 21; for retrieval: Smucker, Allan and
    Carterette, CIKM 2007; the +1: Phipson and Smyth 2010, equation 2.

    >>> randomization_test([1, 1, 1, 0, 1]), randomization_test([-1, -1, -1, 0, -1], "less")
    (0.125, 0.0625)
    """
    values = _finite(differences)
    if alternative not in ("two-sided", "less") or permutations < 1:
        raise ValueError(f"{alternative!r} with {permutations} permutations; expected two-sided or less")
    values = values[values != 0]
    observed = float(values.sum())
    tie = _TIE * float(np.abs(values).sum())
    if len(values) <= EXACT_UP_TO:
        sums = _signed_sums(values)
        return _extreme(sums, observed, alternative, tie) / len(sums)
    blocks = _random_sums(values, permutations, seed)
    extreme = sum(_extreme(sums, observed, alternative, tie) for sums in blocks)
    return (extreme + 1) / (permutations + 1)


def bootstrap_interval(differences: ArrayLike, resamples: int = 10_000, seed: int = 0) -> tuple[float, float]:
    """The 95 % percentile interval of the mean of the differences, (n,) floats with n at least 2.

    The ends are quantiles of the means of n differences drawn with replacement. The draws depend on the seed
    and the order of the differences alone. ValueError: fewer than 2 differences, or one that is not finite.
    Source: Efron and Tibshirani 1993, "An Introduction to the Bootstrap", section 13.3.

    >>> low, high = bootstrap_interval([1, 1, 0, 1, 0, 0, 1, 0, 1, 1])
    >>> low < 0.6 < high
    True
    """
    values = _finite(differences)
    if len(values) < 2:
        raise ValueError("1 difference; an interval needs at least 2")
    generator = np.random.default_rng(seed)
    rows = max(1, BLOCK // len(values))
    means = []
    for first in range(0, resamples, rows):
        drawn = generator.integers(len(values), size=(min(rows, resamples - first), len(values)))
        means.append(values[drawn].mean(axis=1))
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(np.concatenate(means), (tail, 1 - tail))
    return float(low), float(high)


def _finite(differences: ArrayLike) -> Floats:
    values = np.asarray(differences, dtype=np.float64)
    if values.ndim != 1 or not len(values):
        raise ValueError(f"differences have the shape {values.shape}; expected (n,) with n at least 1")
    if not np.isfinite(values).all():
        raise ValueError(f"difference {int(np.argmin(np.isfinite(values)))} is not finite")
    return values


def _extreme(sums: Floats, observed: float, alternative: Alternative, tie: float) -> int:
    """The number of sums at least as extreme as the observed one; equal up to rounding counts."""
    if alternative == "less":
        return int(np.count_nonzero(sums <= observed + tie))
    return int(np.count_nonzero(np.abs(sums) >= abs(observed) - tie))


def _signed_sums(values: Floats) -> Floats:
    """The sums of all assignments of signs, (2^n,)."""
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    return sums


def _random_sums(values: Floats, permutations: int, seed: int) -> Iterator[Floats]:
    """The sums of random assignments of signs, in blocks."""
    generator = np.random.default_rng(seed)
    rows = max(1, BLOCK // len(values))
    for first in range(0, permutations, rows):
        shape = (min(rows, permutations - first), len(values))
        yield np.where(generator.integers(2, size=shape, dtype=np.int8), values, -values).sum(axis=1)
