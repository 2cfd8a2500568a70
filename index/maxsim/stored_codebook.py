"""The codebook of a model as it lies in a segment: exactly one for each model that has tokens."""

from __future__ import annotations

import numpy as np

from ..manifest import damaged
from ..segment import COLUMNS, Segment
from .codebook import Codebook

KIND = "codebook"


def read_codebook(segment: Segment) -> Codebook:
    """A copy of the codebook, every byte compared with its digest; `IndexCorrupt` if it makes no sense."""
    segment.check_file()
    try:
        return Codebook.from_columns({name: column.copy() for name, column in segment.columns.items()})
    except ValueError as error:
        raise damaged(segment.path / COLUMNS, str(error)) from error


def is_equal(codebook: Codebook, other: Codebook) -> bool:
    """Whether both would be written alike."""
    columns, others = codebook.columns(), other.columns()
    return all(np.array_equal(columns[name], others[name]) for name in columns)


def extends(codebook: Codebook, older: Codebook) -> bool:
    """Whether codes of the older one mean the same in this one: its centroids are the first of these."""
    first = codebook.centroids[: len(older.centroids)]
    return np.array_equal(codebook.levels, older.levels) and np.array_equal(first, older.centroids)
