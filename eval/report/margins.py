"""The margins of a reader on gold paragraphs beside what its best spans were worth, declined or not."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..question_record import QuestionRecord
from ..squad import question_scores_v2
from ..squad_precision_recall import precision_recall_points

Points = list[tuple[float, float]]


@dataclass(slots=True)
class Margins:
    """Grows record by record, by those with one passage and no fitted confidence; see `curves`."""

    margins: array[float] = field(default_factory=lambda: array("d"))
    exact: array[float] = field(default_factory=lambda: array("d"))
    f1: array[float] = field(default_factory=lambda: array("d"))
    answerable: array[float] = field(default_factory=lambda: array("d"))

    def add(self, record: QuestionRecord) -> None:
        """One more record; those of another kind are passed over."""
        if len(record.evidence) != 1 or record.confidence is not None or "exact" not in record.scores:
            return
        [evidence] = record.evidence
        proposed = evidence.text[slice(*evidence.span)] if evidence.span else ""
        exact, f1 = question_scores_v2({"": record.golds}, {"": proposed})
        self.margins.append(evidence.score)
        self.exact.append(exact[""])
        self.f1.append(f1[""])
        self.answerable.append(record.answerable)

    def curves(self) -> Mapping[str, Points]:
        """(recall, precision) of EM and F1 as ever less sure spans are answered; none where nothing could be
        declined: all questions have an answer, or none has, or the margins are all the same."""
        if len(set(self.answerable)) < 2 or len(set(self.margins)) < 2:
            return {}
        ids = [str(i) for i in range(len(self.margins))]
        golds = {qid: ["."] if there else [] for qid, there in zip(ids, self.answerable, strict=True)}
        na = {qid: -margin for qid, margin in zip(ids, self.margins, strict=True)}
        scores = {"EM": self.exact, "F1": self.f1}
        return {
            name: precision_recall_points(golds, dict(zip(ids, values, strict=True)), na)
            for name, values in scores.items()
        }
