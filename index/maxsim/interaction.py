"""Which passages are worth all their tokens: scores in which each token stands for its centroid.

    sum over question rows r of max over tokens t of <q_r, centroid of t>

The similarities of question rows with centroids are a table of bytes, small enough for a processor's cache,
and a passage is a run of codes into it: two bytes read a token, instead of 36 to 132.

Source: Santhanam et al., "PLAID: An Efficient Engine for Late Interaction Retrieval", CIKM 2022, section 4.2.
Theirs drops centroids that are far from the question and keeps float scores; ours looks at all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .code_maxima import LANES, code_sums
from .question import Question
from .stored_tokens import StoredTokens

_LEVELS = 255


def centroid_scores(
    stored: StoredTokens, question: Question, rows: NDArray[np.int64] | None = None
) -> NDArray[np.float32]:
    """(n,) the score of each of these rows, ascending, by centroids, less a constant; None means all."""
    table, weights = quantised(question.similarities)
    scores = np.empty(len(stored) if rows is None else len(rows), np.float32)
    at = 0
    for part in stored.parts:
        starts, ends = part.starts, part.ends
        if rows is not None:
            first, last = np.searchsorted(rows, (part.first, part.first + len(starts)))
            here = rows[first:last] - part.first
            starts, ends = starts[here], ends[here]
        code_sums(table, weights, part.codes.centroids, starts, ends, scores[at : at + len(starts)])
        at += len(starts)
    return scores


def quantised(similarities: NDArray[np.float32]) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Bytes (C, R) and the weight of each column (R,): columns of (C, m) from their lowest, padded to 16s.

    A column's lowest number becomes 0 and its highest 255; the padding has weight 0.
    """
    n_rows = similarities.shape[1]
    lowest = similarities.min(axis=0)
    steps = (similarities.max(axis=0) - lowest) / np.float32(_LEVELS)
    steps[steps == 0] = 1
    n_columns = -(-n_rows // LANES) * LANES
    table = np.zeros((len(similarities), n_columns), np.uint8)
    table[:, :n_rows] = (similarities - lowest) / steps + np.float32(0.5)
    weights = np.zeros(n_columns, np.float32)
    weights[:n_rows] = steps
    return table, weights
