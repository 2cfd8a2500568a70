"""The best spans of a window from its start and end scores.

score(i, j) = S.T_i + E.T_j over all passage tokens i <= j with j - i + 1 <= max_tokens.
Source: Devlin et al. 2019, section 4.2; the length cap is that of the authors' SQuAD code.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MAX_ANSWER_TOKENS = 30


@dataclass(frozen=True, slots=True)
class TokenSpan:
    """Tokens first..last, both included, and the sum of their start and end scores."""

    first: int
    last: int
    score: float


def best_spans(
    start: NDArray[np.floating], end: NDArray[np.floating], n_best: int, max_tokens: int = MAX_ANSWER_TOKENS
) -> list[TokenSpan]:
    """The `n_best` legal spans by score, ties by (first, last); `start` and `end` are (n,) each.

    >>> [(s.first, s.last, s.score) for s in best_spans(np.array([1, 5, 2, 0.]), np.array([4, 1, 3, 2.]), 2)]
    [(1, 2, 8.0), (1, 3, 7.0)]
    """
    scores = span_scores(start, end, max_tokens)  # (n, cap), -inf outside the passage
    flat = scores.ravel()
    k = min(n_best, int(np.isfinite(flat).sum()))
    if k < 1:
        return []
    top = np.flatnonzero(flat >= np.partition(flat, len(flat) - k)[len(flat) - k])
    order = np.lexsort((top, -flat[top]))[:k]  # row-major order is (first, last) order
    cap = scores.shape[1]
    return [TokenSpan(int(at // cap), int(at // cap + at % cap), float(flat[at])) for at in top[order]]


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
            scores[row, max(0, int(first) - row) :] = -np.inf  # whatever reaches `first` from `row` on
    return found


def span_scores(
    start: NDArray[np.floating], end: NDArray[np.floating], max_tokens: int = MAX_ANSWER_TOKENS
) -> NDArray[np.float64]:
    """(n, cap) float64: the score of the span from i of length d + 1 at [i, d]; -inf where it would leave."""
    n = len(start)
    cap = min(max_tokens, n)
    last = np.arange(n)[:, None] + np.arange(cap)[None, :]  # (n, cap)
    ends = np.append(np.asarray(end, dtype=np.float64), -np.inf)[np.minimum(last, n)]
    scores: NDArray[np.float64] = np.asarray(start, dtype=np.float64)[:, None] + ends
    return scores


def n_legal_spans(n: int, max_tokens: int) -> int:
    """How many spans of at most `max_tokens` tokens n tokens have: L n - L (L - 1) / 2 with L = min(n, cap).

    >>> n_legal_spans(384, 30), n_legal_spans(7, 384)
    (11085, 28)
    """
    cap = min(n, max_tokens)
    return cap * n - cap * (cap - 1) // 2
