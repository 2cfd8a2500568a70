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
from dataclasses import dataclass, replace
from itertools import accumulate

from ...reader.evidence import Calibration, Stopping
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
    best = [best_at(one, weighing) for one, weighing in zip(observed, weighings, strict=True)]
    trials = [_Trial(*row) for row in zip(observed, weighings, best, strict=True)]
    found = [_fitted(trials, first, of) for first in FIRST if first < of]
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
    read, left = _parts(one, first)
    share = max(LEAST_SHARE, 1 - _probability(one, left))
    said = one.said or range(len(one.features))
    unread: dict[int, list[float]] = {}
    for at in left:
        unread.setdefault(said[at], []).append(math.exp(one.features[at].log_share))
    features = []
    for at in read:
        alike = unread.get(said[at], ())
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


def _parts(one: Observed, first: int) -> tuple[list[int], list[int]]:
    """The numbers of the candidates in the best `first` passages, and those of the others."""
    found: tuple[list[int], list[int]] = [], []
    for at, rank in enumerate(ranks(one)):
        found[rank > first].append(at)
    return found


def ranks(one: Observed) -> list[int]:
    """The rank of each candidate's passage, from 1."""
    return [round(math.exp(features.log_rank)) for features in one.features]


def best_at(one: Observed, weighing: Calibration) -> int | None:
    """The number of the best candidate, of equal ones the first; None without any."""
    evidence = [weighing.evidence(features) for features in one.features]
    return max(range(len(evidence)), key=lambda at: evidence[at], default=None)


@dataclass(frozen=True, slots=True)
class _Trial:
    """A question, what ranks its candidates, and the number of the best of all."""

    observed: Observed
    weighing: Calibration
    best: int | None

    def changes(self, first: int) -> bool:
        """True when the best candidate of the first passages says something else than the best of all."""
        said = self.observed.said or tuple(range(len(self.observed.features)))
        part = shortened(replace(self.observed, said=said), first)
        best = best_at(part, self.weighing)
        return self.best is not None and best is not None and said[self.best] != part.said[best]


def _fitted(trials: Sequence[_Trial], first: int, of: int) -> Stopping | None:
    margins = [_best_margin(trial.observed, first) for trial in trials]
    rows = [(margin, trial.changes(first)) for margin, trial in zip(margins, trials, strict=True)]
    rows = sorted((row for row in rows if row[0] > -math.inf), reverse=True)
    changed = list(accumulate(int(changes) for _, changes in rows))
    stopped = sum(total <= MOST_CHANGED * len(trials) for total in changed)
    while 0 < stopped < len(rows) and rows[stopped - 1][0] == rows[stopped][0]:
        stopped -= 1  # of equal margins all are enough or none
    if not stopped:
        return None
    unread = stopped * (of - first) / (len(trials) * of)
    return Stopping(first, of, rows[stopped - 1][0], unread, changed[stopped - 1] / len(trials))


def _best_margin(one: Observed, first: int) -> float:
    read, _ = _parts(one, first)
    return max((one.features[at].margin for at in read), default=-math.inf)


def _probability(one: Observed, numbers: Sequence[int]) -> float:
    """The summed probability of these candidates, and of "no answer" in each of their passages."""
    places = ranks(one)
    shares = {at: one.features[at].log_share for at in numbers}
    null = {places[at]: min(0.0, share - one.features[at].margin) for at, share in shares.items()}
    return math.fsum(map(math.exp, [*shares.values(), *null.values()]))
