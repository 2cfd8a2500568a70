"""Where in a passage a reader sees an answer begin and end: probabilities of tokens.

    p_start(i) = exp(S.T_i) / (exp(S.T_null) + sum over the passage's tokens j of exp(S.T_j))

and p_end likewise: one softmax over the tokens of the passage and the position of "no answer". Question,
headings, separators and padding take no part. Without a null answer the sum is over the tokens alone.

A long passage is read in windows that overlap. A token counts in the window in which the nearer end of the
window is farthest from it (of equal ones in the first); "no answer" is that of the window in which it scores
least, as when spans are ranked.

Source: Devlin et al. 2019, sections 4.2 and 4.3; the choice of windows is the "max context" of their code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .windows import WindowLogits


@dataclass(frozen=True, slots=True, eq=False)
class TokenScores:
    """Tokens of one passage: places (n, 2) int32 in code points of its text, and (n,) float64 probabilities.

    `null_start` and `null_end` are those of "no answer", 0 for a reader that cannot say so: then the
    probabilities of the tokens add up to 1, else together with these.
    """

    places: NDArray[np.int32]
    start: NDArray[np.float64]
    end: NDArray[np.float64]
    null_start: float
    null_end: float


def token_scores(
    places: NDArray[np.int32], windows: Sequence[WindowLogits], answers_null: bool
) -> TokenScores:
    """The probabilities of the tokens at these places, from the logits of the windows that cover them."""
    n = len(places)
    start, end = np.full(n, -np.inf), np.full(n, -np.inf)
    context = np.full(n, -1)
    for one in windows:
        here = slice(one.window.first, one.window.last)
        width = one.window.last - one.window.first
        nearer = np.minimum(np.arange(width), np.arange(width)[::-1])  # tokens up to the nearer end
        better = nearer > context[here]
        for scores, found in ((start, one.start), (end, one.end)):
            scores[here] = np.where(better, found, scores[here])
        context[here] = np.maximum(nearer, context[here])
    null = min(windows, key=lambda one: one.null_score, default=None)
    nulls = (null.null_start, null.null_end) if null and answers_null else (-np.inf, -np.inf)
    (p_start, null_start), (p_end, null_end) = softmax(start, nulls[0]), softmax(end, nulls[1])
    return TokenScores(places, p_start, p_end, null_start, null_end)


def softmax(logits: NDArray[np.floating], null: float = -np.inf) -> tuple[NDArray[np.float64], float]:
    """The probabilities of the tokens and of "no answer", which together add up to 1.

    >>> tokens, null = softmax(np.array([4.0, 0, 0, 0, 0, 0, 0]))
    >>> round(float(tokens[0]), 6), null
    (0.900987, 0.0)
    """
    if not len(logits):
        return np.zeros(0), 0.0
    every = np.append(np.asarray(logits, np.float64), null)
    weights = np.exp(every - every.max())
    weights /= weights.sum()
    return weights[:-1], float(weights[-1])
