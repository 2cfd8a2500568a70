"""Token sequences laid one after another in one row, so that no position of a product is padding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PackedTokens:
    """The ids and segment types of all tokens, (T,) int64 each, and how many belong to each sequence (B,).

    `seen` (B,): how many of them, from the first, the tokens of a sequence attend to; None for all.

    >>> tokens = PackedTokens.of([[5, 6, 7], [8]])
    >>> tokens.positions().tolist(), tokens.starts().tolist()
    ([0, 1, 2, 0], [0, 3])
    """

    ids: Ids
    types: Ids
    lengths: Ids
    seen: Ids | None = None

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]], seen: Sequence[int] | None = None) -> PackedTokens:
        """The sequences given, all of segment 0; ValueError when there is none or one is empty."""
        lengths = np.array([len(row) for row in rows], dtype=np.int64)
        if not len(lengths) or not lengths.all():
            raise ValueError(f"sequences of {lengths.tolist()} tokens, expected some, none of them empty")
        ids = np.fromiter((i for row in rows for i in row), dtype=np.int64, count=int(lengths.sum()))
        n_seen = None if seen is None else np.array(seen, dtype=np.int64)
        return cls(ids, np.zeros_like(ids), lengths, n_seen)

    @classmethod
    def of_padded(cls, ids: Ids, mask: Ids, types: Ids) -> PackedTokens:
        """What the mask (B, L) keeps of a padded batch."""
        kept = mask.astype(bool)
        return cls(ids[kept], types[kept], mask.sum(axis=1))

    def starts(self) -> Ids:
        """(B,): where each sequence begins."""
        return np.cumsum(self.lengths) - self.lengths

    def positions(self) -> Ids:
        """(T,): how far each token is from the start of its sequence."""
        return np.arange(len(self.ids), dtype=np.int64) - np.repeat(self.starts(), self.lengths)

    def mask(self) -> NDArray[np.bool_]:
        """(B, longest): where a padded batch would hold a token."""
        kept: NDArray[np.bool_] = np.arange(self.lengths.max()) < self.lengths[:, np.newaxis]
        return kept

    def padded(self, pad: int) -> tuple[Ids, Ids, Ids]:
        """The ids, what is attended to and the types as a padded batch, (B, longest) int64 each."""
        kept = self.mask()
        attended = kept if self.seen is None else np.arange(kept.shape[1]) < self.seen[:, np.newaxis]
        ids, types = np.full(kept.shape, pad, dtype=np.int64), np.zeros(kept.shape, dtype=np.int64)
        ids[kept], types[kept] = self.ids, self.types
        return ids, attended.astype(np.int64), types
