"""Where values stand on an axis, and which of them are named there."""

from __future__ import annotations

import math
from dataclasses import dataclass

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True, slots=True)
class Scale:
    """Values `low`..`high` on the pixels `start`..`end`, evenly or, with `log`, by their logarithm.

    >>> Scale(0, 10, 100, 200)(2.5), Scale(1, 100, 0, 80, log=True)(10)
    (125.0, 40.0)
    """

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """The pixel of a value; outside of the axis it is that of the nearer end."""
        value = min(max(value, self.low), self.high)
        low, high, value = (
            map(math.log, (self.low, self.high, value)) if self.log else (self.low, self.high, value)
        )
        return self.start + (self.end - self.start) * ((value - low) / (high - low) if high > low else 0.5)


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers, at most `most`, whose first is at or below `low` and whose last at or above `high`.

    >>> ticks(0, 0.93), ticks(62, 97)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [60.0, 70.0, 80.0, 90.0, 100.0])
    """
    if high - low < 1e-6 * max(abs(high), 1.0):  # all the same: show it with 0 for a measure
        low, high = min(low, 0.0), max(high, 1.0)
    exponent = math.floor(math.log10((high - low) / (most - 1)))
    for step in (round_step * 10**power for power in (exponent, exponent + 1) for round_step in _STEPS):
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        if last - first < most:
            return [round(step * i, 10) for i in range(first, last + 1)]
    raise ValueError(f"no ticks from {low} to {high}; expected finite numbers")


def log_ticks(low: float, high: float, most: int = 9) -> list[float]:
    """Ticks of a logarithmic axis around `low`..`high`: of 1, 2 and 5, or of 1 alone when those are too many.

    ValueError unless 0 < low <= high.

    >>> log_ticks(3, 70), log_ticks(0.4, 6000)
    ([2.0, 5.0, 10.0, 20.0, 50.0, 100.0], [0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0])
    """
    if not 0 < low <= high:
        raise ValueError(f"log_ticks({low}, {high}); expected 0 < low <= high")
    powers = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 2)
    for digits in ((1, 2, 5), (1,)):
        values = [float(f"{digit}e{power}") for power in powers for digit in digits]
        first = max(i for i, value in enumerate(values) if value <= low)
        last = min(i for i, value in enumerate(values) if value >= high and i > first)
        if last - first < most:
            break
    return values[first : last + 1]


def number(value: float) -> str:
    """A number as it is printed beside a tick or in a table: short, and never in exponents.

    >>> [number(v) for v in (0.5, 20.0, 0.98123, 12345.678, 1e-9, 3)]
    ['0.5', '20', '0.9812', '12,346', '0', '3']
    """
    digits = 4 if abs(value) < 10 else 2 if abs(value) < 1000 else 0
    text = f"{value:,.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text
