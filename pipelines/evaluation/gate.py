"""The gate: has the system become worse than its baseline, beyond what chance does to equals?"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...eval.significance.comparison import LOSS, Comparison, Method
from ...eval.significance.pairing import Scored
from .compare import compare_systems, pair_records, require_known
from .scored_records import Source

ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Gate:
    """What the gate found: one comparison for each system and measure, tested for a loss at `alpha`."""

    comparisons: tuple[Comparison, ...]
    alpha: float = ALPHA

    @property
    def losses(self) -> tuple[Comparison, ...]:
        """The significant ones; the gate is passed when there are none."""
        return tuple(one for one in self.comparisons if self.is_loss(one))

    def is_loss(self, one: Comparison) -> bool:
        """True when the mean fell and the corrected p-value is at most alpha."""
        return one.difference < 0 and one.p_holm <= self.alpha


def gate(
    baseline: Source,
    results: Source,
    systems: Sequence[str] = (),
    measures: Sequence[str] = (),
    alpha: float = ALPHA,
    method: Method = LOSS,
) -> Gate:
    """The results against the baseline: each system against the one of its name, or the only two there are.

    One-sided randomisation tests, Holm's correction over all systems and measures: when nothing has become
    worse, the gate fails in at most a share of `alpha` of its runs.
    ValueError: no systems to compare, or alpha outside of (0, 1); and as `compare_systems`.
    """
    require_alpha(alpha)
    require_known((baseline, results), systems)
    pairs = _pairs(baseline, results, systems)
    return Gate(tuple(compare_systems(pairs, measures, replace(method, alternative="less"))), alpha)


def require_alpha(alpha: float) -> None:
    """ValueError when it is no level of a test."""
    if not 0 < alpha < 1:
        raise ValueError(f"alpha is {alpha}; expected above 0 and below 1")


def restricted(source: Source, ids: Collection[str]) -> Source:
    """The source with these questions only."""
    systems = tuple(
        Scored(
            one.system,
            {name: {q: v for q, v in values.items() if q in ids} for name, values in one.scores.items()},
            {qid: asked for qid, asked in one.questions.items() if qid in ids},
        )
        for one in source.systems
    )
    return replace(source, systems=systems)


def loss_line(one: Comparison, shown: int = 3) -> str:
    """A significant loss in one line: the measure, how far it fell, p, and the worst questions."""
    worst = ", ".join(f"{change.id} ({change.difference:+.3g})" for change in one.losses[:shown])
    return (
        f"{one.measure} of {one.pair.system.system} fell by {-one.difference:.4f}, "
        f"from {one.baseline_mean:.4f} to {one.system_mean:.4f} "
        f"(n = {one.questions}, p = {one.p_holm:.2g} corrected); worst: {worst}"
    )


def gate_record(found: Gate) -> dict[str, Any]:
    """The gate as JSON values: did it pass, what was lost, and every comparison with its questions."""
    losses = [
        {"system": one.pair.system.system, "measure": one.measure, "message": loss_line(one)}
        for one in found.losses
    ]
    pairs = pair_records(found.comparisons)
    return {"passed": not losses, "alpha": found.alpha, "losses": losses, "pairs": pairs}


def _pairs(baseline: Source, results: Source, systems: Sequence[str]) -> list[tuple[Scored, Scored]]:
    before, after = baseline.named(systems), results.named(systems)
    known = {one.system: one for one in before}
    pairs = [(known[one.system], one) for one in after if one.system in known]
    if not pairs and len(before) == len(after) == 1:
        pairs = [(before[0], after[0])]
    if not pairs:
        names = [", ".join(one.system for one in side) for side in (before, after)]
        raise ValueError(f"the baseline holds {names[0]}, the results hold {names[1]}: no system of one name")
    place = str(baseline.path)
    several = len(baseline.systems) > 1
    return [(replace(old, system=f"{place}:{old.system}" if several else place), new) for old, new in pairs]
