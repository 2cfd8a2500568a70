"""`eval compare`: two systems question by question, with a paired randomisation test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from spanwise.errors import DataMalformed

from ...eval.questions import QuestionRecord
from ...eval.significance import Alternative, Comparison, compare
from .results import ResultFolder, read_records


@dataclass(frozen=True, slots=True)
class SystemComparison:
    """Two systems by each measure that both have; `left_out` are questions that cannot be compared.

    `alternative` is "two-sided", or "less": is the system worse than the baseline?
    """

    baseline: str
    system: str
    alternative: Alternative
    measures: dict[str, Comparison]
    questions: dict[str, str]
    left_out: tuple[str, ...]

    def losses(self, alpha: float = 0.05) -> list[str]:
        """The measures by which the system is significantly worse, with p below alpha."""
        return [name for name, one in self.measures.items() if one.difference < 0 and one.p < alpha]

    def record(self) -> dict[str, Any]:
        """The comparison as JSON values, with the scores of every question."""
        figures = ("questions", "baseline_mean", "system_mean", "difference", "interval", "p")
        return {
            "baseline": self.baseline,
            "system": self.system,
            "alternative": self.alternative,
            "left_out": list(self.left_out),
            "measures": {
                name: {figure: getattr(one, figure) for figure in figures}
                | {
                    kind: [asdict(change) | {"question": self.questions[change.id]} for change in changes]
                    for kind, changes in (("wins", one.wins), ("losses", one.losses), ("ties", one.ties))
                }
                for name, one in self.measures.items()
            },
        }


def compare_results(
    paths: Sequence[Path],
    systems: Sequence[str] = (),
    measures: Sequence[str] = (),
    alternative: Alternative = "two-sided",
    permutations: int = 10_000,
    seed: int = 0,
) -> SystemComparison:
    """The second system compared with the first, the baseline.

    Paths are result folders or their records.jsonl: two with one system each, or any that hold the two
    named `systems`. Questions that only one of them was asked, or whose text or answers changed, are left
    out. ValueError: not two systems, or a measure that they do not share.
    """
    (baseline, before), (system, after) = _pair(paths, systems)
    common = [
        qid
        for qid in before
        if qid in after
        and (before[qid].question, set(before[qid].golds)) == (after[qid].question, set(after[qid].golds))
    ]
    shared = {
        name: [qid for qid in common if name in before[qid].scores and name in after[qid].scores]
        for name in dict.fromkeys(name for qid in common for name in before[qid].scores)
    }
    shared = {name: ids for name, ids in shared.items() if ids}
    if not shared:
        raise DataMalformed(f"{baseline} and {system} share no question with a score of the same measure")
    if lacking := [name for name in measures if name not in shared]:
        raise ValueError(f"{baseline} and {system} do not share {lacking[0]!r}; expected {', '.join(shared)}")
    found = {
        name: compare(
            {qid: before[qid].scores[name] for qid in ids},
            {qid: after[qid].scores[name] for qid in ids},
            alternative,
            permutations,
            seed,
        )
        for name, ids in shared.items()
        if not measures or name in measures
    }
    texts = {qid: before[qid].question for qid in common}
    left_out = tuple(sorted((before.keys() | after.keys()) - set(common)))
    return SystemComparison(baseline, system, alternative, found, texts, left_out)


def _pair(
    paths: Sequence[Path], systems: Sequence[str]
) -> tuple[tuple[str, dict[str, QuestionRecord]], tuple[str, dict[str, QuestionRecord]]]:
    """The two systems with their records by question; those of one name are called by their paths."""
    found: list[tuple[str, dict[str, QuestionRecord]]] = []
    known: list[str] = []
    for path in paths:
        by_system: dict[str, dict[str, QuestionRecord]] = {}
        records = ResultFolder.open(path).records() if path.is_dir() else read_records(path)
        if not records:
            raise DataMalformed(f"{path}: holds no records of questions")
        for record in records:
            if record.id in by_system.setdefault(record.system, {}):
                raise DataMalformed(f"{path}: {record.system} has two records of the question {record.id!r}")
            by_system[record.system][record.id] = record
        known += by_system
        if not systems and len(paths) > 1 and len(by_system) > 1:
            raise ValueError(
                f"{path} holds several systems ({', '.join(by_system)}): choose two with --system"
            )
        chosen = [name for name in systems or by_system if name in by_system]
        found += [(f"{path}:{name}" if len(paths) > 1 else name, by_system[name]) for name in chosen]
    if len(found) != 2:
        raise ValueError(
            f"expected two systems to compare, found {len(found)} of {', '.join(known) or 'none'}"
        )
    return found[0], found[1]
