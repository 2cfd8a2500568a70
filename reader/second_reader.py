"""Reading twice: a small reader reads all passages, a larger one the most relevant of them again.

Passages that are read once have no spans, so that all candidates of a question have scores of the same model.
Their relevance is the mean of both models' logits; yes or no is that of the small one. Where the small reader
is sure, its answer stands and the larger one does not read (`Calibration.sure`).

Source: Nogueira and Cho, "Passage Re-ranking with BERT", 2019 (a cascade of rankers).
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from spanwise.types import Passage, ScoredSpan

from .protocol import Reader
from .span_reader import SpanReader

N_PASSAGES = 8  # that are read again
MAX_KEPT = 1_000  # passages of questions


class KeepingReader:
    """A reader that keeps what it read last, because the passages of a question may be asked for again."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._kept: dict[tuple[str, Passage, int], list[ScoredSpan]] = {}
        self.digest = reader.digest

    def read(
        self, questions: Sequence[str], passages: Sequence[Sequence[Passage]], n_best: int = 5
    ) -> list[list[list[ScoredSpan]]]:
        """As `Reader.read`."""
        if len(self._kept) > MAX_KEPT:
            self._kept = {}  # other threads may still use the old one
        known = self._kept
        asked = list(zip(questions, passages, strict=True))
        unread = [[each for each in group if (text, each, n_best) not in known] for text, group in asked]
        new = self._reader.read(questions, unread, n_best) if any(unread) else []
        for text, group, readings in zip(questions, unread, new, strict=False):
            known.update(((text, each, n_best), spans) for each, spans in zip(group, readings, strict=True))
        return [[known[text, each, n_best] for each in group] for text, group in asked]


class SecondReader:
    """A small reader and a larger one; see `reader.protocol.Reader`."""

    def __init__(self, first: SpanReader, second: SpanReader) -> None:
        self.first = KeepingReader(first)
        self.second = second
        self.digest = hashlib.sha256(f"{first.digest} {second.digest}".encode()).hexdigest()
        self.answers_null = first.answers_null

    def read(
        self, questions: Sequence[str], passages: Sequence[Sequence[Passage]], n_best: int = 5
    ) -> list[list[list[ScoredSpan]]]:
        """The n best spans of the most relevant N_PASSAGES of each question; none of the others."""
        rough = self.first.read(questions, passages, n_best)
        chosen = [most_relevant(spans) for spans in rough]
        groups = [[group[i] for i in some] for group, some in zip(passages, chosen, strict=True)]
        again = self.second.read(questions, groups, n_best)
        readings: list[list[list[ScoredSpan]]] = [[[] for _ in group] for group in passages]
        for reading, spans_once, some, twice in zip(readings, rough, chosen, again, strict=True):
            for i, spans in zip(some, twice, strict=True):
                once = spans_once[i][0]
                reading[i] = [
                    replace(span, relevance=(span.relevance + once.relevance) / 2, yes=once.yes)
                    for span in spans
                ]
        return readings


def most_relevant(spans: Sequence[Sequence[ScoredSpan]]) -> list[int]:
    """The places of the N_PASSAGES most relevant passages with a span, in their order."""
    there = [i for i, some in enumerate(spans) if some]
    return sorted(sorted(there, key=lambda i: -spans[i][0].relevance)[:N_PASSAGES])
