"""How far words are from a typed word: edits that insert, drop or change a character, or swap two neighbours.

Source: Damerau, "A technique for computer detection and correction of spelling errors", 1964; the table is
that of Wagner and Fischer, 1974, for all words at once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def prefix_distances(typed: str, words: Sequence[str]) -> NDArray[np.uint8]:
    """(n, len(typed) + 1): the edits between each word and the first i characters of what was typed.

    Characters that were swapped are not edited again, so that "ca" is three edits from "abc".

    >>> prefix_distances("mlil", ["mill", "mil"])[:, -1].tolist()
    [1, 1]
    """
    padded = np.array(words, dtype=np.str_)  # (n,), with zeros
    length = padded.dtype.itemsize // 4
    codes = padded.view(np.uint32).reshape(len(words), length).T  # (length, n)
    lengths = (codes != 0).sum(axis=0)
    row = np.repeat(np.arange(len(typed) + 1, dtype=np.uint8)[:, None], len(words), axis=1)
    found, before = row.copy(), row
    for j in range(length):
        row, above, two_above = np.full_like(row, j + 1), row, before
        for i, character in enumerate(map(ord, typed)):
            changed = above[i] + (codes[j] != character)
            row[i + 1] = np.minimum(np.minimum(row[i], above[i + 1]) + 1, changed)
            if i and j:
                swapped = (codes[j] == ord(typed[i - 1])) & (codes[j - 1] == character)
                row[i + 1] = np.where(swapped, np.minimum(row[i + 1], two_above[i - 1] + 1), row[i + 1])
        found[:, lengths == j + 1], before = row[:, lengths == j + 1], above
    return found.T
