"""The extractive generator: sentences of the passages word for word, which nothing has to check."""

from __future__ import annotations

from collections.abc import Sequence

from spanwise.types import Passage

from ...corpora.sentences import sentence_spans
from ...index.analysis import Analyzer
from ...reader.summary.extractive import Chosen, Limits, extract
from ...reader.support.verdict import Verdict
from .citing import Citer, Piece
from .lengths import Length
from .summary import SummarySentence

NAME = "extractive"
MOST_SENTENCES = 600  # compared with one another at once
LEAST_ANSWERED = 0.5  # of the question's terms
KEPT = 3  # times as many sentences as are wanted come out of each block


Candidates = list[tuple[Passage, list[tuple[int, int]]]]


def extracted(
    question: str, passages: Sequence[Passage], length: Length, analyzer: Analyzer, citer: Citer
) -> list[SummarySentence]:
    """The chosen sentences in reading order, each citing itself.

    Where there are more sentences than can be compared, blocks of consecutive passages are narrowed first.
    With a question, there is no summary where the sentences and the headings above them have too few of its
    terms: they would be about something else.
    """
    terms = analyzer.question_terms(question) if question else []
    limits = Limits(length.sentences, length.words)
    candidates: Candidates = [(passage, sentence_spans(passage.text)) for passage in passages]
    while (blocks := _blocks(candidates)) and len(blocks) > 1:
        wider = Limits(KEPT * length.sentences)
        candidates = [row for block in blocks for row in _rows(_extract(block, analyzer, terms, wider))]
    chosen = _extract(candidates, analyzer, terms, limits)
    if question and _share_answered(set(terms), chosen, analyzer) < LEAST_ANSWERED:
        return []
    return [
        SummarySentence(one.span.text, citer.cite([Piece(one.span, one.passage)]), 1.0, Verdict.SUPPORTED)
        for one in chosen
    ]


def _extract(
    candidates: Candidates, analyzer: Analyzer, terms: Sequence[str], limits: Limits
) -> tuple[Chosen, ...]:
    passages, spans = [passage for passage, _ in candidates], [spans for _, spans in candidates]
    return extract(passages, spans, analyzer.terms, terms, limits)


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


def _share_answered(terms: set[str], chosen: Sequence[Chosen], analyzer: Analyzer) -> float:
    """The share of the question's terms that the sentences, or the headings above them, have."""
    texts = [text for one in chosen for text in (one.span.text, *one.passage.heading)]
    return len(terms & {term for text in texts for term in analyzer.terms(text)}) / len(terms)
