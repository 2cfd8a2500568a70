"""The extractive generator: sentences of the passages word for word, which nothing has to check."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spanwise.types import Passage

from ...index.analysis import Analyzer
from ...reader.summary.extractive import Chosen, Limits, Vectors, Weights, extract
from ...reader.summary.fragments import FRAGMENT, wholeness
from ...reader.support.verdict import Verdict
from ..support_check import checker
from .citing import Citer, Piece
from .evidence import spans_to_choose
from .lengths import Length
from .summary import SummarySentence

NAME = "extractive"
MOST_SENTENCES = 600  # compared with one another at once
LEAST_ANSWERED = 0.5  # of the question's terms
KEPT = 3  # times as many sentences as are wanted come out of each block


# The first sentences of files are bylines as often as leads, and questions seldom have the text's words.
WEIGHTS = Weights(share=0.8, opening=0.0)

Encode = Callable[[Sequence[str]], NDArray[np.float32]]  # unit rows, (n, d)
Candidates = list[tuple[Passage, list[tuple[int, int]]]]


@dataclass(frozen=True, slots=True)
class Extractor:
    """What sentences are compared by: the terms of an analyzer and, with a question, vectors of `encode`.

    A sentence's vector is that of its headings and its words: what "it" is stands in the heading as often.
    """

    analyzer: Analyzer
    encode: Encode
    citer: Citer

    def sentences(self, question: str, passages: Sequence[Passage], length: Length) -> list[SummarySentence]:
        """The chosen sentences in reading order, each citing itself.

        Orders to the reader are never chosen, nor what belongs to nothing; headings, rows, code and crumbs
        only where there is nothing else. Where there are more
        sentences than can be compared, blocks of consecutive passages are narrowed first. With a question,
        there is no summary where the sentences and the headings above them have too few of its terms: they
        would be about something else.
        """
        every: Candidates = [
            (passage, spans_to_choose(passage.text, question, checker(self.analyzer).content))
            for passage in passages
        ]
        candidates = _whole(every) or every
        while len(blocks := _blocks(candidates)) > 1:
            wider = Limits(KEPT * length.sentences)
            candidates = [row for block in blocks for row in _rows(self._extract(question, block, wider))]
        chosen = self._extract(question, candidates, Limits(length.sentences, length.words))
        if question and self._share_answered(question, chosen) < LEAST_ANSWERED:
            return []
        cite = self.citer.cite
        return [
            SummarySentence(one.span.text, cite([Piece(one.span, one.passage)]), 1.0, Verdict.SUPPORTED)
            for one in chosen
        ]

    def _extract(self, question: str, candidates: Candidates, limits: Limits) -> tuple[Chosen, ...]:
        passages, spans = [passage for passage, _ in candidates], [spans for _, spans in candidates]
        if not question:
            return extract(passages, spans, self.analyzer.terms, (), limits, WEIGHTS)
        texts = [
            " ".join([*passage.heading, passage.text[start:end]])
            for passage, of_passage in candidates
            for start, end in of_passage
        ]
        rows = self.encode([question, *texts])
        terms, vectors = self.analyzer.question_terms(question), Vectors(rows[1:], rows[0])
        return extract(passages, spans, self.analyzer.terms, terms, limits, WEIGHTS, vectors)

    def _share_answered(self, question: str, chosen: Sequence[Chosen]) -> float:
        """The share of the question's terms that the sentences, or the headings above them, have."""
        terms = set(self.analyzer.question_terms(question))
        texts = [text for one in chosen for text in (one.span.text, *one.passage.heading)]
        return len(terms & {term for text in texts for term in self.analyzer.terms(text)}) / len(terms)


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
