"""Comparing systems on the questions that were asked of both, whatever their results came as."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from spanwise.errors import DataMalformed

from ...eval.significance.comparison import TWO_SIDED, Change, Comparison, Method, compare, shared_measures
from ...eval.significance.pairing import Pair, Scored, pair
from .scored_records import Source

NAMED = 5
"""How many questions a line of talk names."""


def compare_systems(
    pairs: Sequence[tuple[Scored, Scored]], measures: Sequence[str] = (), method: Method = TWO_SIDED
) -> list[Comparison]:
    """Each (baseline, system) by each measure, or by every measure that both have; in that order.

    Only questions that both were asked, and that are the same question on both sides, are compared: `told`
    says what is left out. Holm's correction is over all pairs and measures.
    ValueError: a measure is named that a pair does not share. DataMalformed: a pair shares none at all.
    """
    tests = []
    for baseline, system in pairs:
        one = pair(baseline, system)
        tests += [(one, name) for name in _measures(one, measures)]
    return compare(tests, method)


def chosen(sources: Sequence[Source], names: Sequence[str] = ()) -> list[Scored]:
    """The systems to compare, the baseline first: those named of each source, or all there are.

    Systems of one name in two places are told apart by their place. ValueError: fewer than two systems, a
    name that is nowhere, or several systems in one of many places and no names.
    """
    require_known(sources, names)
    if not names and len(sources) > 1 and (many := next((s for s in sources if len(s.systems) > 1), None)):
        held = ", ".join(one.system for one in many.systems)
        raise ValueError(f"{many.path} holds several systems ({held}): pick with --system")
    found = [(source, one) for source in sources for one in source.named(names)]
    if len(found) < 2:
        raise ValueError(
            f"{sources[0].path} holds {found[0][1].system} alone; expected two systems to compare"
        )
    counts = Counter(one.system for _, one in found)
    return [
        replace(one, system=f"{source.path}:{one.system}") if counts[one.system] > 1 else one
        for source, one in found
    ]


def require_known(sources: Sequence[Source], names: Iterable[str]) -> None:
    """ValueError when a name is that of no system of the sources."""
    known = list(dict.fromkeys(one.system for source in sources for one in source.systems))
    if unknown := [name for name in names if name not in known]:
        raise ValueError(f"there is no system {unknown[0]!r}; expected {', '.join(known)}")


def told(comparisons: Iterable[Comparison]) -> list[str]:
    """What was left out of the comparisons, a line each: questions and measures of one side only."""
    lines = []
    for one, _ in groupby(comparisons, key=lambda comparison: comparison.pair):
        before, after = one.baseline.system, one.system.system
        for ids, what in (
            (one.changed, f"changed between {before} and {after}"),
            (one.only_baseline, f"asked of {before} only"),
            (one.only_system, f"asked of {after} only"),
        ):
            if ids:
                lines.append(f"{_questions(ids)} {what}, left out: {_some(ids)}")
        for side, other in ((one.baseline, one.system), (one.system, one.baseline)):
            if lacking := [name for name in side.scores if name not in other.scores]:
                lines.append(f"measures of {side.system} only, left out: {_some(lacking)}")
    return lines


def pair_records(comparisons: Iterable[Comparison]) -> list[dict[str, Any]]:
    """The comparisons as JSON values, by pair, then by measure, with every question named."""
    return [
        {
            "baseline": one.baseline.system,
            "system": one.system.system,
            "questions": len(one.common),
            "changed": list(one.changed),
            "only_baseline": list(one.only_baseline),
            "only_system": list(one.only_system),
            "measures": {comparison.measure: _record(comparison) for comparison in group},
        }
        for one, group in groupby(comparisons, key=lambda comparison: comparison.pair)
    ]


def _record(one: Comparison) -> Mapping[str, Any]:
    return {
        "questions": one.questions,
        "baseline_mean": one.baseline_mean,
        "system_mean": one.system_mean,
        "difference": one.difference,
        "interval": None if one.interval is None else list(one.interval),
        "p": one.p,
        "p_holm": one.p_holm,
        **{name: [_named(c) for c in getattr(one, name)] for name in ("wins", "losses", "ties")},
    }


def _named(change: Change) -> dict[str, Any]:
    return {
        "id": change.id,
        "question": change.question,
        "baseline": change.baseline,
        "system": change.system,
        "difference": change.difference,
    }


def _measures(one: Pair, wanted: Sequence[str]) -> Sequence[str]:
    shared = shared_measures(one)
    before, after = one.baseline.system, one.system.system
    if not shared:
        alone = len(one.only_baseline) + len(one.only_system)
        raise DataMalformed(
            f"{before} and {after} share no question with a score of the same measure: "
            f"{len(one.common)} are common, {len(one.changed)} changed, {alone} of one side only"
        )
    if lacking := [name for name in wanted if name not in shared]:
        raise ValueError(f"{before} and {after} do not share {lacking[0]!r}; expected {', '.join(shared)}")
    return wanted or shared


def _questions(ids: Sequence[str]) -> str:
    return "1 question" if len(ids) == 1 else f"{len(ids):,} questions"


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:NAMED]) + (", …" if len(names) > NAMED else "")
