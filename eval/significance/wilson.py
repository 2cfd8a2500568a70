"""Wilson's interval of a share: between which bounds it lies, also when few were counted."""

from __future__ import annotations

import math

Z_95 = 1.959963984540054


def wilson_interval(mean: float, n: int, z: float = Z_95) -> tuple[float, float]:
    """The bounds, 0..1, of a share that is `mean` of `n`; by default they hold it 95 times of 100.

    (mean + z²/2n ± z sqrt(mean (1 - mean) / n + z²/4n²)) / (1 + z²/n). For a mean of values in between 0
    and 1, such as F1, it is too wide rather than too narrow: none vary more than those of 0 and 1 alone.
    Source: Wilson 1927, "Probable Inference, the Law of Succession, and Statistical Inference".
    ValueError: n < 1, or a mean outside 0..1.

    >>> [round(bound, 4) for bound in wilson_interval(0.8, 10)]
    [0.4902, 0.9433]
    """
    if n < 1 or not 0 <= mean <= 1:
        raise ValueError(f"a mean of {mean} over {n}; expected one in 0..1 over at least 1")
    middle = mean + z * z / (2 * n)
    margin = z * math.sqrt(mean * (1 - mean) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    return max(0.0, (middle - margin) / scale), min(1.0, (middle + margin) / scale)
