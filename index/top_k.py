"""The best k of scored passages, and checks of the arguments of searches and of stored vectors.

Passages are ordered by score, ties by (document id, start, end).
"""

from collections.abc import Callable, Sequence
from math import isqrt

import numpy as np

from spanwise.errors import VectorRejected

from .protocol import Counts, Doubles, Floats, Ids, Mask, Places, Ranking

_NORM_TOLERANCE = 1e-3
_BLOCK = 65_536  # rows that are checked together


def best(passage_ids: Ids, scores: Doubles, k: int, places: Places) -> Ranking:
    """The k highest scores, best first; equal scores by (document id, start, end).

    Places are looked up only for ties, because that reads the catalog.
    """
    if len(scores) > k:
        threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
        is_candidate = scores >= threshold  # includes all ties with the last place
        passage_ids = passage_ids[is_candidate]
        scores = scores[is_candidate]
    order = np.argsort(-scores)
    passage_ids = passage_ids[order]
    scores = scores[order]
    equal = scores[1:] == scores[:-1]
    if equal.any():
        tied = np.append(equal, False) | np.append(False, equal)
        ids = passage_ids[tied].tolist()
        keys = zip((-scores[tied]).tolist(), places(ids), ids, strict=True)
        passage_ids[tied] = [passage_id for _, _, passage_id in sorted(keys)]
    return Ranking(passage_ids[:k], scores[:k])


def promising(scores: Doubles, k: int) -> Ids:
    """The rows, ascending, whose positive scores may be among the k highest, all ties included.

    The scores are laid out as a table. Each of its best k columns holds a score of at least the k-th highest
    column maximum. No lower score can be among the k highest, so one comparison drops most rows.
    """
    n_rows = isqrt(len(scores) // k)
    if n_rows < 2:
        return np.flatnonzero(scores > 0)
    width = len(scores) // n_rows  # at least k; scores beyond the table do not affect the bound
    highest = scores[: n_rows * width].reshape(n_rows, width).max(axis=0)
    bound = np.partition(highest, width - k)[width - k]
    return np.flatnonzero(scores >= bound if bound > 0 else scores > 0)


def rows_of(passage_ids: Ids, wanted: Ids) -> Ids:
    """The row of each wanted passage in `passage_ids`, which ascend; -1 for a missing one.

    >>> rows_of(np.array([2, 5, 9]), np.array([9, 3, 2])).tolist()
    [2, -1, 0]
    """
    if not len(passage_ids):
        return np.full(len(wanted), -1, np.int64)
    rows = np.searchsorted(passage_ids, wanted).clip(max=len(passage_ids) - 1)
    return np.where(passage_ids[rows] == wanted, rows, -1)


def rows_among(passage_ids: Ids, among: Ids | None) -> Mask | None:
    """(rows,) True for rows that hold a passage of `among`; None without a restriction."""
    check_among(among)
    return None if among is None else np.isin(passage_ids, among)


def check_among(among: Ids | None) -> None:
    """Raise `ValueError` unless the passage ids ascend."""
    if among is not None and (among.ndim != 1 or among.dtype != np.int64 or (among[1:] <= among[:-1]).any()):
        raise ValueError(f"among must be ascending int64 passage ids, not {among!r}")


def check_k(k: int) -> None:
    """Raise `ValueError` for k below 1."""
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")


def check_vectors(vectors: Floats, width: int | None, n_rows: int, name: Callable[[int], str]) -> None:
    """Raise `VectorRejected` unless this is a float32 matrix of `n_rows` vectors of length 1 ± 0.001.

    A NaN ranks above every score of an inner-product search, and no vector library rejects it. `width` is
    None if the model has no stored vector yet; `name` names the owner of a row.
    """
    if not isinstance(vectors, np.ndarray) or vectors.dtype != np.float32:
        actual = getattr(vectors, "dtype", type(vectors).__name__)
        raise VectorRejected(f"vectors must be float32, not {actual}")
    if vectors.ndim != 2 or vectors.shape[1] < 1:
        raise VectorRejected(
            f"vectors must be a matrix with one vector per row, not of shape {vectors.shape}"
        )
    if width is not None and vectors.shape[1] != width:
        raise VectorRejected(f"vectors must have width {width}, not {vectors.shape[1]}")
    if len(vectors) != n_rows:
        raise VectorRejected(f"there are {len(vectors)} vectors for {n_rows} rows")
    for first in range(0, len(vectors), _BLOCK):
        wide = vectors[first : first + _BLOCK].astype(np.float64)
        norms = np.sqrt((wide * wide).sum(axis=1))
        for row in np.flatnonzero(~(np.abs(norms - 1.0) <= _NORM_TOLERANCE)).tolist():  # finds NaN too
            raise VectorRejected(f"the vector of {name(first + row)} {_fault(norms[row])}")


def check_token_vectors(
    vectors: Floats, lengths: Sequence[int] | Counts, width: int, passage_ids: Sequence[int]
) -> Ids:
    """The lengths as a column.

    Raise `VectorRejected` unless each passage has at least one vector, the lengths add up to the rows, and
    every row is a unit vector.
    """
    column = np.asarray(lengths, np.int64)
    if column.shape != (len(passage_ids),):
        raise VectorRejected(f"lengths must be {len(passage_ids)} integers, one per passage")
    for row in np.flatnonzero(column < 1).tolist():
        raise VectorRejected(f"passage {passage_ids[row]} has no vectors ({column[row]})")
    ends = np.cumsum(column)

    def name(row: int) -> str:
        owner = int(np.searchsorted(ends, row, side="right"))
        return f"passage {passage_ids[owner]} (token {row - (ends[owner] - column[owner])})"

    check_vectors(vectors, width, int(column.sum()), name)
    return column


def _fault(norm: float) -> str:
    if not np.isfinite(norm):
        return "holds NaN or infinity"
    return "is zero" if norm == 0 else f"has length {norm:.6g} instead of 1"
