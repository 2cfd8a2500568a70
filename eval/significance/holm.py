"""Holm's step-down correction: p-values that may all be looked at without more false alarms than promised."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """The adjusted p-values, in the order given; at most 1, and ordered as the p-values are.

    With p_(1) <= ... <= p_(m): adjusted p_(i) = max over j <= i of min(1, (m - j + 1) p_(j)). Rejecting where
    it is at most alpha keeps the chance of any false rejection at alpha, however the tests depend on each
    other. ValueError for a p-value outside of 0..1.
    Source: Holm, Scandinavian Journal of Statistics 6 (1979), 65-70.

    >>> holm([0.01, 0.04, 0.03, 0.005])
    [0.03, 0.06, 0.06, 0.02]
    """
    for p in p_values:
        if not 0 <= p <= 1:
            raise ValueError(f"a p-value is {p!r}; expected 0..1")
    adjusted, highest = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = highest
    return adjusted
