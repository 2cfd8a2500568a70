"""What other names change, from the records of one reader.

exact, f1            in percent, of the questions with the group's names
moved                the share of the answers that are others, once the names are put back
margin_change        the mean change, up or down, of the best score less the null score
confidence_change    the same of 1 / (1 + e^-margin), 0..1: how sure the reader is that there is an answer
one_token_names      the share of the group's names that are a single token to the reader
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import fmean
from typing import Any

from ...eval.question_record import QuestionRecord
from ...eval.significance.comparison import Comparison, compare
from ...eval.significance.pairing import Asked, Scored, pair
from ...eval.squad_na_probability import na_probability

ORIGINAL, UNMOVED = "original", "unmoved"
AGAINST_ORIGINAL, BETWEEN = ("exact", "f1"), ("f1", UNMOVED)

Records = Mapping[str, Sequence[QuestionRecord]]


def group_figures(records: Records) -> dict[str, dict[str, Any]]:
    """The figures of each group by its name, those of the original names first; see the module."""
    margins = {record.id: _margin(record) for record in records[ORIGINAL]}
    return {name: _figures(name, found, margins) for name, found in records.items()}


def group_differences(records: Records) -> tuple[dict[str, dict[str, Any]], list[dict[str, Any]]]:
    """Each group against the original names, by group, and each pair of groups: paired randomization tests.

    `exact` and `f1` against the original, `f1` and `unmoved` between groups, 0..1. Holm's correction is
    over all of them together, so that one small `p_holm` anywhere is an alarm.
    """
    original, *groups = (_scored(name, found) for name, found in records.items())
    tests = [(pair(original, group), measure) for group in groups for measure in AGAINST_ORIGINAL]
    pairs = [pair(one, other) for one, other in combinations(groups, 2)]
    found = compare([*tests, *((two, measure) for two in pairs for measure in BETWEEN)])
    against: dict[str, dict[str, Any]] = {}
    for one in found[: len(tests)]:
        by_measure = against.setdefault(one.pair.system.system, {}).setdefault(f"against_{ORIGINAL}", {})
        by_measure[one.measure] = _difference(one)
    names = [{"baseline": one.pair.baseline.system, "system": one.pair.system.system} for one in found]
    between = [
        {**name, "measure": one.measure, **_difference(one)}
        for name, one in zip(names[len(tests) :], found[len(tests) :], strict=True)
    ]
    return against, between


def _figures(
    name: str, records: Sequence[QuestionRecord], margins: Mapping[str, float | None]
) -> dict[str, Any]:
    figures: dict[str, Any] = {"questions": len(records)}
    figures |= {measure: 100 * fmean(one.scores[measure] for one in records) for measure in ("exact", "f1")}
    if name == ORIGINAL:
        return figures
    figures["moved"] = 1 - fmean(one.scores[UNMOVED] for one in records)
    both = [(margins[one.id], _margin(one)) for one in records]
    known = [(before, after) for before, after in both if before is not None and after is not None]
    if known:
        figures["margin_change"] = fmean(abs(after - before) for before, after in known)
        changes = (abs(na_probability(after) - na_probability(before)) for before, after in known)
        figures["confidence_change"] = fmean(changes)
    return figures


def _margin(record: QuestionRecord) -> float | None:
    return record.evidence[0].score if record.evidence else None


def _scored(system: str, records: Sequence[QuestionRecord]) -> Scored:
    """The texts are left out: they differ between groups, and that is what is compared."""
    scores: dict[str, dict[str, float]] = {}
    for record in records:
        for name, score in record.scores.items():
            scores.setdefault(name, {})[record.id] = score
    return Scored(system, scores, {record.id: Asked() for record in records})


def _difference(found: Comparison) -> dict[str, Any]:
    low, high = found.interval or (found.difference, found.difference)
    return {"difference": found.difference, "low": low, "high": high, "p": found.p, "p_holm": found.p_holm}
