"""Open-domain evaluation: find the paragraph among all, then read; every retriever side by side.

Each distinct paragraph is one document, ranked by its best passage. Recall counts the gold paragraph.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from spanwise.types import Answer, Hit, Passage, ScoredSpan

from ...corpora.squad import SquadDataset
from ...eval.recall import mean_recall_at_k
from ...eval.reciprocal_rank import mean_reciprocal_rank
from ...eval.squad import score_v2
from ...reader.protocol import Reader
from ..ask import Asker
from ..library import Library
from ..paragraph_index import document_id_of
from ..progress import Report, silent
from .squad import GoldQuestion, gold_questions

CUTOFFS = (1, 5, 20)
PASSAGES_PER_CUTOFF = 3
QUESTIONS_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class OpenFigures:
    """What one retriever reached; EM and F1 are in percent over `read` questions, none declined."""

    recall: dict[int, float]
    rr: float
    exact: float | None
    f1: float | None
    questions: int
    read: int
    ms_per_question: dict[str, float]


class RememberingReader:
    """A reader that reads each (question, passage) once, however many retrievers find it."""

    def __init__(self, reader: Reader) -> None:
        self.reader, self.digest = reader, reader.digest
        self._known: dict[tuple[str, int], list[ScoredSpan]] = {}

    def read(
        self, questions: Sequence[str], passages: Sequence[Sequence[Passage]], n_best: int = 5
    ) -> list[list[list[ScoredSpan]]]:
        """As `reader.protocol.Reader.read`; `n_best` must not change between calls."""
        new = [
            [p for p in group if (q, p.id) not in self._known]
            for q, group in zip(questions, passages, strict=True)
        ]
        for q, group, read in zip(questions, new, self.reader.read(questions, new, n_best), strict=True):
            self._known.update({(q, passage.id): spans for passage, spans in zip(group, read, strict=True)})
        return [[self._known[q, p.id] for p in group] for q, group in zip(questions, passages, strict=True)]


def evaluate_open(
    library: Library,
    dataset: SquadDataset,
    retrievers: Sequence[str],
    reader: str = "builtin",
    k: int = 20,
    limit: int | None = None,
    read_limit: int = 1000,
    seed: int = 0,
    report: Report = silent,
) -> dict[str, OpenFigures]:
    """The figures of each retriever over a library of the data set's paragraphs.

    Recall is over all answerable questions (or `limit` of them), EM and F1 over `read_limit` of those,
    drawn by the seed; 0 reads none. `k` passages are read a question.
    """
    questions = [q for q in gold_questions(dataset, limit, seed) if q.answers]
    chosen = sorted(random.Random(seed).sample(range(len(questions)), min(read_limit, len(questions))))
    to_read = [questions[i] for i in chosen]
    asker = _asker(library, reader) if to_read else None
    figures = {}
    for name in retrievers:
        rankings, search_ms = _search(library, name, questions, report)
        exact, f1, read_ms = None, None, 0.0
        if asker is not None:
            exact, f1, read_ms = _read(asker, library, name, to_read, k, report)
        golds = [{document_id_of(q.context)} for q in questions]
        figures[name] = OpenFigures(
            recall={cutoff: mean_recall_at_k(rankings, golds, cutoff) for cutoff in CUTOFFS},
            rr=mean_reciprocal_rank(rankings, golds),
            exact=exact,
            f1=f1,
            questions=len(questions),
            read=len(to_read),
            ms_per_question={"retrieve": search_ms, "ask": read_ms},
        )
    return figures


def _asker(library: Library, reader: str) -> Asker:
    asker = library.asker("bm25", reader)
    return replace(asker, reader=RememberingReader(asker.reader))


def _search(
    library: Library, name: str, questions: Sequence[GoldQuestion], report: Report
) -> tuple[list[list[str]], float]:
    """The ranked document ids of each question (its hits would not fit into memory), and the time of one."""
    retriever = library.retriever(name)
    found: list[list[str]] = []
    began = time.perf_counter()
    for at in range(0, len(questions), QUESTIONS_AT_ONCE):
        batch = [q.text for q in questions[at : at + QUESTIONS_AT_ONCE]]
        found += map(_documents, retriever.search(batch, CUTOFFS[-1] * PASSAGES_PER_CUTOFF))
        report(f"search {name}", len(found), len(questions))
    return found, (time.perf_counter() - began) * 1000 / max(1, len(questions))


def _read(
    asker: Asker, library: Library, name: str, questions: Sequence[GoldQuestion], k: int, report: Report
) -> tuple[float, float, float]:
    using = replace(asker, retriever=library.retriever(name))
    answers: list[Answer] = []
    began = time.perf_counter()
    for at in range(0, len(questions), QUESTIONS_AT_ONCE):
        answers += using.ask([q.text for q in questions[at : at + QUESTIONS_AT_ONCE]], k, threshold=0)
        report(f"read {name}", len(answers), len(questions))
    took = (time.perf_counter() - began) * 1000 / len(questions)
    predictions = {q.id: short_text(answer) for q, answer in zip(questions, answers, strict=True)}
    scores = score_v2({q.id: q.answers for q in questions}, predictions)
    return scores["exact"], scores["f1"], took


def short_text(answer: Answer) -> str:
    """The reader's own span, also where a sentence or list is shown around it."""
    return "" if answer.best is None else answer.best.short.text


def _documents(hits: Sequence[Hit]) -> list[str]:
    return list(dict.fromkeys(hit.passage.document_id for hit in hits))
