"""What sets systems apart that were asked the same questions about a folder, and whether it could be chance.

handled            1 for a right answer, and for declining a question whose answer is absent
right              1 for a right answer, of the questions that have one
answer_recall@k    see `folder_figures`; by the deepest k there is

Each system is compared with the first by paired randomization tests; Holm's correction is over all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...eval.abstention import Verdict, verdict_of
from ...eval.question_record import QuestionRecord
from ...eval.significance.comparison import Comparison, compare
from ...eval.significance.pairing import Asked, Scored, pair
from .folder_figures import CUTOFFS, recall_name

HANDLED, RIGHT = "handled", "right"
DEEPEST_FIRST = [recall_name(cutoff) for cutoff in reversed(CUTOFFS)]


def compared_with_first(records: Mapping[str, Sequence[QuestionRecord]]) -> dict[str, dict[str, Any]]:
    """For each system but the first `against_NAME`: of each measure the difference, its interval and p."""
    first, *others = (_scored(system, found) for system, found in records.items())
    tests = [
        (pair(first, other), measure)
        for other in others
        for measure in _measures(first.scores.keys() & other.scores.keys())
    ]
    against: dict[str, dict[str, Any]] = {other.system: {} for other in others}
    for found in compare(tests):
        against[found.pair.system.system][found.measure] = _difference(found)
    return {system: {f"against_{first.system}": found} for system, found in against.items()}


def _measures(shared: Iterable[str]) -> list[str]:
    recall = next((name for name in DEEPEST_FIRST if name in shared), "")
    return [name for name in (HANDLED, RIGHT, recall) if name in shared]


def _difference(found: Comparison) -> dict[str, Any]:
    low, high = found.interval or (found.difference, found.difference)
    return {
        "difference": found.difference,
        "low": low,
        "high": high,
        "p": found.p,
        "p_holm": found.p_holm,
        "wins": len(found.wins),
        "losses": len(found.losses),
    }


def _scored(system: str, records: Sequence[QuestionRecord]) -> Scored:
    scores: dict[str, dict[str, float]] = {}
    for record in records:
        handled = verdict_of(record) in (Verdict.RIGHT, Verdict.RIGHTLY_DECLINED)
        for name, score in {**record.scores, HANDLED: float(handled)}.items():
            scores.setdefault(name, {})[record.id] = score
    asked = {record.id: Asked(record.question, frozenset(record.golds)) for record in records}
    return Scored(system, scores, asked)
