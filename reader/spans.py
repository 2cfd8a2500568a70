"""Spans and sentences of a passage from the logits of its tokens.

    score(i, j) = S.T_i + E.T_j   over all passage tokens i <= j with j - i + 1 <= max_tokens

Source: Devlin et al. 2019, section 4.2; the limit on the length is that of the authors' SQuAD code. A passage
that is read in several windows has the logits of each of them (`WindowLogits`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .sentence_answer import SentenceSpan, enclosing_sentences

MAX_ANSWER_TOKENS = 30


@dataclass(frozen=True, slots=True)
class TokenSpan:
    """Tokens first..last, both included, and the sum of their start and end scores."""

    first: int
    last: int
    score: float


@dataclass(frozen=True, slots=True)
class Window:
    """One model input: tokens [first, last) of a passage after a question.

    `pair` is the index of the (question, passage) pair that it belongs to.
    """

    pair: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class WindowLogits:
    """The logits of one window: start and end of its tokens (n,), and of "no answer".

    `sentence` holds how much more each token speaks for its sentence than for no answer, (n,); it is None
    for a model that does not score sentences.
    """

    window: Window
    start: NDArray[np.float32]
    end: NDArray[np.float32]
    null_start: float
    null_end: float
    sentence: NDArray[np.float32] | None = None

    @property
    def null_score(self) -> float:
        """The score of no answer, comparable with that of a span."""
        return self.null_start + self.null_end


def distinct_spans(
    start: NDArray[np.floating], end: NDArray[np.floating], n_best: int, max_tokens: int = MAX_ANSWER_TOKENS
) -> list[TokenSpan]:
    """The best span, then the best that shares no token with it, and so on: at most `n_best`, best first.

    >>> [(s.first, s.last) for s in distinct_spans(np.array([1, 5, 2, 0.]), np.array([4, 1, 3, 2.]), 3)]
    [(1, 2), (0, 0), (3, 3)]
    """
    scores = span_scores(start, end, max_tokens)  # (n, cap)
    found: list[TokenSpan] = []
    while len(found) < n_best and scores.size:
        first, length = np.unravel_index(int(scores.argmax()), scores.shape)
        if scores[first, length] == -np.inf:
            break
        last = int(first + length)
        found.append(TokenSpan(int(first), last, float(scores[first, length])))
        for row in range(max(0, int(first) - scores.shape[1] + 1), last + 1):
            scores[row, max(0, int(first) - row) :] = -np.inf  # every span from `row` on that reaches `first`
    return found


def span_scores(
    start: NDArray[np.floating], end: NDArray[np.floating], max_tokens: int = MAX_ANSWER_TOKENS
) -> NDArray[np.float64]:
    """(n, cap) float64: the score of the span from i of length d + 1 at [i, d]; -inf past the end."""
    n = len(start)
    cap = min(max_tokens, n)
    last = np.arange(n)[:, None] + np.arange(cap)[None, :]  # (n, cap)
    ends = np.append(np.asarray(end, dtype=np.float64), -np.inf)[np.minimum(last, n)]
    scores: NDArray[np.float64] = np.asarray(start, dtype=np.float64)[:, None] + ends
    return scores


def spans_of_windows(
    windows: Sequence[WindowLogits], n_best: int, max_tokens: int = MAX_ANSWER_TOKENS
) -> list[TokenSpan]:
    """The n best spans of a passage, best first, none sharing a token, though windows overlap."""
    proposed = [
        TokenSpan(span.first + one.window.first, span.last + one.window.first, span.score)
        for one in windows
        for span in distinct_spans(one.start, one.end, n_best, max_tokens)
    ]
    proposed.sort(key=lambda s: (-s.score, s.first, s.last))
    kept: list[TokenSpan] = []
    for span in proposed:
        if len(kept) < n_best and all(span.last < k.first or k.last < span.first for k in kept):
            kept.append(span)
    return kept


class SentenceScores:
    """Scores of the sentences of one passage; `offsets` are the (n, 2) characters of its tokens.

    The score of a sentence is that of the window which holds most of its tokens, the first of them on a tie.
    """

    def __init__(
        self, sentences: Sequence[SentenceSpan], offsets: NDArray[np.int32], windows: Sequence[WindowLogits]
    ) -> None:
        self.sentences, self.offsets, self.windows = sentences, offsets, windows

    def of(self, span: TokenSpan) -> float:
        """The score of the sentences which hold the span; see `between`."""
        at = int(self.offsets[span.first, 0]), int(self.offsets[span.last, 1])
        return self.between(*enclosing_sentences(self.sentences, *at))

    def between(self, start: int, end: int) -> float:
        """The mean of the tokens' logits over the null position's; NaN where no sentence is scored."""
        first, after = (int(np.searchsorted(self.offsets[:, 0], edge)) for edge in (start, end))
        best, score = 0, math.nan
        for one in self.windows:
            if one.sentence is None or not self.sentences:
                continue
            low, high = max(first, one.window.first), min(after, one.window.last)
            if high - low > best:
                here = slice(low - one.window.first, high - one.window.first)
                best, score = high - low, float(one.sentence[here].mean())
        return score
