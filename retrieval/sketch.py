"""The runs of three terms of a passage, and a sketch of them that tells most passages apart at once.

A run sets one of BITS bits, so two runs may set the same one. Of n runs that set b bits, of which another
passage sets s as well, at least b - s are not in that passage, and so

    |S(x) & S(y)| <= n - b + s          S(x): the set of runs of three terms of x

How close the bound is depends on the hashes of this process; what is decided by the sets does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

Shingle = tuple[str, ...]
BITS = 2048  # several times as many as a passage of the usual length has runs


@dataclass(frozen=True, slots=True)
class Sketch:
    """The terms of a passage in order, how many different runs they have, and the bits that these set.

    `spare` is how many runs set a bit that another run sets as well.
    """

    terms: Sequence[str]
    n_shingles: int
    bits: int
    spare: int

    def most_shared(self, bits: int) -> int:
        """How many runs are shared at most with a passage whose sketch has these bits."""
        return self.spare + (self.bits & bits).bit_count()


def shingles(terms: Sequence[str]) -> frozenset[Shingle]:
    """The runs of three terms; fewer terms are one run.

    >>> sorted(shingles(["the", "mill", "by", "the"]))
    [('mill', 'by', 'the'), ('the', 'mill', 'by')]
    """
    return frozenset(zip(terms, terms[1:], terms[2:], strict=False)) or frozenset([tuple(terms)])


def sketch(terms: Sequence[str]) -> Sketch:
    """The sketch of a passage with these terms.

    >>> one, other = sketch("the mill by the weir".split()), sketch("the mill by the sea".split())
    >>> one.n_shingles, 2 <= one.most_shared(other.bits) <= 3
    (3, True)
    """
    runs = shingles(terms)
    is_set = np.zeros(BITS, np.bool_)
    is_set[np.fromiter(map(hash, runs), np.int64, len(runs)) % BITS] = True
    bits = int.from_bytes(np.packbits(is_set).tobytes(), "little")
    return Sketch(terms, len(runs), bits, len(runs) - bits.bit_count())
