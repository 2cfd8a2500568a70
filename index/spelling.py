"""Words of a dictionary that are spelled nearly like another: one edit away.

An edit inserts, drops or changes one character, or swaps two neighbours.

Source: Damerau, "A technique for computer detection and correction of spelling errors", 1964, who found four
of five misspellings to be one such edit away.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .protocol import Ids

_WIDEST = 4  # bytes of a character in UTF-8
_NOT_ASCII = 0x80  # the least byte of a character of several


def one_edit_apart(a: str, b: str) -> bool:
    """Whether exactly one edit makes one of the other.

    >>> [one_edit_apart("psalter", other) for other in ("psaltar", "salter", "pslater", "psalter", "palters")]
    [True, True, True, False, False]
    """
    first = _common(a, b)
    last = _common(a[first:][::-1], b[first:][::-1])
    one, other = a[first : len(a) - last], b[first : len(b) - last]
    return a != b and (max(len(one), len(other)) <= 1 or (len(one) == 2 and one == other[::-1]))


def _common(a: str, b: str) -> int:
    """How many characters both begin with."""
    pairs = enumerate(zip(a, b, strict=False))
    return next((at for at, (x, y) in pairs if x != y), min(len(a), len(b)))


def spelled_alike(word: str, terms: NDArray[np.uint8], ends: NDArray[np.integer]) -> list[str]:
    """The terms one edit away, in their order; term i is `terms[ends[i]:ends[i + 1]]` in UTF-8.

    Terms that differ in more bytes than an edit can make differ are left out by numpy, some ten milliseconds
    for a million terms; the rest are compared one by one.
    """
    wanted = np.frombuffer(word.encode("utf-8"), np.uint8)
    edges = ends.astype(np.int64)
    lengths = edges[1:] - edges[:-1]
    widest = np.ones(len(lengths), np.int64)  # bytes that a character of the word or of the term may take
    wide = np.searchsorted(edges, np.flatnonzero(terms >= _NOT_ASCII), side="right") - 1
    widest[slice(None) if not word.isascii() else wide] = _WIDEST
    near = np.flatnonzero(np.abs(lengths - len(wanted)) <= widest)
    first, length = edges[near], lengths[near]
    agree = _agreeing(terms, first, 1, length, wanted)
    agree += _agreeing(terms, first + length - 1, -1, length, wanted[::-1])
    likely = agree >= np.maximum(length, len(wanted)) - 2 * widest[near]  # two characters change places
    places = zip(first[likely].tolist(), length[likely].tolist(), strict=True)
    found = (bytes(terms[at : at + size].data).decode("utf-8") for at, size in places)
    return [term for term in found if one_edit_apart(word, term)]


def _agreeing(terms: NDArray[np.uint8], first: Ids, step: int, length: Ids, wanted: NDArray[np.uint8]) -> Ids:
    """(n,): how many bytes of each term, from `first` on by `step`, are those wanted before one is not."""
    agree = np.zeros(len(first), np.int64)
    alive = np.arange(len(first))
    for at, byte in enumerate(wanted.tolist()):
        alive = alive[length[alive] > at]
        alive = alive[terms[first[alive] + step * at] == byte]
        agree[alive] += 1
    return agree
