"""Open-domain evaluation: find the paragraph among all, then read; every retriever side by side.

Each distinct paragraph is one document, ranked by its best passage; a question's gold is the document that
has the text of its paragraph. Questions are asked one at a time, as people ask them: so nothing that is
found depends on how many are asked together, and the times are those of one question.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spanwise.types import Answer, AnswerSpan, Hit, ProgressCallback, no_progress

from ...corpora.squad import SquadDataset
from ...eval.answer_match import match_text, match_tokens
from ...eval.question_record import Evidence, QuestionRecord
from ...eval.recall import recall_at_k
from ...eval.reciprocal_rank import reciprocal_rank
from ...eval.squad import question_scores_v2
from ...retrieval.protocol import Retriever
from ..ask import Answerer
from ..library import Library
from ..models import DEFAULT_RERANKING, Reranking, system_reranking
from ..paragraph_index import document_id_of
from .document_ranking import DocumentRanking, rank_documents
from .open_figures import CUTOFFS, open_figures
from .result_folder import ResultFolder
from .squad import GoldQuestion, gold_questions

RECORDS_AT_ONCE = 16  # what is lost at most when the evaluation is stopped
EVIDENCE = 5
TEXTS_KEPT = 50_000


def questions_to_ask(
    dataset: SquadDataset, limit: int | None = None, read_limit: int = 1000, seed: int = 0
) -> tuple[list[GoldQuestion], frozenset[str]]:
    """The questions, and the ids of those that are read, drawn by the seed from all or from `limit` of them.

    Nothing can be found for a question without answer, so those that are not read are left out.
    """
    drawn = gold_questions(dataset, limit, seed)
    chosen = random.Random(seed).sample(range(len(drawn)), min(read_limit, len(drawn)))
    read = frozenset(drawn[i].id for i in chosen)
    return [question for question in drawn if question.answers or question.id in read], read


def evaluate_open(
    library: Library,
    questions: Sequence[GoldQuestion],
    read: frozenset[str],
    retrievers: Sequence[str],
    results: ResultFolder,
    reader: str = "builtin",
    k: int = 20,
    report: ProgressCallback = no_progress,
    reranking: Reranking = DEFAULT_RERANKING,
) -> dict[str, dict[str, Any]]:
    """The figures of each retriever over a library of paragraphs, see `open_figures`.

    Documents are ranked for every question, answers read in the `k` best passages for those in `read`. A
    question that `results` holds a record of is not asked again.
    """
    texts = lru_cache(TEXTS_KEPT)(lambda document: match_text(library.document(document).text))
    for name in retrievers:
        done = results.done(name)
        left = [question for question in questions if question.id not in done]
        if left:
            rerank = system_reranking(name, reranking)
            asker = (
                library.answerer(retriever=name, reader=reader, k=k, dedupe=False, **rerank) if read else None
            )
            system = _System(name, library.retriever(name, **rerank), asker, texts, k)
            for n_done in system.ask(left, read, results):
                report(name, len(questions) - len(left) + n_done, len(questions))
    figures = _figures_of_finished(results, len(questions))
    results.finish(figures)
    return {name: figures[name] for name in retrievers}


def _figures_of_finished(results: ResultFolder, n_questions: int) -> dict[str, dict[str, Any]]:
    """The figures of every retriever that the folder has all records of, whoever asked for it."""
    names = dict.fromkeys(record.system for record in results.records())
    kept = ((name, list(results.records(name))) for name in names)
    return {name: open_figures(records) for name, records in kept if len(records) == n_questions}


@dataclass(slots=True)
class _Found:
    """A retriever that has found already, for one question."""

    name: str
    hits: Sequence[Hit]

    def search(
        self, questions: Sequence[str], k: int, among: NDArray[np.int64] | None = None
    ) -> list[list[Hit]]:
        return [list(self.hits[:k])]


@dataclass(frozen=True, slots=True)
class _System:
    """One retriever with what it is judged by; `texts` are documents as `eval.answer_match` compares them."""

    name: str
    retriever: Retriever
    asker: Answerer | None
    texts: Callable[[str], str]
    k: int

    def ask(
        self, questions: Sequence[GoldQuestion], read: frozenset[str], results: ResultFolder
    ) -> Iterator[int]:
        """Keep the record of each question; says after each few how many are done."""
        for at in range(0, len(questions), RECORDS_AT_ONCE):
            batch = questions[at : at + RECORDS_AT_ONCE]
            judged = [self.judge(question, question.id in read) for question in batch]
            rankings = {record.id: ranking.documents for record, ranking in judged}
            results.add([record for record, _ in judged], rankings)
            yield at + len(batch)

    def judge(self, question: GoldQuestion, read: bool) -> tuple[QuestionRecord, DocumentRanking]:
        """What was found for one question, and what of it was right."""
        began = time.perf_counter()
        ranking = rank_documents(self.retriever, question.text, CUTOFFS[-1], self.k)
        took_ms = {"retrieve": (time.perf_counter() - began) * 1000}
        gold = document_id_of(question.context)
        record = QuestionRecord(
            system=self.name,
            id=question.id,
            question=question.text,
            scores=self._retrieval_scores(question, ranking, gold) if question.answers else {},
            answerable=bool(question.answers),
            golds=question.answers,
            type=question.type,
            documents=(gold,) if question.answers else (),
            timings_ms=took_ms,
        )
        if read and self.asker is not None:
            found = _Found(self.retriever.name, ranking.hits)
            answer = replace(self.asker, retriever=found).answer([question.text])[0]
            record = _with_answer(record, answer, ranking.hits[: self.k], self.asker.calibration is not None)
        return record, ranking

    def _retrieval_scores(
        self, question: GoldQuestion, ranking: DocumentRanking, gold: str
    ) -> dict[str, float]:
        documents = [document for document, _ in ranking.documents]
        forms = [match_text(answer) for answer in question.answers if match_tokens(answer)]
        holding = [i for i, one in enumerate(documents) if any(form in self.texts(one) for form in forms)]
        first = holding[0] if holding else len(documents)
        return {
            **{f"recall@{cutoff}": recall_at_k(documents, {gold}, cutoff) for cutoff in CUTOFFS},
            **{f"answer_recall@{cutoff}": float(bool(holding) and first < cutoff) for cutoff in CUTOFFS},
            "rr": reciprocal_rank(documents, {gold}),
        }


def _with_answer(
    record: QuestionRecord, answer: Answer, hits: Sequence[Hit], calibrated: bool
) -> QuestionRecord:
    """The record with the answer; a question for which no passage was found has confidence 0."""
    shown = answer.best or answer.best_rejected
    given = "" if answer.best is None else answer.best.short.text
    golds = {record.id: record.golds}
    exact, f1 = (one[record.id] for one in question_scores_v2(golds, {record.id: given}))
    scores = {**record.scores, "exact_abstaining": exact, "f1_abstaining": f1}
    if record.answerable:
        forced = {record.id: "" if shown is None else shown.short.text}
        exact, f1 = (one[record.id] for one in question_scores_v2(golds, forced))
        retrieved = any(hit.passage.document_id in record.documents for hit in hits)
        answered = float(answer.best is not None)
        scores |= {"exact": exact, "f1": f1, "retrieved": float(retrieved), "answered": answered}
    else:
        scores["declined"] = float(answer.best is None)
    unsure = 0.0 if calibrated else None
    return replace(
        record,
        scores=scores,
        prediction=given,
        confidence=unsure if shown is None else shown.confidence,
        timings_ms={**answer.timings_ms, **record.timings_ms},
        evidence=_evidence(hits, shown),
        passages_read=answer.passages_read,
    )


def _evidence(hits: Sequence[Hit], shown: AnswerSpan | None) -> tuple[Evidence, ...]:
    """The best passages, and the one that the answer is from where it ranks below them."""
    kept = [hit for hit in hits if hit.rank <= EVIDENCE or (shown and hit.passage.id == shown.passage.id)]
    return tuple(
        Evidence(
            hit.passage.document_id,
            hit.passage.start,
            hit.passage.end,
            hit.passage.text,
            hit.score,
            _place_in(hit, shown),
        )
        for hit in kept
    )


def _place_in(hit: Hit, shown: AnswerSpan | None) -> tuple[int, int] | None:
    if shown is None or shown.passage.id != hit.passage.id:
        return None
    return shown.short.start - hit.passage.start, shown.short.end - hit.passage.start
