"""Fits when the first passages of a question are enough, on questions of which all passages were read.

The rule is the one that leaves most unread among those by which the best candidate says something else than
among all in at most MOST_CHANGED of the questions. What would have been observed without the rest follows
from what was observed with it: probabilities are shares of what was read, so they are divided by the share of
the first passages. Exact but for sentences that are repeated, spans beside the best of their sentence, and
candidates cut off for their number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from ...reader.evidence import Calibration
from ...reader.stopping import Stopping
from .observed import Observed

FIRST = (4, 8, 12)
"""How many passages may be read first."""
MOST_CHANGED = 0.01
LEAST_SHARE = 1e-9


def fit_stopping(observed: Sequence[Observed], weighings: Sequence[Calibration]) -> Stopping | None:
    """The rule that leaves most unread, or None where none leaves anything.

    `weighings[i]` ranks the candidates of `observed[i]`, and was fitted without them.
    """
    of = max((rank for one in observed for rank in ranks(one)), default=0)
    found = [_fitted(observed, weighings, first, of) for first in FIRST if first < of]
    return max((one for one in found if one), key=lambda one: one.unread, default=None)


def as_read(one: Observed, stopping: Stopping | None) -> Observed:
    """What is observed when reading stops by the rule."""
    if stopping is None or _best_margin(one, stopping.first) < stopping.margin:
        return one
    return shortened(one, stopping.first)


def shortened(one: Observed, first: int) -> Observed:
    """What is observed when only the best `first` passages are read.

    What compares a candidate with all that was read is of these alone; it is close, see the module.
    """
    places = ranks(one)
    read = [at for at, rank in enumerate(places) if rank <= first]
    left = [at for at, rank in enumerate(places) if rank > first]
    share = max(LEAST_SHARE, 1 - _probability(one, left))
    said = one.said or range(len(places))
    features = []
    for at in read:
        alike = [math.exp(one.features[other].log_share) for other in left if said[other] == said[at]]
        seen = one.features[at]
        agreement = max(0.0, seen.agreement - math.fsum(alike)) / share
        agreeing = math.log1p(max(0.0, math.expm1(seen.agreeing) - len(alike)))
        log_share = min(0.0, seen.log_share - math.log(share))
        features.append(replace(seen, log_share=log_share, agreement=agreement, agreeing=agreeing))
    return replace(
        one,
        features=tuple(features),
        f1=tuple(one.f1[at] for at in read),
        said=tuple(one.said[at] for at in read) if one.said else (),
    )


def ranks(one: Observed) -> list[int]:
    """The rank of each candidate's passage, from 1."""
    return [round(math.exp(features.log_rank)) for features in one.features]


def best_at(one: Observed, weighing: Calibration) -> int | None:
    """The number of the best candidate, of equal ones the first; None without any."""
    evidence = [weighing.evidence(features) for features in one.features]
    return max(range(len(evidence)), key=lambda at: evidence[at], default=None)


def _fitted(
    observed: Sequence[Observed], weighings: Sequence[Calibration], first: int, of: int
) -> Stopping | None:
    rows = [
        (_best_margin(one, first), _changes(one, weighing, first))
        for one, weighing in zip(observed, weighings, strict=True)
        if _best_margin(one, first) > -math.inf
    ]
    rows.sort(reverse=True)
    most = MOST_CHANGED * len(observed)
    changed = list(accumulate(int(changes) for _, changes in rows))
    stopped = sum(total <= most for total in changed)
    while 0 < stopped < len(rows) and rows[stopped - 1][0] == rows[stopped][0]:
        stopped -= 1  # of equal margins all are enough or none
    if not stopped:
        return None
    unread = stopped * (of - first) / (len(observed) * of)
    return Stopping(first, of, rows[stopped - 1][0], unread, changed[stopped - 1] / len(observed))


def _best_margin(one: Observed, first: int) -> float:
    rows = zip(one.features, ranks(one), strict=True)
    return max((features.margin for features, rank in rows if rank <= first), default=-math.inf)


def _changes(one: Observed, weighing: Calibration, first: int) -> bool:
    """True when the best candidate of the first passages says something else than the best of all."""
    whole = replace(one, said=one.said or tuple(range(len(one.features))))
    part = shortened(whole, first)
    best, of_part = best_at(whole, weighing), best_at(part, weighing)
    return best is not None and of_part is not None and whole.said[best] != part.said[of_part]


def _probability(one: Observed, numbers: Sequence[int]) -> float:
    """The summed probability of these candidates, and of "no answer" in each of their passages."""
    places = ranks(one)
    shares = {at: one.features[at].log_share for at in numbers}
    null = {places[at]: min(0.0, share - one.features[at].margin) for at, share in shares.items()}
    return math.fsum(map(math.exp, [*shares.values(), *null.values()]))
