"""Summarize: gather passages, choose or write sentences, check each, cite what carries it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Generator as Pieces
from dataclasses import asdict, dataclass, field

from spanwise.types import Passage

from ...index.analysis import Analyzer
from ...index.snapshot import Snapshot
from ...reader.support.verdict import Verdict
from ..support_check import checker
from .citing import Citer
from .extracted import NAME, Extractor, SentenceReader
from .gathered import Gathered
from .lengths import Length
from .summary import Summary, SummarySentence
from .writing import Writing

NEAREST = 3

Sentences = Pieces[SummarySentence, None, list[Passage]]


@dataclass(slots=True)
class Summarizer:
    """What one summary takes: its passages, the analysis of words, how long it is to be, and who writes it.

    Without `writing` the sentences are chosen from the passages, for a question by what `reader` gives.
    `strict` drops what is not supported.
    """

    question: str
    gathered: Gathered
    snapshot: Snapshot
    analyzer: Analyzer
    reader: Callable[[], SentenceReader]
    length: Length
    retriever: str
    strict: bool = False
    writing: Writing | None = None
    timings_ms: dict[str, float] = field(default_factory=dict)
    n_tokens: int = field(default=0, init=False)

    def sentences(self) -> Pieces[SummarySentence, None, Summary]:
        """Yields each sentence once it is checked and not dropped, returns the summary."""
        began = time.perf_counter()
        kept: list[SummarySentence] = []
        dropped: list[SummarySentence] = []
        source = self._sentences()
        while True:
            try:
                sentence = next(source)
            except StopIteration as end:
                left_out: list[Passage] = end.value
                break
            if self.strict and sentence.verdict != Verdict.SUPPORTED:
                dropped.append(sentence)
                continue
            kept.append(sentence)
            yield sentence
        took = (time.perf_counter() - began) * 1000
        return self._summary(kept, dropped, len(left_out), {**self.timings_ms, "write": took})

    def _sentences(self) -> Sentences:
        citer, passages = Citer(self.snapshot), self.gathered.passages
        if self.writing is not None:
            writer = self.writing.writer(checker(self.analyzer), citer, self.length)
            left_out = yield from writer.write(self.question, passages)
            self.n_tokens = writer.n_tokens
            return left_out
        extractor = Extractor(self.analyzer, self.reader, citer)
        yield from extractor.sentences(self.question, passages, self.length)
        return []

    def _summary(
        self,
        kept: Sequence[SummarySentence],
        dropped: Sequence[SummarySentence],
        left_out: int,
        timings: Mapping[str, float],
    ) -> Summary:
        return Summary(
            question=self.question,
            sentences=tuple(kept),
            dropped=tuple(dropped),
            generator=self.writing.generator.name if self.writing else NAME,
            passages=len(self.gathered.passages) - left_out,
            left_out=left_out,
            nearest=tuple(self.gathered.hits[:NEAREST]),
            retriever=self.retriever,
            timings_ms=timings,
            decoding=asdict(self.writing.decoding) if self.writing else {},
            scope=self.gathered.scope,
            tokens=self.n_tokens,
        )


def exhausted(sentences: Pieces[SummarySentence, None, Summary]) -> Summary:
    """The summary behind its sentences."""
    while True:
        try:
            next(sentences)
        except StopIteration as end:
            summary: Summary = end.value
            return summary
