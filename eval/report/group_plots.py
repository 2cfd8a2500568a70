"""The plots by groups of questions: scores by question word, answer length and type, and the verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from ..abstention import Verdict
from ..significance.wilson import wilson_interval
from .interval_chart import Estimate, interval_chart
from .plot import Plot
from .series import filled_swatch, swatch
from .stacked_chart import stacked_chart
from .system_tally import GROUPINGS, Mean, SystemTally, in_order

FAMILIES = {
    "EM and F1": {"exact": "EM", "f1": "F1"},
    "Right answers": {"right": "Right answer", "right_top3": "Right answer in the first 3"},
}
"""Scores that share a plot when there is one system, and what a page calls each."""

LOOKS = {
    Verdict.RIGHT: "v-right",
    Verdict.RIGHTLY_DECLINED: "v-rightly-declined",
    Verdict.WRONGLY_DECLINED: "v-wrongly-declined",
    Verdict.WRONG: "v-wrong",
    Verdict.FALSE_ANSWER: "v-false",
}


def group_plots(tallies: Sequence[SystemTally]) -> Iterator[Plot]:
    """A plot for each grouping with more than one group; EM and F1 of a single system share one."""
    for grouping in GROUPINGS:
        for family, names in FAMILIES.items():
            present = {
                score: name
                for score, name in names.items()
                if any((grouping, score) in tally.groups for tally in tallies)
            }
            if len(tallies) == 1:
                means = [(name, tallies[0].groups[grouping, score]) for score, name in present.items()]
                yield from _group_plot(grouping, family, means)
                continue
            for score, name in present.items():
                means = [(tally.name, tally.groups.get((grouping, score), {})) for tally in tallies]
                yield from _group_plot(grouping, name, means)


def verdict_plot(tallies: Sequence[SystemTally]) -> Iterator[Plot]:
    """What became of the questions, by type and by system, where any could be declined."""
    rows = [row for tally in tallies for row in _verdict_rows(tally, len(tallies) > 1)]
    used = [verdict for verdict in LOOKS if any(counts[verdict] for _, counts in rows)]
    if set(used) <= {Verdict.RIGHT, Verdict.WRONG}:
        return
    title = "What became of the questions"
    yield Plot(
        title,
        stacked_chart(
            f"{title}: counts of verdicts", rows, {str(verdict): LOOKS[verdict] for verdict in used}
        ),
        ["questions", "n", *map(str, used)],
        [
            [name, f"{counts.total():,}", *(f"{counts[verdict]:,}" for verdict in used)]
            for name, counts in rows
        ],
        [(filled_swatch(LOOKS[verdict]), str(verdict)) for verdict in used],
    )


def _group_plot(
    grouping: str, measure: str, named: Sequence[tuple[str, Mapping[str, Mean]]]
) -> Iterator[Plot]:
    groups = {group for _, means in named for group in means}
    if len(groups) < 2:
        return
    rows = [
        (group, [_estimate(i, name, means[group]) for i, (name, means) in enumerate(named) if group in means])
        for group in in_order(grouping, groups)
    ]
    title = f"{measure} by {grouping}"
    yield Plot(
        title,
        interval_chart(f"{title}, with intervals of 95 %", rows, "% of the questions"),
        [grouping, "", "n", "mean", "95 % interval"],
        [
            [group, one.name, f"{one.n:,}", f"{one.mean:.1f}", f"{one.low:.1f} to {one.high:.1f}"]
            for group, estimates in rows
            for one in estimates
        ],
        [(swatch(i), name) for i, (name, _) in enumerate(named)],
    )


def _estimate(index: int, name: str, mean: Mean) -> Estimate:
    low, high = wilson_interval(min(mean.value, 1.0), mean.n)
    return Estimate(index, name, 100 * mean.value, 100 * low, 100 * high, mean.n)


def _verdict_rows(tally: SystemTally, many: bool) -> Iterator[tuple[str, Counter[str]]]:
    """All questions of a system, then, when it is the only one, those of each type."""
    if tally.verdicts:
        yield (tally.name if many else "all"), sum(tally.verdicts.values(), Counter[str]())
    if not many and len(tally.verdicts) > 1:
        yield from sorted(tally.verdicts.items())
