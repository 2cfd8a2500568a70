"""Ask: retrieve, read, score the candidates, answer or decline.

Answers with the same words are listed together. An answer to a question for several things may have parts in
several passages. Below the fitted threshold the question is declined, and the nearest spans and passages are
returned instead.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, partial

from spanwise.options import ProgressCallback, no_progress
from spanwise.types import (
    Answer,
    AnswerSpan,
    AskOptions,
    Citation,
    Computed,
    Document,
    Hit,
    Passage,
    Span,
    Spelling,
)

from ...corpora.lists import steps_at
from ...corpora.passages import passages_at
from ...index.analysis import Analyzer
from ...index.schema import indexed_text
from ...index.snapshot import Snapshot
from ...reader.evidence import Calibration
from ...reader.protocol import Reader
from ...retrieval.protocol import Retriever
from ..understanding.question import Question
from ..understanding.spelling import unmentioned
from .candidates import (
    RankedCandidate,
    adds_words,
    answer_span,
    merge_same_answers,
    ranked_candidates,
    span_candidates,
    statement_of,
    topic_section,
    without_overlaps,
)
from .cells import cell_candidates, in_tables
from .clauses import named_clauses
from .filters import Selection, count_unread
from .reading import HitReader, Material, Readings
from .table_answers import TableFinder, TableResult
from .table_text import NO, YES
from .versions import with_versions

N_NEAREST = 3  # hits of an answer, and spans of a declined question
N_CANDIDATES = 2  # of a declined question
MIN_CANDIDATE_CONFIDENCE = 0.10
MIN_ALTERNATIVE_CONFIDENCE = 0.05
MAX_PARTS = 5  # of an answer
MAIL = "message/rfc822"  # the media type of a document whose words are of one day
DAY = len("2024-03-01")
ADDED_MARGIN = 0.2  # by which the threshold is higher where a passage has only words that a conversation adds


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
            a question is declined if that of the best one is negative, and nothing is looked up in tables.
        tables: finds tables.
        options: the options.
        selection: the passages to search; None for all.
        left_out: the note in the answer about passages that are not searched.
        small: the same with a small reader, which reads first. Its answer stands from the confidence
            `calibration.sure` on, and it declines up to `calibration.hopeless`.
        on_progress: called while passages are read.
    """

    snapshot: Snapshot
    analyzer: Analyzer
    retriever: Retriever
    reader: Reader
    calibration: Calibration | None
    tables: TableFinder
    options: AskOptions = field(default_factory=AskOptions)
    selection: Selection | None = None
    left_out: str = ""
    small: "Answerer | None" = None
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
        timings: list[dict[str, float]] = [{} for _ in questions]
        with _timed(timings, "retrieve"):
            asked = [Question.of(question, self.snapshot, self.analyzer) for question in questions]
            if hits is None:
                among = self.selection.passage_ids if self.selection else None
                hits = self.retriever.search([question.text for question in asked], self.options.k, among)
        with _timed(timings, "tables"):
            unread = [self.material(*pair) for pair in zip(asked, hits, strict=True)]
        traces: dict[int, AnswerTrace] = {}
        if self.small is not None:
            traces = self._by_small_reader(self.small, unread, timings)
        rest = [number for number in range(len(unread)) if number not in traces]
        read = self._by_reader([unread[number] for number in rest], [timings[number] for number in rest])
        traces |= zip(rest, read, strict=True)
        return [
            replace(traces[number], answer=replace(traces[number].answer, timings_ms=timings_ms))
            for number, timings_ms in enumerate(timings)
        ]

    def material(self, question: Question, hits: Sequence[Hit]) -> Material:
        """The hits with the tables near them, before anything is read."""
        if self.calibration is None:
            return Material(question, hits)
        near = list(self.tables.near(hits))
        results = self.tables.results(question.text, near)
        return Material(question, hits, near, results, self.tables.rows(question, near))

    @property
    def hit_reader(self) -> HitReader:
        """Reads with the reader, to the end if the option `read_all` is set."""
        rule = self.calibration.stopping if self.calibration and not self.options.read_all else None
        return HitReader(self.reader, self.analyzer, rule, self.on_progress)

    def _by_small_reader(
        self, small: "Answerer", unread: Sequence[Material], timings: Sequence[dict[str, float]]
    ) -> dict[int, AnswerTrace]:
        """The answers and refusals that the small reader decides, by the number of the question.

        Its confidence is of its own calibration; the limits `sure` and `hopeless` are of the pair's. Without
        a span nothing is left for the larger reader either.
        """
        pair = self.calibration
        if pair is None or small.calibration is None:
            return {}
        sure = math.inf if pair.sure is None else pair.sure
        hopeless = pair.hopeless if self.options.threshold is None else -math.inf
        with _timed(timings, "read"):
            read = small.hit_reader.read(unread)
        traces = {}
        for number, material in enumerate(read):
            with _timed([timings[number]], "rank"):
                ranked = small.ranked(material)
                confidence = ranked[0].confidence or 0.0 if ranked else 0.0
                is_hopeless = confidence <= hopeless and not material.n_unread
                if is_hopeless or confidence >= sure:
                    trace = small._trace(material, ranked)
                    if is_hopeless or not trace.answer.no_answer:
                        traces[number] = trace
        return traces

    def _by_reader(
        self, unread: Sequence[Material], timings: Sequence[dict[str, float]]
    ) -> Iterator[AnswerTrace]:
        """The answers of the reader; a question that would be declined is read to the end first."""
        reader = self.hit_reader
        with _timed(timings, "read"):
            read = reader.read(unread)
        for material, own in zip(read, timings, strict=True):
            with _timed([own], "rank"):
                trace = self._trace(material, self.ranked(material))
            if trace.answer.no_answer and material.n_unread:
                with _timed([own], "read"):
                    [material] = reader.read_remaining([material])
                with _timed([own], "rank"):
                    trace = self._trace(material, self.ranked(material))
            yield trace

    # Scoring

    def ranked(self, material: Material) -> list[RankedCandidate]:
        """The candidates of one question, best first: spans of passages, and cells of tables."""
        spans = ranked_candidates(span_candidates(material, self.analyzer), self.calibration)
        if self.calibration is None:
            return spans
        if material.tables:
            outside = [each for each in spans if not in_tables(each.candidate.scored.span, material.tables)]
            cells = cell_candidates(material, spans, self.analyzer)
            spans = sorted([*outside, *cells], key=lambda each: -(each.confidence or 0.0))
        return with_versions(spans, material.question, self.snapshot.document, self.analyzer)

    def _trace(self, material: Material, ranked: Sequence[RankedCandidate]) -> AnswerTrace:
        """The answer to one question, without timings."""
        answer = self._answer(material, ranked)
        return AnswerTrace(
            self._placed(answer, material.question.text),
            material.question.spelling,
            material.hits,
            material.readings,
            ranked,
            self.calibration,
        )

    # Answering

    def _answer(self, material: Material, ranked: Sequence[RankedCandidate]) -> Answer:
        """The answer without places; a refusal with unread passages is a draft."""
        asked = material.question
        spelling = asked.spelling
        shown = self._shown(material, ranked)
        threshold = self._threshold(asked, shown[0] if shown else None)
        is_accepted = shown and _is_accepted(ranked[0], threshold)
        scope = self.selection.scope if self.selection else None
        n_read = len(material.readings)
        answer = Answer(
            question=spelling.question,
            best=shown[0] if is_accepted else None,
            documents_searched=scope.documents if scope else self.snapshot.n_documents,
            passages_searched=scope.passages if scope else self.snapshot.n_passages,
            passages_read=n_read,
            passages_unread=material.n_unread,
            nearest=tuple(material.hits[:N_NEAREST]),
            retriever=self.retriever.name,
            scope=scope,
            threshold=threshold if self.calibration else None,
            searched_for=spelling.searched_for,
            is_unknown=spelling.is_unknown,
            left_out=self.left_out,
            understood=spelling.understood,
        )
        named = named_clauses(asked, material.hits, cache(self.snapshot.document), self.analyzer)
        clauses = [AnswerSpan(clause, clause, self._passage_of(clause, material.hits)) for _, clause in named]
        if named and not named[0][0]:
            return replace(answer, best=clauses[0], alternatives=tuple(clauses[1:N_NEAREST]))
        if not is_accepted:
            near = self._worth_a_look(asked, [*clauses, *shown], material.hits[:n_read])
            declined = replace(answer, rejected=tuple(shown[:N_NEAREST]), candidates=near)
            return declined if material.n_unread else self._with_unknown(declined, spelling)
        scored = ranked[0].candidate.scored
        otherwise = tuple(merge_same_answers([answer_span(each) for each in ranked[0].versions]))
        if ranked[0].result:
            return self._of_cells(replace(answer, otherwise=otherwise), ranked[0].result, material)
        texts = {span.text for span in otherwise}
        return replace(
            answer,
            alternatives=self._alternatives([span for span in shown[1:] if span.text not in texts]),
            parts=self._parts(asked, shown) if scored.is_list_question else (),
            otherwise=otherwise,
        )

    def _shown(self, material: Material, ranked: Sequence[RankedCandidate]) -> list[AnswerSpan]:
        """The candidates as answers with different words, best first; a computed value only as the best."""
        duplicates = {hit.passage.id: hit.duplicates for hit in material.hits}
        spans = [each for each in ranked[1:] if not (each.result and each.result.result.is_computed)]
        distinct = without_overlaps([*ranked[:1], *spans], lambda each: each.candidate.scored.span)
        return merge_same_answers([self._completed(each, duplicates) for each in distinct])

    def _alternatives(self, others: Sequence[AnswerSpan]) -> tuple[AnswerSpan, ...]:
        likely = [
            span
            for span in others
            if span.confidence is None or span.confidence >= MIN_ALTERNATIVE_CONFIDENCE
        ]
        return tuple(likely[: self.options.alternatives])

    def _with_unknown(self, declined: Answer, spelling: Spelling) -> Answer:
        """The declined question with the words that no document mentions, and the number of unread files."""
        where = self.selection.scope.where if self.selection else None
        missing = unmentioned(spelling, self.snapshot, self.analyzer)
        if spelling.is_unknown and not missing:  # nothing to look for
            return replace(declined, nearest=())
        return replace(
            declined,
            missing_terms=missing,
            unread_files=0 if declined.candidates else count_unread(self.snapshot, where),
        )

    def _worth_a_look(
        self, question: Question, shown: Sequence[AnswerSpan], read: Sequence[Hit]
    ) -> tuple[AnswerSpan, ...]:
        """The section that a declined question names, then likely spans that add words to the question."""
        terms = question.content
        if not terms or question.spelling.is_unknown or self.calibration is None:
            return ()
        likely = [
            span
            for span in shown
            if (span.confidence is None or span.confidence >= MIN_CANDIDATE_CONFIDENCE)
            and adds_words(span.text, terms, self.analyzer)
        ]
        if section := topic_section(terms, read, cache(self.snapshot.document), self.analyzer):
            span, passage = section
            likely = [AnswerSpan(span, span, passage), *likely]
        return tuple(without_overlaps(likely, lambda span: span.context)[:N_CANDIDATES])

    def _parts(self, question: Question, shown: Sequence[AnswerSpan]) -> tuple[AnswerSpan, ...]:
        """The best accepted answer of each passage; none without a calibration."""
        parts: dict[int, AnswerSpan] = {}
        for span in shown:
            threshold = self._threshold(question, span) or 0.0
            if span.confidence is not None and span.confidence >= threshold:
                parts.setdefault(span.passage.id, span)
        return tuple(parts.values())[:MAX_PARTS] if len(parts) > 1 else ()

    def _threshold(self, question: Question, span: AnswerSpan | None) -> float | None:
        """The user's minimum of confidence, else the fitted one, which may be higher in a conversation."""
        if self.calibration is None or self.options.threshold is not None:
            return self.options.threshold
        threshold = self.calibration.threshold
        if span and question.spelling.understood and question.typed_terms:
            held = self.analyzer.terms(indexed_text(span.passage))
            threshold += ADDED_MARGIN * question.typed_terms.isdisjoint(held)
        return threshold

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
            otherwise=tuple(map(placed, answer.otherwise)),
            candidates=tuple(map(placed, answer.candidates)),
        )

    def _completed(self, ranked: RankedCandidate, duplicates: Mapping[int, Sequence[Passage]]) -> AnswerSpan:
        """The span; for a yes-no question its sentence, with yes or no if the rule is certain enough."""
        span = answer_span(ranked)
        is_yes_no = ranked.result is None and not math.isnan(ranked.candidate.scored.yes)
        quoted = statement_of(ranked.candidate.scored) if is_yes_no else span.span
        span = replace(span, span=quoted, duplicates=tuple(duplicates[span.passage.id]))
        rule = self.calibration.verdicts if self.calibration else None
        verdict, confidence = (rule and rule.verdict(ranked.candidate.scored.yes)) or (span.verdict, None)
        first = span.context.readable.lower().partition(",")[0].strip(" .!")
        if verdict and first in ("yes", "no") and first != verdict:  # the sentence says it itself
            return replace(span, verdict=first)
        return replace(span, verdict=verdict, verdict_confidence=confidence)

    def _of_cells(self, answer: Answer, source: TableResult, material: Material) -> Answer:
        """The answer with the cells of a table, or with the value computed from them."""
        assert answer.best is not None
        result = source.result
        cells = result.cells[:1] if result.is_computed else result.cells[:MAX_PARTS]
        first = self._first_cell(answer.best, source, material)
        others = [self._cell(source, cell, material, first.confidence) for cell in cells[1:]]
        spans = [first, *others]
        computed = None
        if result.is_computed:
            quotes = tuple(source.table.cell(*cell) for cell in result.cells)
            names = tuple(source.table.name(*cell) for cell in result.cells)
            place = placed_span(self.snapshot.document, spans[0])
            computed = Computed(result.operation, result.values[0], quotes, place, cell_names=names)
        return replace(
            answer,
            best=None if computed else spans[0],
            table=None if computed else source.table.around(*cells[0]),
            parts=tuple(spans) if len(spans) > 1 else (),
            computed=computed,
        )

    def _first_cell(self, best: AnswerSpan, source: TableResult, material: Material) -> AnswerSpan:
        """The best span, which is the first cell, with its passage; a cell of yes or no is the verdict."""
        passage = self._passage_of(best.span, material.hits)
        if passage != best.passage:
            best = replace(best, passage=passage, duplicates=())
        word = best.text.strip().lower() if source.result.operation == "yes or no" else ""
        verdict = "yes" if word in YES else "no" if word in NO else best.verdict
        return best if verdict == best.verdict else replace(best, verdict=verdict, verdict_confidence=None)

    def _cell(
        self, source: TableResult, cell: tuple[int, int], material: Material, confidence: float | None
    ) -> AnswerSpan:
        """A further cell as an answer, its row as the sentence around it."""
        span = source.table.cell(*cell)
        passage = self._passage_of(span, material.hits)
        return AnswerSpan(span, source.table.row(cell[0]), passage, confidence=confidence)

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


def _is_accepted(best: RankedCandidate, threshold: float | None) -> bool:
    """True from the threshold on; without a calibration, if the evidence is not below that of no answer."""
    if best.confidence is None:
        return threshold == 0 or not best.evidence < 0
    return best.confidence >= (threshold or 0.0)


@contextmanager
def _timed(timings: Sequence[dict[str, float]], stage: str) -> Iterator[None]:
    """Adds the milliseconds of a block to a stage, an equal share for each question."""
    began = time.perf_counter()
    yield
    ms = (time.perf_counter() - began) * 1000 / max(1, len(timings))
    for each in timings:
        each[stage] = each.get(stage, 0.0) + ms


def placed_span(document_of: Callable[[str], Document], answer: AnswerSpan) -> AnswerSpan:
    """The answer with the place of its span, and the day of a mail; those with the same words, too."""
    place = place_of(document_of, answer.span)
    document = document_of(answer.span.document_id)
    sent = document.metadata.get("date", "")[:DAY] if document.media_type == MAIL else ""
    return replace(
        answer,
        date=answer.date or sent,
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


def citation_of(
    number: int, span: Span, passage: Passage, document_of: Callable[[str], Document]
) -> Citation:
    """The citation of a span with its place."""
    place = place_of(document_of, span)
    return Citation(number, span, passage, place.page, place.line, place.label, place.heading)
