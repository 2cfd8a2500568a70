"""The written form of an extractive answer: a sentence that says it and cites where it stands."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict

from spanwise.types import Answer, AnswerSpan, Passage

from ...index.analysis import Analyzer
from ...index.snapshot import Snapshot
from ...reader.support.verdict import Verdict
from ..support_check import checker
from .citing import Citer, Piece
from .evidence import n_orders
from .extracted import NAME
from .lengths import length_of
from .summary import Summary, SummarySentence
from .writing import Writing


def written_answer(
    answer: Answer, snapshot: Snapshot, analyzer: Analyzer, writing: Writing | None = None
) -> Summary:
    """What the answer says as checked and cited sentences; a refusal for a declined one.

    Without `writing` it is the sentence that carries the answer, citing itself and where the same is said.
    Else a generator writes from the answer's own passages, and what is not supported, or does not hold the
    answer's words, is dropped; if nothing is left, it is that sentence again.
    """
    began = time.perf_counter()
    kept: list[SummarySentence] = []
    dropped: list[SummarySentence] = []
    passages, n_tokens = _passages(answer.best), 0
    if answer.best and writing:
        writer = writing.writer(checker(analyzer), Citer(snapshot), length_of("short"))
        for sentence in writer.write(answer.question, passages):
            (kept if sentence.verdict == Verdict.SUPPORTED else dropped).append(sentence)
        n_tokens = writer.n_tokens
        if not _says(answer.best, kept):
            kept, dropped = [], [*kept, *dropped]
    if answer.best and not kept:
        kept = [_quoted(answer.best, Citer(snapshot))]
    return Summary(
        question=answer.question,
        sentences=tuple(kept),
        dropped=tuple(dropped),
        generator=writing.generator.name if writing else NAME,
        passages=len(passages),
        left_out=0,
        nearest=answer.nearest,
        retriever=answer.retriever,
        timings_ms={**answer.timings_ms, "write": (time.perf_counter() - began) * 1000},
        decoding=asdict(writing.decoding) if writing else {},
        scope=answer.scope,
        tokens=n_tokens,
        orders=n_orders(passages),
    )


def _passages(best: AnswerSpan | None) -> list[Passage]:
    """The passages that say the answer, the best first."""
    return [one.passage for one in (best, *best.agreeing)] if best else []


def _says(best: AnswerSpan, sentences: Sequence[SummarySentence]) -> bool:
    """Whether the short answer is among what was written, however it is spaced and cased."""
    words = " ".join(best.short.text.split()).casefold()
    return any(words in " ".join(one.text.split()).casefold() for one in sentences)


def _quoted(best: AnswerSpan, citer: Citer) -> SummarySentence:
    said = best.sentence.text if best.sentence.text.strip() else best.span.text
    pieces = [Piece(one.sentence, one.passage) for one in (best, *best.agreeing)]
    return SummarySentence(said, citer.cite(pieces), 1.0, Verdict.SUPPORTED)
