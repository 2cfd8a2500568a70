"""What encoders share: texts are tokenized window by window and computed in batches of like length.

While one window is computed the next one is tokenized.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence, Sized
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from .ahead import one_ahead
from .batching import BUDGETS, Batcher
from .trunk import Trunk

WINDOW = 1024  # texts that are sorted by length together, while the next ones are being tokenized
Row = TypeVar("Row", bound=Sized)  # the tokens of a text
Vectors = NDArray[np.float32]
Computed = tuple[NDArray[np.int64], Vectors]


class BatchedEncoder(ABC, Generic[Row]):
    """A transformer and what runs it; `_forward` says what a batch of rows becomes."""

    def __init__(self, model: nn.Module, batch_tokens: int | None) -> None:
        self.model = model
        self.device: torch.device = next(model.parameters()).device
        self.trunk = Trunk(model)
        self.batcher = Batcher(batch_tokens or BUDGETS.get(self.device.type, BUDGETS["cpu"]))

    @abstractmethod
    def _forward(self, rows: Sequence[Row]) -> Vectors:
        """The vectors of the rows, one row's after another's."""

    def _windows(
        self, texts: Sequence[str], rows_of: Callable[[Sequence[str]], list[Row]]
    ) -> Iterator[tuple[int, list[Row], Iterator[Computed]]]:
        """For each window its first text, its rows, and its batches, as `_batches` gives them."""
        starts = range(0, len(texts), WINDOW)
        for first, rows in one_ahead(starts, lambda at: (at, rows_of(texts[at : at + WINDOW]))):
            yield first, rows, self._batches(rows, partial(_excerpt, texts, first))

    def _batches(self, rows: Sequence[Row], describe: Callable[[int], str]) -> Iterator[Computed]:
        """Batches as index arrays with their vectors, in no certain order; each row once."""
        lengths: Any = [len(row) for row in rows]
        return self.batcher.run(lengths, lambda batch: self._forward([rows[i] for i in batch]), describe)


def _excerpt(texts: Sequence[str], first: int, i: int) -> str:
    return repr(texts[first + i][:60])
