"""The one gate for vectors, on their way into an index and as queries.

A NaN ranks above every score in an inner-product search and spoils the answers to all questions, and no
vector library refuses it. So nothing passes that is not float32, of the right width, finite and of length 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from spanwise.errors import VectorRejected

_NORM_TOLERANCE = 1e-3
_BLOCK = 65_536  # rows that are looked at together: tokens are many


def check_vectors(vectors: NDArray[np.float32], width: int | None, names: Sequence[object]) -> None:
    """Raise `VectorRejected` unless every row is a unit vector; `names` (one a row) say which one is not.

    `width` is None while no vector of the model has been stored.
    """
    check_matrix(vectors, width, len(names))
    for row, fault in faulty_rows(vectors).items():
        raise VectorRejected(f"the vector of {names[row]} (row {row}) {fault}; nothing was stored")


def check_matrix(vectors: NDArray[np.float32], width: int | None, n_rows: int) -> None:
    """Raise `VectorRejected` unless this is a float32 matrix of the right shape."""
    if not isinstance(vectors, np.ndarray) or vectors.dtype != np.float32:
        found = getattr(vectors, "dtype", type(vectors).__name__)
        raise VectorRejected(f"vectors must be float32, not {found}")
    if vectors.ndim != 2 or vectors.shape[1] < 1:
        raise VectorRejected(f"vectors must be a matrix with a row each, not of shape {vectors.shape}")
    if width is not None and vectors.shape[1] != width:
        raise VectorRejected(f"vectors must have width {width}, not {vectors.shape[1]}")
    if len(vectors) != n_rows:
        raise VectorRejected(f"there are {len(vectors)} vectors for {n_rows} rows")


def check_token_vectors(
    vectors: NDArray[np.float32],
    lengths: Sequence[int] | NDArray[np.integer],
    width: int | None,
    passage_ids: Sequence[int],
) -> NDArray[np.int64]:
    """The lengths as a column; `VectorRejected` unless each passage has at least one vector, all have as many
    as there are rows, and every row is a unit vector.
    """
    column = np.asarray(lengths)
    if column.shape != (len(passage_ids),) or not (
        np.issubdtype(column.dtype, np.integer) or not len(column)
    ):
        raise VectorRejected(f"lengths must be {len(passage_ids)} integers, one for each passage")
    column = column.astype(np.int64)
    for row in np.flatnonzero(column < 1).tolist():
        raise VectorRejected(f"passage {passage_ids[row]} has no vectors ({column[row]}); nothing was stored")
    check_matrix(vectors, width, int(column.sum()))
    ends = np.cumsum(column)
    for first in range(0, len(vectors), _BLOCK):
        for row, fault in faulty_rows(vectors[first : first + _BLOCK]).items():
            owner = int(np.searchsorted(ends, first + row, side="right"))
            token = first + row - (ends[owner] - column[owner])
            name = f"passage {passage_ids[owner]} (token {token})"
            raise VectorRejected(f"the vector of {name} {fault}; nothing was stored")
    return column


def check_token_questions(questions: Sequence[NDArray[np.float32]], width: int) -> None:
    """Raise `VectorRejected` unless each question has unit vectors of this width, at least one."""
    for number, rows in enumerate(questions):
        check_matrix(rows, width, len(rows))
        if not len(rows):
            raise VectorRejected(f"question {number} has no vectors")
        for row, fault in faulty_rows(rows).items():
            raise VectorRejected(f"the vector of question {number} (row {row}) {fault}")


def faulty_rows(vectors: NDArray[np.float32]) -> dict[int, str]:
    """What is wrong with each row that is not a finite vector of length 1 ± 0.001; empty when all are."""
    wide = vectors.astype(np.float64)
    norms = np.sqrt((wide * wide).sum(axis=1))
    bad = np.flatnonzero(~(np.abs(norms - 1.0) <= _NORM_TOLERANCE))  # the negation also catches NaN
    return {int(row): _fault(norms[row]) for row in bad}


def _fault(norm: float) -> str:
    if not np.isfinite(norm):
        return "holds NaN or infinity"
    return "is zero" if norm == 0 else f"has length {norm:.6g} instead of 1"
