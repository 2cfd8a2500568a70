"""Fisher's paired randomisation test: could the labels of the two systems have stood the other way round?

Under the null hypothesis either system could have produced either score of a question, so that every
assignment of signs to the differences is equally likely. No distribution is assumed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Alternative = Literal["two-sided", "less", "greater"]
Floats = NDArray[np.float64]

EXACT_UP_TO = 16
"""So many differences that are not zero have all their 2^n assignments of signs enumerated."""
BLOCK = 2**20
"""About so many table look-ups are held at a time: some 20 MB, however many questions there are."""
_TIE = 1e-10  # of the sum of all sizes; what rounding can make of two equal sums is far below


def randomization_test(
    differences: ArrayLike, alternative: Alternative = "two-sided", permutations: int = 10_000, seed: int = 0
) -> float:
    """The p-value of the mean of paired differences, (n,) floats: new system minus baseline.

    T(s) = Σ s_i d_i with signs s_i = ±1, and T the observed sum. p is the share of assignments with
    |T(s)| >= |T| ("two-sided"), T(s) <= T ("less": is the new system worse?) or T(s) >= T ("greater").
    Zero differences do not move T(s) and are dropped. With at most EXACT_UP_TO others the share is over all
    2^n assignments; else over `permutations` random ones and the observed one: p = (extreme + 1) /
    (permutations + 1), which is never 0 and keeps the level. The order of the differences and the seed
    alone decide which signs are drawn.

    ValueError: no differences, or one that is not finite.
    Source: Fisher, The Design of Experiments (1935), section 21; for retrieval: Smucker, Allan and
    Carterette, CIKM 2007; the +1: Phipson and Smyth 2010, equation 2.

    >>> randomization_test([1, 1, 1, 0, 1]), randomization_test([1, 1, 1, 0, 1], "greater")
    (0.125, 0.0625)
    """
    values = finite_differences(differences)
    if alternative not in ("two-sided", "less", "greater"):
        raise ValueError(f"alternative is {alternative!r}; expected two-sided, less or greater")
    if permutations < 1:
        raise ValueError(f"permutations is {permutations}; expected at least 1")
    values = values[values != 0]
    observed, tie = float(values.sum()), _TIE * float(np.abs(values).sum())
    if len(values) <= EXACT_UP_TO:
        sums = _signed_sums(values[np.newaxis, :])[0]
        return _extreme(sums, observed, alternative, tie) / len(sums)
    blocks = _random_sums(values, permutations, seed)
    extreme = sum(_extreme(sums, observed, alternative, tie) for sums in blocks)
    return (extreme + 1) / (permutations + 1)


def finite_differences(differences: ArrayLike) -> Floats:
    """The differences as (n,) float64; ValueError when there are none or one is not finite."""
    values = np.asarray(differences, dtype=np.float64)
    if values.ndim != 1 or not len(values):
        raise ValueError(f"differences have the shape {values.shape}; expected (n,) with n at least 1")
    if not np.isfinite(values).all():
        raise ValueError(f"difference {int(np.argmin(np.isfinite(values)))} is not finite")
    return values


def _extreme(sums: Floats, observed: float, alternative: Alternative, tie: float) -> int:
    """How many sums are at least as extreme as the observed one; equal up to rounding counts."""
    if alternative == "less":
        return int(np.count_nonzero(sums <= observed + tie))
    if alternative == "greater":
        return int(np.count_nonzero(sums >= observed - tie))
    return int(np.count_nonzero(np.abs(sums) >= abs(observed) - tie))


def _signed_sums(groups: Floats) -> Floats:
    """For each row of (G, m) the sums of all assignments of signs: (G, 2^m)."""
    sums = np.zeros((len(groups), 1))
    for column in groups.T:
        sums = np.concatenate([sums + column[:, np.newaxis], sums - column[:, np.newaxis]], axis=1)
    return sums


def _random_sums(values: Floats, permutations: int, seed: int) -> Iterator[Floats]:
    """The sums of random assignments of signs, in blocks.

    Eight differences share a table of their 256 sums, and a random byte picks one of them. A row takes whole
    64-bit words of the generator's raw stream, so that the size of the blocks changes nothing.
    """
    words = -(-len(values) // 64)
    padded = np.zeros(64 * words)
    padded[: len(values)] = values
    tables = _signed_sums(padded.reshape(-1, 8))  # (8 * words, 256)
    generator, places = np.random.PCG64(seed), np.arange(len(tables))
    rows = max(1, BLOCK // len(tables))
    for at in range(0, permutations, rows):
        raw = generator.random_raw((min(rows, permutations - at), words))
        yield tables[places, raw.astype("<u8", copy=False).view(np.uint8)].sum(axis=1)
