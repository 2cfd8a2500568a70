"""Ask: retrieve, read, weigh the candidates, answer or decline.

The best candidate's words are the answer to a factoid question; any other is answered by the sentence or
the list that holds them. Passages that say the
same are listed together. Below the fitted threshold the question is declined and the nearest passages are
shown instead.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from spanwise.types import Answer, AnswerSpan, AskOptions, Hit, Passage, ScoredSpan, Span

from ..corpora.passages import label_at
from ..index.analysis import Analyzer
from ..index.lexical import LivePostings
from ..index.snapshot import Snapshot
from ..reader.evidence import Calibration, margins_to_runner_up, plain_evidence
from ..reader.protocol import Reader
from ..reader.question_type import QuestionType, question_type
from ..reader.sentence_answer import enclosing_list
from ..retrieval.bm25 import idf_lucene
from ..retrieval.protocol import Retriever
from .agreement import merged
from .candidates import Candidate, Question, Vectorizer, candidates, explained, passage_span, said
from .confidence import Ranked, with_confidence
from .explaining.question_words import question_words, unknown_words
from .explaining.rejected import rejected_spans
from .reading import Reading, read_on, read_until_enough
from .selection import Selection

NEAREST = 3


@dataclass(frozen=True, slots=True)
class Asked:
    """An answer and what it came of: what was found, the spans of each hit that was read, all candidates.

    Hits behind the last reading were left unread. Candidates are in their order, best first.
    """

    answer: Answer
    hits: Sequence[Hit]
    readings: Reading
    ranked: Sequence[Ranked]

    @property
    def read(self) -> Sequence[Hit]:
        """The hits that were read."""
        return self.hits[: len(self.readings)]


@dataclass(frozen=True, slots=True)
class Asker:
    """Everything that answering needs, loaded once; `ask` may be called for any number of questions.

    Without a calibration candidates are ranked by the reader's margin, confidence is None, and a
    question is declined when the null score wins. With a selection nothing else is found, read or shown.
    """

    snapshot: Snapshot
    postings: LivePostings
    analyzer: Analyzer
    retriever: Retriever
    reader: Reader
    vectorizer: Vectorizer
    calibration: Calibration | None
    options: AskOptions = AskOptions()
    selection: Selection | None = None

    def ask(self, questions: Sequence[str]) -> list[Answer]:
        """One answer a question, reading its best `k` passages.

        Where the calibration has a rule for it, those below the first ones are left unread when these were
        enough, unless `read_all`; a question is declined only when all were read.
        """
        return [one.answer for one in self.trace(questions)]

    def trace(self, questions: Sequence[str]) -> list[Asked]:
        """The same, and all that each answer came of."""
        began = time.perf_counter()
        least = self._threshold()
        among = self.selection.passage_ids if self.selection else None
        hits = self.retriever.search(questions, self.options.k, among)
        retrieved = time.perf_counter()
        stopping = self.calibration.stopping if self.calibration and not self.options.read_all else None
        readings = read_until_enough(self.reader, questions, hits, stopping)
        each = 1000 / max(1, len(questions))
        spent = {"retrieve": (retrieved - began) * each, "read": (time.perf_counter() - retrieved) * each}
        asked = [self._weighed(*row, least, spent) for row in zip(questions, hits, readings, strict=True)]
        return self._read_before_declining(asked, least)

    def _weighed(
        self,
        text: str,
        found: Sequence[Hit],
        reading: Reading,
        least: float | None,
        spent: Mapping[str, float],
    ) -> Asked:
        """The answer to one question from what was read; `spent` is the time so far, in ms by stage."""
        at = time.perf_counter()
        ranked = self._ranked(text, found, reading)
        weighing = spent.get("weigh", 0.0) + (time.perf_counter() - at) * 1000
        timings = {**spent, "weigh": weighing}
        answer = self._answer(text, found, len(reading), ranked, least, timings)
        return Asked(answer, found, reading, ranked)

    def _read_before_declining(self, asked: list[Asked], least: float | None) -> list[Asked]:
        """The same, those that were declined with something left unread once more, with all of it."""
        numbers = [at for at, one in enumerate(asked) if one.answer.no_answer and one.answer.passages_unread]
        if not numbers:
            return asked
        began = time.perf_counter()
        questions, hits = [one.answer.question for one in asked], [one.hits for one in asked]
        readings = read_on(self.reader, questions, hits, [one.readings for one in asked], numbers)
        took = (time.perf_counter() - began) * 1000 / len(numbers)
        for at in numbers:
            before = asked[at].answer.timings_ms
            spent = {**before, "read": before["read"] + took}
            asked[at] = self._weighed(questions[at], hits[at], readings[at], least, spent)
        return asked

    def _threshold(self) -> float | None:
        """The threshold in force: as given, else as fitted."""
        given = self.options.threshold
        return self.calibration.threshold if given is None and self.calibration else given

    def weigh(
        self, text: str, hits: Sequence[Hit], readings: Sequence[Sequence[ScoredSpan]]
    ) -> list[Candidate]:
        """The candidates of one question with their features, before any ranking."""
        return candidates(self._question(text), hits, readings, self.analyzer.terms, self.vectorizer)

    def _ranked(
        self,
        text: str,
        hits: Sequence[Hit],
        readings: Sequence[Sequence[ScoredSpan]],
    ) -> list[Ranked]:
        weigh = self.calibration.evidence if self.calibration else plain_evidence
        weighed = self.weigh(text, hits, readings)
        scored = [(weigh(candidate.features), candidate) for candidate in weighed]
        scored.sort(key=lambda row: (-row[0], row[1].scored.span.document_id, row[1].scored.span.start))
        answers = [said(one.scored.span.text) for _, one in scored]
        ahead = margins_to_runner_up([evidence for evidence, _ in scored], answers)
        return with_confidence(scored, ahead, self.calibration)

    def _question(self, text: str) -> Question:
        terms = tuple(self.analyzer.question_terms(text))
        statistics = self.postings.statistics(terms)
        idf = {term: idf_lucene(statistics.df.get(term, 0), statistics.n_docs) for term in terms}
        return Question(text, terms, idf)

    def _answer(
        self,
        text: str,
        hits: Sequence[Hit],
        n_read: int,
        ranked: Sequence[Ranked],
        threshold: float | None,
        timings: dict[str, float],
    ) -> Answer:
        kind = question_type(text)
        found = [self._shown(kind, one) for one in ranked]
        duplicates = {hit.passage.id: hit.duplicates for hit in hits}
        apart = _without_overlaps(found)
        shown = merged([replace(answer, duplicates=duplicates[answer.passage.id]) for answer in apart])
        scope = self.selection.scope if self.selection else None
        best = shown[0] if shown and self._accepted(shown[0], ranked[0].evidence, threshold) else None
        words = {} if best else question_words(text, self.analyzer)
        read = (one.candidate.scored for one in ranked)
        least = threshold if self.calibration else None
        return Answer(
            question=text,
            best=best,
            alternatives=tuple(shown[1 : 1 + self.options.alternatives]) if best else (),
            documents_searched=scope.documents if scope else self.snapshot.n_documents,
            passages_searched=scope.passages if scope else self.snapshot.n_passages,
            passages_read=n_read,
            passages_unread=len(hits) - n_read,
            rejected=() if best else rejected_spans(shown, read, least, words, self.analyzer),
            unknown=unknown_words(words, self.postings, self.snapshot, self.analyzer),
            nearest=tuple(hits[:NEAREST]),
            retriever=self.retriever.name,
            timings_ms=timings,
            scope=scope,
            threshold=least,
        )

    def _accepted(self, best: AnswerSpan, evidence: float, threshold: float | None) -> bool:
        if self.calibration is None or best.confidence is None:
            return threshold == 0 or not evidence < 0  # the margin over the null answer
        return threshold is None or best.confidence >= threshold

    def _shown(self, kind: QuestionType, one: Ranked) -> AnswerSpan:
        scored, sentence = one.candidate.scored, one.candidate.sentence
        if kind in ("how", "why"):
            sentence = explained(sentence, scored.passage)
        span = scored.span if kind == "factoid" else sentence
        if kind in ("how", "list"):
            start = scored.span.start - scored.passage.start
            listed = enclosing_list(scored.passage.text, start, start + len(scored.span.text))
            span = passage_span(scored.passage, *listed) if listed else span
        page, line, label = self._place(span, scored.passage)
        return AnswerSpan(
            span, scored.span, sentence, scored.passage, page, line, scored.score, one.confidence, label
        )

    def _place(self, span: Span, passage: Passage) -> tuple[int | None, int, str]:
        """Page, line and label of the span's start."""
        line = passage.line + passage.text.count("\n", 0, span.start - passage.start)
        if passage.page is None and not passage.label:
            return None, line, ""
        document = self.snapshot.document(span.document_id)
        page = bisect_right(document.page_starts, span.start) if document.page_starts else None
        return page, line, label_at(document.labels, span.start)


def _without_overlaps(answers: Sequence[AnswerSpan]) -> list[AnswerSpan]:
    """The answers in order, without those that share characters with a better one."""
    kept: list[AnswerSpan] = []
    for answer in answers:
        if not any(_overlap(answer, other) for other in kept):
            kept.append(answer)
    return kept


def _overlap(a: AnswerSpan, b: AnswerSpan) -> bool:
    return (
        a.span.document_id == b.span.document_id and a.span.start < b.span.end and b.span.start < a.span.end
    )
