"""The best k of scored passages, in one order for everybody."""

from __future__ import annotations

from math import isqrt

import numpy as np
from numpy.typing import NDArray

from .protocol import Places, Ranking


def best(passage_ids: NDArray[np.int64], scores: NDArray[np.float64], k: int, places: Places) -> Ranking:
    """The k highest scores, best first; equal scores by (document id, start, end).

    Places are only asked for where scores tie, since that reads the catalog.
    """
    if len(scores) > k:
        threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
        kept = scores >= threshold  # everything that ties with the last place stays until it is ordered
        passage_ids, scores = passage_ids[kept], scores[kept]
    order = np.argsort(-scores)
    passage_ids, scores = passage_ids[order], scores[order]
    equal = scores[1:] == scores[:-1]
    if equal.any():
        tied = np.append(equal, False) | np.append(False, equal)
        passage_ids[tied] = _by_place(passage_ids[tied], scores[tied], places)
    return Ranking(passage_ids[:k], scores[:k])


def promising(scores: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """The rows, ascending, of the positive scores that may be among the k highest; ties are all there.

    The scores are laid out as a table. Its best k columns hold a score each that is at least the k-th highest
    maximum of a column, so that nothing below it can be among the k highest: one comparison leaves out most
    rows, and few are sorted.
    """
    n_rows = isqrt(len(scores) // k)
    if n_rows < 2:
        return np.flatnonzero(scores > 0)
    width = len(scores) // n_rows  # at least k; what does not fit into the table has no part in the bound
    highest = scores[: n_rows * width].reshape(n_rows, width).max(axis=0)
    bound = np.partition(highest, width - k)[width - k]
    return np.flatnonzero(scores >= bound if bound > 0 else scores > 0)


def _by_place(
    passage_ids: NDArray[np.int64], scores: NDArray[np.float64], places: Places
) -> NDArray[np.int64]:
    """Passages that come best first, those of equal score brought into the order of their places."""
    keys = zip((-scores).tolist(), places(passage_ids.tolist()), passage_ids.tolist(), strict=True)
    return np.array([passage_id for _, _, passage_id in sorted(keys)], np.int64)


def rows_among(passage_ids: NDArray[np.int64], among: NDArray[np.int64] | None) -> NDArray[np.bool_] | None:
    """Which rows hold a passage of `among`, (rows,); None when all may be found.

    Raises `ValueError` when `among` does not ascend.
    """
    check_among(among)
    return None if among is None else np.isin(passage_ids, among)


def check_among(among: NDArray[np.int64] | None) -> None:
    """Refuse passage ids that do not ascend."""
    if among is None:
        return
    if among.ndim != 1 or among.dtype != np.int64 or (among[1:] <= among[:-1]).any():
        raise ValueError(f"among must be ascending int64 passage ids, not {among!r}")


def check_k(k: int) -> None:
    """Refuse to return fewer than one passage."""
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
