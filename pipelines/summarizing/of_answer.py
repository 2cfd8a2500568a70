"""The written form of an extractive answer: a sentence that says it and cites where it stands."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from spanwise.types import Answer, AnswerSpan, Passage

from ...index.analysis import Analyzer
from ...index.snapshot import Snapshot
from ...reader.support.verdict import Verdict
from ..support_check import checker
from .citing import Citer, Piece
from .extracted import NAME
from .lengths import length_of
from .summary import Citation, Summary, SummarySentence
from .writing import Writing


def written_answer(
    answer: Answer,
    snapshot: Snapshot,
    analyzer: Analyzer,
    writing: Writing | None = None,
) -> Summary:
    """What the answer says as checked and cited sentences; a refusal for a declined one.

    Without `writing` it is the sentence that carries the answer, which cites itself and where the same is
    said. With `writing` a generator writes from the
    answer's own passages, and what is not supported, or does not hold the answer's words, is dropped; if
    nothing is left, it is that sentence again. `Summary.generator` names what wrote.
    """
    began = time.perf_counter()
    passages = _passages(answer.best)
    if answer.best is None:
        said = _Said(writing.generator.name if writing else NAME)
    elif writing is None:
        said = _Said(NAME, (_quoted(answer.best, Citer(snapshot)),))
    else:
        said = _generated(answer, answer.best, passages, snapshot, analyzer, writing)
    return Summary(
        question=answer.question,
        sentences=said.sentences,
        dropped=said.dropped,
        generator=said.by,
        passages=len(passages),
        left_out=0,
        nearest=answer.nearest,
        retriever=answer.retriever,
        timings_ms={**answer.timings_ms, "write": (time.perf_counter() - began) * 1000},
        decoding=asdict(writing.decoding) if writing else {},
        scope=answer.scope,
        tokens=said.n_tokens,
    )


@dataclass(frozen=True, slots=True)
class _Said:
    """The sentences, by whom they were written, and what that took."""

    by: str
    sentences: tuple[SummarySentence, ...] = ()
    dropped: tuple[SummarySentence, ...] = ()
    n_tokens: int = 0


def _generated(
    answer: Answer,
    best: AnswerSpan,
    passages: Sequence[Passage],
    snapshot: Snapshot,
    analyzer: Analyzer,
    writing: Writing,
) -> _Said:
    """What the generator wrote and was kept; the sentence that carries the answer where nothing was."""
    writer = writing.writer(checker(analyzer), Citer(snapshot), length_of("short"))
    kept, dropped = _parted(best, writer.write(answer.question, passages))
    by = writing.generator.name if kept else NAME
    sentences = kept or [_quoted(best, Citer(snapshot))]
    return _Said(by, tuple(sentences), tuple(dropped), writer.n_tokens)


def _passages(best: AnswerSpan | None) -> list[Passage]:
    """The passages that say the answer, the best first."""
    return [one.passage for one in (best, *best.agreeing)] if best else []


def _parted(
    best: AnswerSpan, written: Iterable[SummarySentence]
) -> tuple[list[SummarySentence], list[SummarySentence]]:
    """The supported sentences and the others; where the former do not hold the short answer, none and all."""
    kept, others = list[SummarySentence](), list[SummarySentence]()
    for one in written:
        (kept if one.verdict == Verdict.SUPPORTED else others).append(one)
    return (kept, others) if _says(best, kept) else ([], [*kept, *others])


def _says(best: AnswerSpan, sentences: Sequence[SummarySentence]) -> bool:
    """Whether the short answer is among what was written, however it is spaced and cased."""
    words = " ".join(best.short.text.split()).casefold()
    return any(words in " ".join(one.text.split()).casefold() for one in sentences)


def _quoted(best: AnswerSpan, citer: Citer) -> SummarySentence:
    said = best.sentence.text if best.sentence.text.strip() else best.span.text
    return SummarySentence(said, _cited(best, citer), 1.0, Verdict.SUPPORTED)


def _cited(best: AnswerSpan, citer: Citer) -> tuple[Citation, ...]:
    """The sentence that carries the answer, and those of other passages that say the same."""
    return citer.cite([Piece(one.sentence, one.passage) for one in (best, *best.agreeing)])
