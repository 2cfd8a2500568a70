"""Finding passages by their ids."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def rows_of(passage_ids: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """The row of each wanted passage in `passage_ids`, which ascend; -1 for one that is not there.

    >>> rows_of(np.array([2, 5, 9]), np.array([9, 3, 2])).tolist()
    [2, -1, 0]
    """
    if not len(passage_ids):
        return np.full(len(wanted), -1, np.int64)
    at = np.searchsorted(passage_ids, wanted).clip(max=len(passage_ids) - 1)
    return np.where(passage_ids[at] == wanted, at, -1)


class RowsById:
    """Finds the rows of passages whose ids stand in any order, each once."""

    def __init__(self, passage_ids: NDArray[np.int64]) -> None:
        self._rows = np.append(np.argsort(passage_ids), -1)  # the last one for those that are not there
        self._ids = passage_ids[self._rows[:-1]]

    def __call__(self, wanted: NDArray[np.int64]) -> NDArray[np.int64]:
        """The row of each wanted passage, -1 for one that is not there.

        >>> RowsById(np.array([9, 2, 5]))(np.array([2, 3, 9])).tolist()
        [1, -1, 0]
        """
        return self._rows[rows_of(self._ids, wanted)]
