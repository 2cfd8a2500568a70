"""The extractive generator: sentences of the passages word for word, which nothing has to check."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from spanwise.types import Passage

from ...corpora.sentences import sentence_spans
from ...index.analysis import Analyzer
from ...reader.summary.extractive import Chosen, Limits, Weights, extract
from ...reader.summary.fragments import FRAGMENT, wholeness
from ...reader.support.verdict import Verdict
from .citing import Citer, Piece
from .lengths import Length
from .summary import SummarySentence

NAME = "extractive"
MOST_SENTENCES = 600  # compared with one another at once
KEPT = 3  # times as many sentences as are wanted come out of each block
LEAST_RELEVANCE = 0.5  # of the best sentence: it speaks for an answer rather than for none


# The first sentences of files are bylines as often as leads. With a question, the reader knows what stands
# before a sentence, so that one which leans on that, or is the row of a table, may be the answer.
PLAIN = Weights(opening=0.0)
ASKED = Weights(opening=0.0, leaning=1.0, fragment=0.5, least=0.5)

Place = tuple[int, int]  # of a sentence in the text of its passage
Candidates = list[tuple[Passage, list[Place]]]


class SentenceReader(Protocol):
    """What says how much sentences speak for carrying the answer; see `reader.span_reader`."""

    def sentence_scores(
        self, question: str, passages: Sequence[Passage], sentences: Sequence[Sequence[Place]]
    ) -> list[list[float]]:
        """A logit over "no answer" for each sentence of each passage."""


@dataclass(frozen=True, slots=True)
class Extractor:
    """Chooses sentences by the terms of an analyzer and, for a question, by what a reader says of them."""

    analyzer: Analyzer
    reader: Callable[[], SentenceReader]
    citer: Citer

    def sentences(self, question: str, passages: Sequence[Passage], length: Length) -> list[SummarySentence]:
        """The chosen sentences in reading order, each citing itself.

        Without a question, headings, rows, code and crumbs are chosen
        only where there is nothing else. Where there are more sentences than can be compared, blocks of
        consecutive passages are narrowed first. With a question, there is no summary where no sentence speaks
        for an answer: it would be of something else.
        """
        every = [(passage, sentence_spans(passage.text)) for passage in passages]
        candidates = every if question else _whole(every) or every
        relevance = self._relevance(question, candidates) if question else {}
        if question and max(relevance.values(), default=0.0) < LEAST_RELEVANCE:
            return []
        asked = self.analyzer.question_terms(question) if question else ()
        while len(blocks := _blocks(candidates)) > 1:
            wider = Limits(KEPT * length.sentences)
            rows = [_rows(self._extract(asked, block, wider, relevance)) for block in blocks]
            candidates = [row for block in rows for row in block]
        chosen = self._extract(asked, candidates, Limits(length.sentences, length.words), relevance)
        return [
            SummarySentence(
                one.span.text, self.citer.cite([Piece(one.span, one.passage)]), 1.0, Verdict.SUPPORTED
            )
            for one in chosen
        ]

    def _relevance(self, question: str, candidates: Candidates) -> dict[tuple[int, Place], float]:
        """How probably each sentence carries the answer, by passage and place: the sigmoid of its logit."""
        passages, places = [passage for passage, _ in candidates], [spans for _, spans in candidates]
        scored = self.reader().sentence_scores(question, passages, places)
        return {
            (passage.id, place): 0.0 if math.isnan(score) else 1 / (1 + math.exp(-score))
            for (passage, spans), scores in zip(candidates, scored, strict=True)
            for place, score in zip(spans, scores, strict=True)
        }

    def _extract(
        self,
        asked: Sequence[str],
        candidates: Candidates,
        limits: Limits,
        relevance: Mapping[tuple[int, Place], float],
    ) -> tuple[Chosen, ...]:
        passages, places = [passage for passage, _ in candidates], [spans for _, spans in candidates]
        if not relevance:
            return extract(passages, places, self.analyzer.terms, asked, limits, PLAIN)
        told = [relevance[passage.id, place] for passage, spans in candidates for place in spans]
        return extract(passages, places, self.analyzer.terms, asked, limits, ASKED, told)


def _whole(candidates: Candidates) -> Candidates:
    """The candidates with the sentences that can stand alone, without passages that have none."""
    kept = [
        (passage, [(start, end) for start, end in spans if wholeness(passage.text[start:end]) > FRAGMENT])
        for passage, spans in candidates
    ]
    return [(passage, spans) for passage, spans in kept if spans]


def _blocks(candidates: Candidates) -> list[Candidates]:
    """Runs of candidates with at most MOST_SENTENCES sentences together, or one passage each."""
    blocks: list[Candidates] = []
    n = MOST_SENTENCES
    for passage, spans in candidates:
        if n + len(spans) > MOST_SENTENCES:
            blocks.append([])
            n = 0
        blocks[-1].append((passage, spans))
        n += len(spans)
    return blocks


def _rows(chosen: Sequence[Chosen]) -> Candidates:
    """The chosen sentences as candidates again, those of a passage together, in reading order."""
    rows: dict[int, tuple[Passage, list[tuple[int, int]]]] = {}
    for one in chosen:
        start = one.span.start - one.passage.start
        spans = rows.setdefault(one.passage.id, (one.passage, []))[1]
        spans.append((start, start + len(one.span.text)))
    return list(rows.values())
