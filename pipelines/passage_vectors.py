"""Vectors of texts and of stored passages, from the index where it has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from spanwise.types import Passage

from ..index.snapshot import Snapshot
from .sync import indexed_text

if TYPE_CHECKING:
    from ..models.encoder import TextEncoder


class PassageVectors:
    """Compares texts and passages by one encoder; rows are unit vectors, so products are cosines."""

    def __init__(self, encoder: TextEncoder, snapshot: Snapshot) -> None:
        self._encoder = encoder
        stored = snapshot.vector_models().get(encoder.digest)
        self._index = snapshot.vectors(encoder.digest) if stored else None

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, width) float32, one row a text."""
        return self._encoder.encode(texts)

    def of(self, passages: Sequence[Passage]) -> NDArray[np.float32]:
        """(n, width) float32, one row a passage; those without a stored vector are encoded now."""
        if self._index is None:
            return self.encode([indexed_text(passage) for passage in passages])
        vectors, found = self._index.lookup([passage.id for passage in passages])
        missing = np.flatnonzero(~found)
        if len(missing):
            vectors[missing] = self.encode([indexed_text(passages[i]) for i in missing])
        return vectors
