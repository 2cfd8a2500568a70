"""Reading twice: a small reader reads all passages, a larger one the most relevant of them again.

Passages that are read once have no spans, so that all candidates of a question have scores of the same kind.
The logits of starts, ends and "no answer", and the relevance, are means of both models' logits; yes or no is
that of the small one. Where the small reader is sure, its answer stands and the larger one does not read
(`Calibration.sure`).

Sources: Nogueira and Cho, "Passage Re-ranking with BERT", 2019 (a cascade of rankers). Dietterich,
"Ensemble Methods in Machine Learning", 2000 (the mean of models).
"""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from spanwise.types import Passage, ScoredSpan

from .span_reader import Reading, SpanReader
from .spans import lowest_null, merged_logits

N_PASSAGES = 8  # that are read again
N_KEPT = 1_000  # passages of the small reader, which may be asked for again
SHARE = 0.4  # of the small model in the logits of a passage that it finds relevant


class ReaderPair:
    """A small reader and a larger one; see `reader.protocol.Reader`.

    The small one keeps its logits: what it has read alone is not read again.
    """

    def __init__(self, small: SpanReader, large: SpanReader) -> None:
        self.small = small
        small.n_kept = N_KEPT
        self.large = large
        self.digest = hashlib.sha256(f"{small.digest} {large.digest} {SHARE}".encode()).hexdigest()
        self.answers_null = small.answers_null

    def read(
        self, questions: Sequence[str], passages: Sequence[Sequence[Passage]], n_best: int = 5
    ) -> list[list[list[ScoredSpan]]]:
        """The n best spans of the most relevant N_PASSAGES of each question; none of the others."""
        once = self.small.readings(questions, passages)
        rough = [[self.small.spans(reading, 1) for reading in group] for group in once]
        chosen = [most_relevant(spans) for spans in rough]
        groups = [[group[i] for i in some] for group, some in zip(passages, chosen, strict=True)]
        twice = self.large.readings(questions, groups)
        readings: list[list[list[ScoredSpan]]] = [[[] for _ in group] for group in passages]
        for q, some in enumerate(chosen):
            for i, second in zip(some, twice[q], strict=True):
                [best] = rough[q][i]
                readings[q][i] = [
                    replace(span, relevance=(span.relevance + best.relevance) / 2, yes=best.yes)
                    for span in self.large.spans(mixed(once[q][i], second), n_best)
                ]
        return readings


def mixed(first: Reading, second: Reading) -> Reading:
    """The second reading, with the mean of both models' logits of starts, ends and "no answer".

    The small model counts as far as it finds the passage relevant. The second reading stays as it is where
    the tokens differ: a text may hold a special token of one of the models.
    """
    if not np.array_equal(first.tokens.offsets, second.tokens.offsets):
        return second
    share = SHARE / (1 + math.exp(-first.relevance))

    def mean(once: Any, twice: Any) -> Any:
        return np.average((once, twice), axis=0, weights=(share, 1 - share)).astype(np.float32)

    start, end = merged_logits(first.windows, len(first.tokens.ids))
    null = lowest_null(first.windows)
    windows = []
    for logits in second.windows:
        tokens = slice(logits.window.first, logits.window.last)
        windows.append(
            replace(
                logits,
                start=mean(start[tokens], logits.start),
                end=mean(end[tokens], logits.end),
                null=tuple(mean(null, logits.null).tolist()),
            )
        )
    return replace(second, windows=windows)


def most_relevant(spans: Sequence[Sequence[ScoredSpan]]) -> list[int]:
    """The places of the N_PASSAGES most relevant passages with a span, in their order."""
    there = [i for i, some in enumerate(spans) if some]
    return sorted(sorted(there, key=lambda i: -spans[i][0].relevance)[:N_PASSAGES])
