"""Ask: retrieve, read, score the candidates, answer or decline.

Answers with the same words are listed together. An answer to a question for several things may have parts in
several passages. Below the fitted threshold the question is declined, and the nearest spans and passages are
returned instead.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import chain

from spanwise.errors import QuestionEmpty
from spanwise.options import ProgressCallback, no_progress
from spanwise.types import Answer, AnswerSpan, AskOptions, Computed, Document, Hit, Passage, Span, Spelling

from ...corpora.lists import steps_at
from ...corpora.passages import passages_at
from ...index.analysis import Analyzer, name_of
from ...index.schema import indexed_text
from ...index.snapshot import Snapshot
from ...reader.evidence import Calibration
from ...reader.protocol import Reader
from ...retrieval.protocol import Retriever
from ..understanding.question import Question
from ..understanding.spelling import unmentioned
from .candidates import (
    Candidate,
    RankedCandidate,
    Readings,
    adds_words,
    answer_span,
    candidates,
    merge_same_answers,
    ranked_candidates,
    topic_section,
    without_overlaps,
)
from .filters import Selection, count_unread
from .table_answers import TableAnswer, TableFinder
from .table_text import NO, YES

N_BEST = 8  # spans of a passage that are scored
N_NEAREST = 3  # hits of an answer, and spans of a declined question
N_CANDIDATES = 2  # of a declined question
MIN_CANDIDATE_CONFIDENCE = 0.10
MIN_ALTERNATIVE_CONFIDENCE = 0.05
MAX_PARTS = 5  # of an answer
CONTRADICTED = 0.13  # the share of right spans in a table whose result is elsewhere; the highest confidence
UNDERSTOOD_MARGIN = 0.15  # by which the threshold is higher for a question that a conversation changes


def checked_question(question: str) -> str:
    """The question without white space around it; QuestionEmpty if nothing is left."""
    if not question.strip():
        raise QuestionEmpty('the question is empty: ask something, such as "who built the weir bridge?"')
    return question.strip()


@dataclass(frozen=True, slots=True)
class AnswerTrace:
    """An answer with its hits, spans and candidates.

    Attributes:
        answer: the answer.
        spelling: the question as typed and as searched.
        hits: the retrieved passages, best first.
        readings: the spans of the hits that were read.
        ranked: all candidates, best first.
        calibration: the calibration of their evidence and confidence.
    """

    answer: Answer
    spelling: Spelling
    hits: Sequence[Hit]
    readings: Readings
    ranked: Sequence[RankedCandidate]
    calibration: Calibration | None


@dataclass(frozen=True, slots=True)
class Answerer:
    """Answers any number of questions from one commit, with models that are loaded.

    Attributes:
        snapshot: the commit.
        analyzer: the analyzer of the index.
        retriever: finds the hits.
        reader: reads them.
        calibration: gives evidence and confidence. Without one, candidates rank by `candidates.certainty`,
            and a question is declined if that of the best one is negative.
        options: the options.
        selection: the passages to search; None for all.
        left_out: the note in the answer about passages that are not searched.
        tables: finds tables; None looks nothing up.
        first: answers with a small reader. Its answer stands from the confidence `calibration.sure` on, and
            it declines up to `calibration.hopeless`.
        on_progress: called while passages are read.
    """

    snapshot: Snapshot
    analyzer: Analyzer
    retriever: Retriever
    reader: Reader
    calibration: Calibration | None
    options: AskOptions = field(default_factory=AskOptions)
    selection: Selection | None = None
    left_out: str = ""
    tables: TableFinder | None = None
    first: "Answerer | None" = None
    on_progress: ProgressCallback = no_progress

    def answer(self, questions: Sequence[str | Question]) -> list[Answer]:
        """One answer per question."""
        return [trace.answer for trace in self.trace(questions)]

    def trace(
        self, questions: Sequence[str | Question], hits: Sequence[Sequence[Hit]] | None = None
    ) -> list[AnswerTrace]:
        """One answer per question, with its hits, spans and candidates.

        Without `hits` the retriever searches.
        """
        began = time.perf_counter()
        asked = [Question.of(question, self.snapshot, self.analyzer) for question in questions]
        texts = [question.text for question in asked]
        if hits is None:
            among = self.selection.passage_ids if self.selection else None
            hits = self.retriever.search(texts, self.options.k, among)
        retrieved = time.perf_counter()
        ms_per_question = 1000 / max(1, len(texts))
        spent = {"retrieve": (retrieved - began) * ms_per_question}
        decided = self._decided_early(asked, hits, spent)
        undecided = [number for number, trace in enumerate(decided) if trace is None]
        undecided_hits = [hits[number] for number in undecided]
        readings = self.read([texts[number] for number in undecided], undecided_hits)
        spent["read"] = (time.perf_counter() - retrieved) * ms_per_question
        rest = iter(
            self._trace(asked[number], hits[number], read, spent)
            for number, read in zip(undecided, readings, strict=True)
        )
        return self._read_before_declining(asked, [trace or next(rest) for trace in decided])

    def _decided_early(
        self, questions: Sequence[Question], hits: Sequence[Sequence[Hit]], spent: Mapping[str, float]
    ) -> list[AnswerTrace | None]:
        """For each question, the answer or refusal that is final after the small reader; else None."""
        if self.first is None or self.calibration is None or self.calibration.sure is None:
            return [None] * len(questions)
        hopeless = self.calibration.hopeless if self.options.threshold is None else -1.0
        began = time.perf_counter()
        readings = self.first.read([question.text for question in questions], hits)
        took = (time.perf_counter() - began) * 1000 / max(1, len(questions))
        answered = []
        for question, some, read in zip(questions, hits, readings, strict=True):
            ranked = self.first.ranked(question, some, read)
            confidence = ranked[0].confidence or 0.0 if ranked else 0.0
            is_hopeless = confidence <= hopeless and len(read) == len(some)
            trace = None
            if is_hopeless or (ranked and confidence >= self.calibration.sure):
                trace = self.first._trace(question, some, read, {**spent, "read": took})
            answered.append(trace if trace and (is_hopeless or not trace.answer.no_answer) else None)
        return answered

    # Reading, with early exit

    def read(self, questions: Sequence[str], hits: Sequence[Sequence[Hit]]) -> list[Readings]:
        """The spans of the hits of each question, in their order.

        Reading stops after the first hits if the fitted rule says so, unless the option `read_all` is set.
        """
        rule = self.calibration.stopping if self.calibration and not self.options.read_all else None
        nothing: list[Readings] = [()] * len(hits)
        if rule is None:
            return self._read_rest(questions, hits, nothing)
        first = [ranking[: rule.part(len(ranking))] for ranking in hits]
        readings = self._read_rest(questions, first, nothing)
        is_enough = [rule.is_enough(chain.from_iterable(spans)) for spans in readings]
        to_read = [
            some if enough else every for some, every, enough in zip(first, hits, is_enough, strict=True)
        ]
        return self._read_rest(questions, to_read, readings)

    def _read_rest(
        self, questions: Sequence[str], hits: Sequence[Sequence[Hit]], readings: Sequence[Readings]
    ) -> list[Readings]:
        """The readings, completed by reading all unread hits in one call."""
        complete = list(readings)
        waiting = [number for number, read in enumerate(readings) if len(read) < len(hits[number])]
        if waiting:
            self.on_progress("passages", sum(map(len, readings)), sum(map(len, hits)))
            unread = [[hit.passage for hit in hits[number][len(readings[number]) :]] for number in waiting]
            texts = [questions[number] for number in waiting]
            named = [
                [self._named(text, passage) for passage in some]
                for text, some in zip(texts, unread, strict=True)
            ]
            read = self.reader.read(texts, named, N_BEST)
            for number, passages, more in zip(waiting, unread, read, strict=True):
                stored = [
                    [replace(span, passage=passage) for span in spans]
                    for passage, spans in zip(passages, more, strict=True)
                ]
                complete[number] = [*readings[number], *stored]
        return complete

    def _named(self, question: str, passage: Passage) -> Passage:
        """The passage as the reader sees it: below its path, if only the path has a word of the question."""
        named = self.analyzer.name_terms(passage.document_id).intersection(
            self.analyzer.question_terms(question)
        )
        if not named or named.issubset(self.analyzer.terms(indexed_text(passage))):
            return passage
        return replace(passage, heading=(name_of(passage.document_id), *passage.heading))

    def _read_before_declining(
        self, questions: Sequence[Question], traces: list[AnswerTrace]
    ) -> list[AnswerTrace]:
        """The traces; a question that was declined with unread hits is answered again from all hits."""
        numbers = [
            number
            for number, trace in enumerate(traces)
            if trace.answer.best is None and trace.answer.passages_unread
        ]
        if not numbers:
            return traces
        began = time.perf_counter()
        declined = [traces[number] for number in numbers]
        readings = self._read_rest(
            [trace.spelling.text for trace in declined],
            [trace.hits for trace in declined],
            [trace.readings for trace in declined],
        )
        took = (time.perf_counter() - began) * 1000 / len(numbers)
        for number, trace, read in zip(numbers, declined, readings, strict=True):
            timings = trace.answer.timings_ms
            spent = {**timings, "read": timings["read"] + took}
            traces[number] = self._trace(questions[number], trace.hits, read, spent)
        return traces

    # Scoring

    def score_candidates(
        self, question: Question, hits: Sequence[Hit], readings: Readings
    ) -> list[Candidate]:
        """The candidates of one question with their features, unordered."""
        return candidates(question, hits, readings, self.analyzer)

    def ranked(self, question: Question, hits: Sequence[Hit], readings: Readings) -> list[RankedCandidate]:
        """The candidates of one question, best first."""
        return ranked_candidates(self.score_candidates(question, hits, readings), self.calibration)

    def _trace(
        self, question: Question, hits: Sequence[Hit], readings: Readings, spent: Mapping[str, float]
    ) -> AnswerTrace:
        """The answer to one question from its readings; `spent` is the time so far, in ms by stage."""
        began = time.perf_counter()
        ranked = self.ranked(question, hits, readings)
        scored = time.perf_counter()
        table = self.tables.best(question.text, hits) if self.tables and self.calibration else None
        if table is not None:
            duplicates = {hit.passage.id: hit.duplicates for hit in hits}
            table = replace(table, quoted=self._completed(ranked[0], duplicates).span if ranked else None)
            ranked = [_beside(each, table) for each in ranked]
        timings = {
            **spent,
            "rank": spent.get("rank", 0.0) + (scored - began) * 1000,
            "tables": spent.get("tables", 0.0) + (time.perf_counter() - scored) * 1000,
        }
        answer = self._answer(question, hits, len(readings), ranked, timings)
        if table is not None and self._is_better(table, answer):
            answer = self._of_table(answer, table, hits)
        placed = self._placed(answer, question.text)
        return AnswerTrace(placed, question.spelling, hits, readings, ranked, self.calibration)

    # Answering

    def _answer(
        self,
        asked: Question,
        hits: Sequence[Hit],
        n_read: int,
        ranked: Sequence[RankedCandidate],
        timings: dict[str, float],
    ) -> Answer:
        spelling = asked.spelling
        threshold = self.options.threshold
        if threshold is None and self.calibration:
            threshold = self.calibration.threshold + UNDERSTOOD_MARGIN * bool(spelling.understood)
        duplicates = {hit.passage.id: hit.duplicates for hit in hits}
        distinct = without_overlaps(ranked, lambda each: each.candidate.scored.span)
        spans = [self._completed(each, duplicates) for each in distinct]
        shown = merge_same_answers(spans)
        is_accepted = shown and self._is_accepted(shown[0], ranked[0].evidence, threshold, asked)
        best = shown[0] if is_accepted else None
        scope = self.selection.scope if self.selection else None
        answer = Answer(
            question=spelling.question,
            best=best,
            alternatives=(),
            documents_searched=scope.documents if scope else self.snapshot.n_documents,
            passages_searched=scope.passages if scope else self.snapshot.n_passages,
            passages_read=n_read,
            passages_unread=len(hits) - n_read,
            rejected=(),
            missing_terms=(),
            nearest=tuple(hits[:N_NEAREST]),
            retriever=self.retriever.name,
            timings_ms=timings,
            scope=scope,
            threshold=threshold if self.calibration else None,
            searched_for=spelling.searched_for,
            is_unknown=spelling.is_unknown,
            left_out=self.left_out,
            understood=spelling.understood,
        )
        if best is None:
            near = self._candidates(asked, shown, hits[:n_read])
            rejected = tuple(shown[:N_NEAREST])
            declined = replace(answer, rejected=rejected, candidates=near)
            return declined if answer.passages_unread else self._with_unknown(declined, spelling)
        alternatives = [
            span
            for span in shown[1:]
            if span.confidence is None or span.confidence >= MIN_ALTERNATIVE_CONFIDENCE
        ]
        return replace(
            answer,
            alternatives=tuple(alternatives[: self.options.alternatives]),
            parts=self._parts(asked, shown, ranked, threshold),
        )

    def _with_unknown(self, declined: Answer, spelling: Spelling) -> Answer:
        """The declined question with the words that no document mentions, and the number of unread files."""
        where = self.selection.scope.where if self.selection else None
        return replace(
            declined,
            missing_terms=unmentioned(spelling, self.snapshot, self.analyzer),
            unread_files=0 if declined.candidates else count_unread(self.snapshot, where),
        )

    def _candidates(
        self, question: Question, shown: Sequence[AnswerSpan], read: Sequence[Hit]
    ) -> tuple[AnswerSpan, ...]:
        """The section that a declined question names, then likely spans that add words to the question."""
        terms = question.content
        if not terms or self.calibration is None:
            return ()
        likely = [
            span
            for span in shown
            if (span.confidence or 0.0) >= MIN_CANDIDATE_CONFIDENCE
            and adds_words(span.text, terms, self.analyzer)
        ]
        if section := topic_section(terms, read, cache(self.snapshot.document), self.analyzer):
            span, passage = section
            likely = [AnswerSpan(span, span, passage, None, 0, 0.0, None), *likely]
        return tuple(without_overlaps(likely, lambda span: span.context)[:N_CANDIDATES])

    def _parts(
        self,
        question: Question,
        shown: Sequence[AnswerSpan],
        ranked: Sequence[RankedCandidate],
        threshold: float | None,
    ) -> tuple[AnswerSpan, ...]:
        """The best accepted answer of each passage, if the question asks for several things."""
        if not ranked[0].candidate.scored.is_list_question or self.calibration is None:
            return ()
        parts: dict[int, AnswerSpan] = {}
        for span in shown:
            if self._is_accepted(span, 0.0, threshold, question):
                parts.setdefault(span.passage.id, span)
        return tuple(parts.values())[:MAX_PARTS] if len(parts) > 1 else ()

    def _is_accepted(
        self, best: AnswerSpan, evidence: float, threshold: float | None, question: Question
    ) -> bool:
        if best.confidence is None:
            return threshold == 0 or not evidence < 0  # the certainty of the best candidate
        if threshold and question.spelling.understood and question.typed_terms:
            held = self.analyzer.terms(indexed_text(best.passage))
            if question.typed_terms.isdisjoint(held):
                return False  # only words that the conversation adds
        return threshold is None or best.confidence >= threshold

    def _placed(self, answer: Answer, text: str) -> Answer:
        """The answer with steps and with places; only documents with a span that is shown are read."""
        document_of = cache(self.snapshot.document)
        placed = partial(placed_span, document_of)
        return replace(
            answer,
            steps=steps_at(text, answer.best.span, document_of) if answer.best else (),
            best=answer.best and placed(answer.best),
            alternatives=tuple(map(placed, answer.alternatives)),
            rejected=tuple(map(placed, answer.rejected)),
            parts=tuple(map(placed, answer.parts)),
            candidates=tuple(map(placed, answer.candidates)),
            computed=answer.computed
            and replace(answer.computed, first=answer.computed.first and placed(answer.computed.first)),
        )

    def _completed(self, ranked: RankedCandidate, duplicates: Mapping[int, Sequence[Passage]]) -> AnswerSpan:
        """The span, cut to a cell, with yes or no if that is asked for and the rule is certain enough."""
        span = answer_span(ranked)
        cell = self.tables.in_cell(span) if self.tables else None
        span = replace(span, span=cell or span.span, duplicates=tuple(duplicates[span.passage.id]))
        if self.calibration is None:
            return span
        rule = self.calibration.verdicts
        fitted = rule.verdict(ranked.candidate.scored.yes) if rule else None
        verdict, confidence = fitted or (span.verdict, None)
        return replace(span, verdict=verdict, verdict_confidence=confidence)

    def _is_better(self, table: TableAnswer, answer: Answer) -> bool:
        """True where the result of a table is to be shown instead of the best span."""
        best = answer.best
        fitted = self.calibration.threshold if self.calibration else 0.0
        if table.confidence < max(fitted, answer.threshold or 0.0):
            return False
        return best is None or table.holds(best.span) or table.confidence > (best.confidence or 0.0)

    def _of_table(self, answer: Answer, table: TableAnswer, hits: Sequence[Hit]) -> Answer:
        """The answer with the cells of a table, or with the value computed from them."""
        result = table.result
        cells = result.cells[:1] if result.is_computed else result.cells[:MAX_PARTS]
        spans = [self._cell(table, row, column, hits) for row, column in cells]
        computed = None
        if result.is_computed:
            quotes = tuple(table.cell(row, column) for row, column in result.cells)
            computed = Computed(result.operation, result.values[0], quotes, spans[0])
        return replace(
            answer,
            best=None if computed else spans[0],
            table=None if computed else table.around(*cells[0]),
            parts=tuple(spans) if len(spans) > 1 else (),
            computed=computed,
            alternatives=(),
            rejected=(),
            missing_terms=(),
            candidates=(),
            unread_files=0,
        )

    def _cell(self, table: TableAnswer, row: int, column: int, hits: Sequence[Hit]) -> AnswerSpan:
        """A cell as an answer, its row as the sentence around it."""
        span = table.cell(row, column)
        passage = self._passage_of(span, hits)
        word = span.text.strip().lower() if table.result.operation == "yes or no" else ""
        return AnswerSpan(
            span=span,
            context=table.row(row),
            passage=passage,
            page=None,
            line=0,
            score=table.result.score,
            confidence=table.confidence,
            verdict="yes" if word in YES else "no" if word in NO else None,
        )

    def _passage_of(self, span: Span, hits: Sequence[Hit]) -> Passage:
        """The passage in which a span starts, a retrieved one if possible."""
        passages = [hit.passage for hit in hits if hit.passage.document_id == span.document_id]
        for passage in passages:
            if passage.start <= span.start < passage.end:
                return passage
        ids = self.snapshot.passage_ids_of([span.document_id]).tolist()
        places = zip(self.snapshot.places(ids), ids, strict=True)
        before = [(start, number) for (_, start, _), number in places if start <= span.start]
        return self.snapshot.passages([max(before)[1]])[0]


def _beside(ranked: RankedCandidate, table: TableAnswer) -> RankedCandidate:
    """The candidate; one that the result of its table contradicts has little confidence."""
    if ranked.confidence is None or not table.contradicts(ranked.candidate.scored.span):
        return ranked
    return replace(ranked, confidence=min(ranked.confidence, CONTRADICTED))


def placed_span(document_of: Callable[[str], Document], answer: AnswerSpan) -> AnswerSpan:
    """The answer with the place of its span, and those with the same words with theirs."""
    place = place_of(document_of, answer.span)
    return replace(
        answer,
        page=place.page,
        line=place.line,
        label=place.label,
        heading=place.heading,
        also_in=tuple(placed_span(document_of, other) for other in answer.also_in),
    )


def place_of(document_of: Callable[[str], Document], span: Span) -> Passage:
    """The passage of a span's words, whose page, line, label and headings are those of its start."""
    [place] = passages_at(document_of(span.document_id), [(span.start, span.end)])
    return place
