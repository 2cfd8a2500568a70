"""Ask: retrieve, read, score the candidates, answer or decline.

Answers with the same words are listed together; an answer to a question for several things may have parts in
several passages. Below the fitted threshold the question is declined, and the nearest spans and passages are
returned instead.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from spanwise.errors import QuestionEmpty
from spanwise.options import ProgressCallback, no_progress
from spanwise.types import Answer, AnswerSpan, AskOptions, Hit, Passage, Span

from ...index.analysis import Analyzer
from ...index.live_postings import LivePostings
from ...index.snapshot import Snapshot
from ...reader.evidence import Calibration
from ...reader.protocol import Reader
from ...retrieval.bm25 import idf_lucene
from ...retrieval.protocol import Retriever
from .candidates import (
    Candidate,
    Question,
    RankedCandidate,
    Readings,
    answer_key,
    candidates,
    ranked_candidates,
)
from .declined import adds_words, content_terms, topic_section
from .filters import Selection
from .spelling import Spelling, spelled

N_BEST = 8  # spans of a passage that are scored
N_NEAREST = 3  # hits of an answer, and spans of a declined question
N_CANDIDATES = 2
UNSURE = 0.10  # the least confidence of a candidate
SHOWN = 0.05  # and of an alternative
MAX_PARTS = 5  # of an answer


def checked_question(question: str) -> str:
    """The question without white space around it; QuestionEmpty without any."""
    if not question.strip():
        raise QuestionEmpty('the question is empty: ask something, such as "who founded the mill?"')
    return question.strip()


@dataclass(frozen=True, slots=True)
class AnswerTrace:
    """An answer with the question as searched, the hits, what was read of them, and all candidates."""

    answer: Answer
    spelling: Spelling
    hits: Sequence[Hit]
    readings: Readings
    ranked: Sequence[RankedCandidate]


@dataclass(frozen=True, slots=True)
class Answerer:
    """Everything that answering needs, loaded once; `answer` may be called for any number of questions.

    Without a calibration candidates are ranked by the score over the null answer, confidence is None, and a
    question is declined when the null answer scores higher. With a selection only its passages are searched.
    """

    snapshot: Snapshot
    postings: LivePostings
    analyzer: Analyzer
    retriever: Retriever
    reader: Reader
    calibration: Calibration | None
    options: AskOptions = field(default_factory=AskOptions)
    selection: Selection | None = None
    partial: str = ""
    on_progress: ProgressCallback = no_progress

    def answer(self, questions: Sequence[str]) -> list[Answer]:
        """One answer a question."""
        return [one.answer for one in self.trace(questions)]

    def trace(
        self, questions: Sequence[str], hits: Sequence[Sequence[Hit]] | None = None
    ) -> list[AnswerTrace]:
        """One answer a question, with everything that it is made from; given `hits` are not searched for."""
        began = time.perf_counter()
        spellings = [spelled(one, self.postings, self.snapshot, self.analyzer) for one in questions]
        questions = [one.text for one in spellings]
        if hits is None:
            among = self.selection.passage_ids if self.selection else None
            hits = self.retriever.search(questions, self.options.k, among)
        retrieved = time.perf_counter()
        readings = self.read(questions, hits)
        each = 1000 / max(1, len(questions))
        spent = {"retrieve": (retrieved - began) * each, "read": (time.perf_counter() - retrieved) * each}
        rows = zip(spellings, hits, readings, strict=True)
        return self._read_before_declining([self._traced(*row, spent) for row in rows])

    # Reading, with early exit

    def read(self, questions: Sequence[str], hits: Sequence[Sequence[Hit]]) -> list[Readings]:
        """The spans of the hits of each question, in their order.

        With a fitted rule for it, unless `read_all`, the last hits stay unread when the first are enough.
        """
        rule = self.calibration.stopping if self.calibration and not self.options.read_all else None
        nothing: list[Readings] = [()] * len(hits)
        if rule is None:
            return self._read_rest(questions, hits, nothing)
        first = [found[: rule.part(len(found))] for found in hits]
        readings = self._read_rest(questions, first, nothing)
        is_sure = [rule.is_enough(chain.from_iterable(spans)) for spans in readings]
        wanted = [some if sure else every for some, every, sure in zip(first, hits, is_sure, strict=True)]
        return self._read_rest(questions, wanted, readings)

    def _read_rest(
        self, questions: Sequence[str], hits: Sequence[Sequence[Hit]], readings: Sequence[Readings]
    ) -> list[Readings]:
        """The readings, with those of the hits that are still unread, read all together."""
        found = list(readings)
        waiting = [at for at, read in enumerate(readings) if len(read) < len(hits[at])]
        if waiting:
            self.on_progress("passages", sum(map(len, readings)), sum(map(len, hits)))
            left = [[hit.passage for hit in hits[at][len(readings[at]) :]] for at in waiting]
            read = self.reader.read([questions[at] for at in waiting], left, N_BEST)
            for at, more in zip(waiting, read, strict=True):
                found[at] = [*readings[at], *more]
        return found

    def _read_before_declining(self, traces: list[AnswerTrace]) -> list[AnswerTrace]:
        """The traces; questions that were declined with hits unread are answered again from all hits."""
        numbers = [at for at, one in enumerate(traces) if one.answer.no_answer and one.answer.passages_unread]
        if not numbers:
            return traces
        began, again = time.perf_counter(), [traces[at] for at in numbers]
        questions, hits = [one.spelling.text for one in again], [one.hits for one in again]
        readings = self._read_rest(questions, hits, [one.readings for one in again])
        took = (time.perf_counter() - began) * 1000 / len(numbers)
        for at, one, read in zip(numbers, again, readings, strict=True):
            spent = {**one.answer.timings_ms, "read": one.answer.timings_ms["read"] + took}
            traces[at] = self._traced(one.spelling, one.hits, read, spent)
        return traces

    # Scoring

    def score_candidates(self, text: str, hits: Sequence[Hit], readings: Readings) -> list[Candidate]:
        """The candidates of one question with their features, unordered."""
        terms = tuple(self.analyzer.question_terms(text))
        statistics = self.postings.statistics(terms)
        idf = {term: idf_lucene(statistics.df.get(term, 0), statistics.n_docs) for term in terms}
        return candidates(Question(text, terms, idf), hits, readings, self.analyzer.terms)

    def _traced(
        self, spelling: Spelling, hits: Sequence[Hit], readings: Readings, spent: Mapping[str, float]
    ) -> AnswerTrace:
        """The answer to one question from what was read; `spent` is the time so far, in ms by stage."""
        began = time.perf_counter()
        ranked = ranked_candidates(self.score_candidates(spelling.text, hits, readings), self.calibration)
        scoring = spent.get("rank", 0.0) + (time.perf_counter() - began) * 1000
        answer = self._answer(spelling, hits, len(readings), ranked, {**spent, "rank": scoring})
        return AnswerTrace(answer, spelling, hits, readings, ranked)

    # Answering

    def _answer(
        self,
        spelling: Spelling,
        hits: Sequence[Hit],
        n_read: int,
        ranked: Sequence[RankedCandidate],
        timings: dict[str, float],
    ) -> Answer:
        given = self.options.threshold
        threshold = self.calibration.threshold if given is None and self.calibration else given
        duplicates = {hit.passage.id: hit.duplicates for hit in hits}
        found = without_overlaps([self.answer_span(one) for one in ranked])
        shown = merge_same_answers([replace(one, duplicates=duplicates[one.passage.id]) for one in found])
        best = shown[0] if shown and self._is_accepted(shown[0], ranked[0].evidence, threshold) else None
        fitted = threshold if self.calibration else None
        terms = set[str]() if best else content_terms(spelling.text, self.analyzer)
        others = [one for one in shown[1:] if one.confidence is None or one.confidence >= SHOWN]
        scope = self.selection.scope if self.selection else None
        return Answer(
            question=spelling.question,
            best=best,
            alternatives=tuple(others[: self.options.alternatives]) if best else (),
            documents_searched=scope.documents if scope else self.snapshot.n_documents,
            passages_searched=scope.passages if scope else self.snapshot.n_passages,
            passages_read=n_read,
            passages_unread=len(hits) - n_read,
            rejected=() if best else tuple(shown[:N_NEAREST]),
            missing_terms=() if best else spelling.missing,
            nearest=tuple(hits[:N_NEAREST]),
            retriever=self.retriever.name,
            timings_ms=timings,
            scope=scope,
            threshold=fitted,
            parts=self._parts(shown, ranked, threshold) if best else (),
            candidates=self._candidates(shown, terms, hits[:n_read]) if terms and self.calibration else (),
            searched_for=spelling.searched_for,
            is_unknown=spelling.is_unknown,
            partial=self.partial,
        )

    def _candidates(
        self, shown: Sequence[AnswerSpan], terms: set[str], read: Sequence[Hit]
    ) -> tuple[AnswerSpan, ...]:
        """The section that a declined question names, then likely spans that say more than the question."""
        near = [one for one in shown if (one.confidence or 0.0) >= UNSURE]
        near = [one for one in near if adds_words(one.text, terms, self.analyzer)]
        if section := topic_section(terms, read, self.snapshot, self.analyzer):
            span, passage = section
            page, line, label = place_of(self.snapshot, span, passage)
            near = [AnswerSpan(span, span, passage, page, line, 0.0, None, label), *near]
        return tuple(without_overlaps(near, by_sentence=True)[:N_CANDIDATES])

    def _parts(
        self, shown: Sequence[AnswerSpan], ranked: Sequence[RankedCandidate], threshold: float | None
    ) -> tuple[AnswerSpan, ...]:
        """The best answers of different passages to a question for several things, each sure enough alone."""
        if not ranked[0].candidate.scored.several or self.calibration is None:
            return ()
        parts: dict[int, AnswerSpan] = {}
        for one in shown:
            if self._is_accepted(one, 0.0, threshold):
                parts.setdefault(one.passage.id, one)
        return tuple(parts.values())[:MAX_PARTS] if len(parts) > 1 else ()

    def _is_accepted(self, best: AnswerSpan, evidence: float, threshold: float | None) -> bool:
        if self.calibration is None or best.confidence is None:
            return threshold == 0 or not evidence < 0  # the score over the null answer
        return threshold is None or best.confidence >= threshold

    def answer_span(self, one: RankedCandidate) -> AnswerSpan:
        """The span of a candidate with its place and confidence."""
        scored = one.candidate.scored
        page, line, label = place_of(self.snapshot, scored.span, scored.passage)
        return AnswerSpan(
            *(scored.span, one.candidate.sentence, scored.passage, page, line, scored.score),
            *(one.confidence, label, scored.verdict),
        )


def place_of(snapshot: Snapshot, span: Span, passage: Passage) -> tuple[int | None, int, str]:
    """Page, line and label of the start of a span of a passage."""
    line = passage.line + passage.text.count("\n", 0, span.start - passage.start)
    if passage.page is None and not passage.label:
        return None, line, ""
    document = snapshot.document(span.document_id)
    page = bisect_right(document.page_starts, span.start) if document.page_starts else None
    before = bisect_right(document.labels, span.start, key=lambda label: label.start)
    return page, line, document.labels[before - 1].text if before else ""


def without_overlaps(answers: Sequence[AnswerSpan], by_sentence: bool = False) -> list[AnswerSpan]:
    """The answers in order, without those that share characters, or sentences, with a better one."""
    kept: dict[Span, AnswerSpan] = {}
    for answer in answers:
        one = answer.context if by_sentence else answer.span
        if not any(
            one.document_id == other.document_id and one.start < other.end and other.start < one.end
            for other in kept
        ):
            kept[one] = answer
    return list(kept.values())


def merge_same_answers(answers: Sequence[AnswerSpan]) -> list[AnswerSpan]:
    """The answers in their order, best first, each with different words.

    Where the words are the same but for case, punctuation and articles, the best one holds the others in
    `also_in`, in their order: of each other passage the answer that the reader scores highest there. An
    answer that repeats the words of a better one in its own passage is left out.
    """
    preferred: dict[int, float] = {}
    by_words: dict[str, list[AnswerSpan]] = {}
    for answer in answers:
        passage_id = answer.passage.id
        preferred[passage_id] = max(answer.score, preferred.get(passage_id, answer.score))
        by_words.setdefault(answer_key(answer.span.text), []).append(answer)
    found = []
    for best, *others in by_words.values():
        agreeing: dict[int, AnswerSpan] = {}
        for other in others:
            if other.score == preferred[other.passage.id] and other.passage.id != best.passage.id:
                agreeing.setdefault(other.passage.id, other)
        found.append(replace(best, also_in=tuple(agreeing.values())))
    return found
