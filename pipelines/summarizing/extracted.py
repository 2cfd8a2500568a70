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
KEPT = 3  # times as many sentences as are wanted come out of each block


Candidates = list[tuple[Passage, list[tuple[int, int]]]]


def extracted(
    question: str, passages: Sequence[Passage], length: Length, analyzer: Analyzer, citer: Citer
) -> list[SummarySentence]:
    """The chosen sentences in reading order, each citing itself.

    Where there are more sentences than can be compared, blocks of consecutive passages are narrowed first.
    With a question, a summary in which nothing shares a term with it is none.
    """
    terms = analyzer.question_terms(question) if question else []
    limits = Limits(length.sentences, length.words)
    candidates: Candidates = [(passage, sentence_spans(passage.text)) for passage in passages]
    while (blocks := _blocks(candidates)) and len(blocks) > 1:
        wider = Limits(KEPT * length.sentences)
        candidates = [row for block in blocks for row in _rows(_extract(block, analyzer, terms, wider))]
    chosen = _extract(candidates, analyzer, terms, limits)
    if question and not any(_shares(one, set(terms), analyzer) for one in chosen):
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


def _shares(one: Chosen, terms: set[str], analyzer: Analyzer) -> bool:
    """Whether the sentence, or a heading above it, has a term of the question."""
    return bool(terms & {*analyzer.terms(one.span.text), *analyzer.terms(" ".join(one.passage.heading))})
