"""The vectors that one writer staged for the next commit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from .gate import check_vectors
from .segment import Segment
from .staging import Staging
from .vectors import KIND, VectorsBuilder, VectorSegment


class VectorStaging(Staging[VectorsBuilder, VectorSegment]):
    """Part of a `Writer`."""

    kind: ClassVar[str] = KIND

    def put(
        self,
        model: str,
        ids: NDArray[np.int64],
        rows: NDArray[np.float32],
        covered: NDArray[np.int32],
    ) -> int:
        """Stage the vectors of the passages that have none; how many those were."""
        lacking = self._lacking(model, ids)
        if lacking.any():
            self._builder(model).add(ids[lacking], rows[lacking], covered[lacking])
        return int(lacking.sum())

    def check(self, model: str, rows: NDArray[np.float32], passage_ids: Sequence[int]) -> None:
        """Raise `VectorRejected` unless the rows are unit vectors as wide as those of the model."""
        stored = self._stored().get(model)
        width = stored[0].width if stored else self._builder(model).width
        check_vectors(rows, width, [f"passage {number}" for number in passage_ids])

    def _made(self) -> VectorsBuilder:
        return VectorsBuilder()

    def _open(self, segment: Segment) -> VectorSegment:
        return VectorSegment(segment)
