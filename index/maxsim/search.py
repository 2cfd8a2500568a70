"""Late-interaction search over the live token vectors of one model.

    score = sum over question rows r of max over passage tokens t of <q_r, t>

A search has three steps, and only the first may miss a passage of the best k:

    candidates   by centroids; all passages if the collection or the filter is small, or the search is exact
    finalists    by products of int8 numbers over all tokens, on processors with VNNI
    scores       of the decoded vectors

Source: Khattab and Zaharia, "ColBERT", SIGIR 2020, section 3.3, equation 3.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from math import ceil, sqrt

import numpy as np
from numpy.typing import NDArray

from spanwise.errors import VectorRejected

from ..passage_rows import Part, StoredRows, span_places
from ..protocol import Bytes, Doubles, Floats, Ids, Places, Ranking, Shorts
from ..top_k import best, check_among, check_k, check_vectors
from .codebook import NUMBA, Codebook

CANDIDATES = 640, 16  # a constant number, and a number per passage of the result
_MEASURED_AT = 20_000  # passages; above that, candidates grow with the square root of the collection
_WORTHWHILE = 4  # ratio of passages to candidates; below it all passages are scanned
_DECODED_TOGETHER = 32  # passages that are decoded at once and fit in a core's cache
_LANES = 16  # question rows that kernels compare at once
_SUMMED_TOGETHER = 256  # passages that numpy sums at once
_CODES_PER_TOKEN = 8  # codes that numpy looks up in the time that decoding one token takes
_MAX_INT8 = 127
_MAX_BYTE = 255
_MAX_LENGTH = 1.25  # bound of the length of a decoded token: a unit vector with quantisation error
_ROUNDING = 1e-5  # relative error of integers that are summed exactly and scaled in float32


class MaxSimIndex:
    """Ranks live passages for questions of several unit vectors; scores are sums and may be negative."""

    def __init__(self, stored: StoredRows, codebook: Codebook, places: Places, exact: bool = False) -> None:
        """`exact` scans all tokens."""
        self._stored = stored
        self._codebook = codebook
        self._places = places
        self._is_exact = exact

    def __len__(self) -> int:
        """The number of live passages with token vectors."""
        return len(self._stored)

    @property
    def width(self) -> int:
        """The dimension of the token vectors."""
        return self._codebook.width

    def search(self, queries: Sequence[Floats], k: int, among: Ids | None = None) -> list[Ranking]:
        """The best k passages by the sum of maxima for each question (rows, width) float32.

        `among` restricts the search to these passage ids; those without token vectors are ignored.
        """
        check_k(k)
        check_among(among)
        for number, question in enumerate(queries):
            check_vectors(question, self.width, len(question), f"question {number} (row {{}})".format)
            if not len(question):
                raise VectorRejected(f"question {number} has no vectors")
        rows = None
        if among is not None:
            rows = self._stored.rows_of(among)
            rows = np.sort(rows[rows >= 0])
        n_rows = len(self) if rows is None else len(rows)
        if not n_rows:
            return [Ranking.empty() for _ in queries]
        n = self.n_candidates(k)
        is_scanned = self._is_exact or n_rows <= _WORTHWHILE * n
        return [
            self._ranked(question, k, rows if is_scanned else self._proposed(question, n, rows))
            for question in queries
        ]

    def n_candidates(self, k: int) -> int:
        """The number of passages that are scanned to find the best k."""
        constant, per_result = CANDIDATES
        return ceil((constant + per_result * k) * max(1.0, sqrt(len(self) / _MEASURED_AT)))

    def _ranked(self, question: Floats, k: int, rows: Ids | None) -> Ranking:
        """The best k of these rows (None means all); scanned scores rule out most rows."""
        wanted = np.arange(len(self)) if rows is None else rows
        if len(wanted) > k and NUMBA.is_worth(int(self._stored.lengths[wanted].sum())):
            wanted = self._finalists(question, k, rows, wanted)
        scores = exact_scores(self._stored, self._codebook, wanted, question)
        return best(self._stored.passage_ids[wanted], scores, k, self._places)

    def _finalists(self, question: Floats, k: int, rows: Ids | None, wanted: Ids) -> Ids:
        """The `wanted` rows that may be among the best k; `rows` are the same rows, or None for all."""
        from .kernels import is_fused

        if not is_fused(self.width):
            return wanted
        rounded = QuantizedQuestion(question, self._codebook)
        scanned = rounded.scan(self._stored, rows)
        threshold = np.partition(scanned, len(wanted) - k)[len(wanted) - k]
        finalists: Ids = wanted[scanned >= threshold - rounded.slack(self._largest_scale)]
        return finalists

    def _proposed(self, question: Floats, n: int, rows: Ids | None) -> Ids:
        """The n rows with the best scores by centroids, ascending; requires more than n rows."""
        scores = centroid_scores(self._stored, self._codebook.centroids, question, rows)
        chosen: Ids = np.sort(np.argpartition(scores, len(scores) - n)[len(scores) - n :])
        return chosen if rows is None else rows[chosen]

    @cached_property
    def _largest_scale(self) -> float:
        """The largest scale of a token, deleted ones included."""
        scales = [part.data["scales"] for part in self._stored.parts]
        return max((float(np.abs(part).max(initial=0)) for part in scales), default=0.0)


class QuantizedQuestion:
    """The rows (m, width) of one question, rounded to int8, for the tokens of one codebook.

    Row r is about scale * codes[r], the levels of the codebook about step * int8 levels; so the similarity of
    the row and a token is about

        weights[r] * (scale of the token * (codes[r] . int8 levels) + base[centroid, r])
    """

    def __init__(self, rows: Floats, codebook: Codebook) -> None:
        self.rows = rows
        self._centroids = codebook.centroids
        levels = codebook.levels.astype(np.float64)
        step = float(np.abs(levels).max()) / _MAX_INT8 or 1.0
        rounded = np.rint(levels / step)
        self._levels = rounded.astype(np.int8)
        self._level_error = float(np.abs(rounded * step - levels).max())  # in units of a token's scale
        scales = np.abs(rows).max(axis=1) / np.float32(_MAX_INT8)
        scales[scales == 0] = 1
        self._codes: NDArray[np.int8] = np.rint(rows / scales[:, np.newaxis]).astype(np.int8)
        self._weights: Floats = scales * np.float32(step)
        self._lost = rows - scales[:, np.newaxis] * self._codes

    def scan(self, stored: StoredRows, rows: Ids | None = None) -> Floats:
        """(n,) the score of each of these ascending rows (None means all), up to `slack`.

        One pass over the mapped tokens. Requires `is_fused`.
        """
        from .kernels import LANES, ROWS, interleaved, product_sums

        if rows is None:
            stored.check()
        else:
            stored.check_rows(rows)
        groups = interleaved(self._codes)
        n_groups = len(groups)
        number = np.arange(len(self.rows))
        weights = np.zeros(n_groups * ROWS, np.float32)
        weights[: len(self.rows)] = self._weights
        placed = np.zeros((n_groups * LANES, self.rows.shape[1]), np.float32)
        placed[number // ROWS * LANES + number % ROWS] = self.rows / self._weights[:, np.newaxis]
        base: Floats = self._centroids @ placed.T
        scores = np.empty(len(stored) if rows is None else len(rows), np.float32)
        for part, starts, ends, to in _spans_among(stored, rows):
            product_sums(
                groups, weights, base, self._levels, part.data["values"], part.data["scales"].view(np.uint16),
                part.data["centroids"], starts, ends, scores[to],
            )  # fmt: skip
        return scores

    def slack(self, largest_scale: float) -> float:
        """A bound of the error of the difference of two scanned scores.

        The error of each score is at most the rounding of rows and of levels in every maximum,
        sum over r of |row - its int8| * |token| + |row| * |level - its int8| * scale * sqrt(width)

        and the rounding of the products, as a fraction of the lengths of their vectors.
        """
        of_rows = float(np.linalg.norm(self._lost, axis=1).sum()) * _MAX_LENGTH
        lengths = float(np.linalg.norm(self.rows, axis=1).sum())
        of_levels = lengths * self._level_error * largest_scale * sqrt(self.rows.shape[1])
        return 2 * (of_rows + of_levels + lengths * _MAX_LENGTH * _ROUNDING)


def centroid_scores(stored: StoredRows, centroids: Floats, question: Floats, rows: Ids | None) -> Floats:
    """(n,) the score by centroids of each of these ascending rows (None means all), minus a constant.

        sum over question rows r of max over tokens t of <q_r, centroid of t>

    The similarities of centroids and question rows are a table of bytes that fits in a processor's cache. The
    codes of a passage are places in it, so two bytes are read per token instead of 68.

    Source: Santhanam et al., "PLAID: An Efficient Engine for Late Interaction Retrieval", CIKM 2022, section
    4.2. PLAID drops centroids that are far from the question and keeps float scores; this compares all.
    """
    similarities = centroids @ question.T
    lowest = similarities.min(axis=0)
    spread = similarities.max(axis=0) - lowest
    m = len(question)
    factors = np.divide(np.float32(_MAX_BYTE), spread, out=np.zeros_like(spread), where=spread > 0)
    weights = np.zeros(-(-m // _LANES) * _LANES, np.float32)
    np.divide(np.float32(1), factors, out=weights[:m], where=spread > 0)
    table = np.zeros((len(centroids), len(weights)), np.uint8)
    table[:, :m] = (similarities - lowest) * factors + np.float32(0.5)
    scores = np.empty(len(stored) if rows is None else len(rows), np.float32)
    add_up: Callable[..., None] = code_sums
    if NUMBA.is_worth(stored.n_rows // _CODES_PER_TOKEN):
        from .kernels import code_sums as add_up
    for part, starts, ends, to in _spans_among(stored, rows):
        add_up(table, weights, part.data["centroids"], starts, ends, scores[to])
    return scores


def code_sums(table: Bytes, weights: Floats, codes: Shorts, starts: Ids, ends: Ids, sums: Floats) -> None:
    """The numpy version of `kernels.code_sums`; sums are added in the same order."""
    for first in range(0, len(starts), _SUMMED_TOGETHER):
        here = slice(first, first + _SUMMED_TOGETHER)
        lengths = ends[here] - starts[here]
        places = span_places(starts[here], lengths)
        maxima = np.maximum.reduceat(table[codes[places]], np.cumsum(lengths) - lengths, axis=0)
        total = np.zeros(len(lengths), np.float32)
        for lane, weight in enumerate(weights):
            total += maxima[:, lane] * weight
        sums[here] = total


def _spans_among(stored: StoredRows, rows: Ids | None) -> Iterator[tuple[Part, Ids, Ids, slice]]:
    """Each part with the spans of its passages among the ascending `rows`, and their places in `rows`.

    None means all rows.
    """
    n = 0
    for part in stored.parts:
        starts = part.starts
        ends = part.ends
        if rows is not None:
            first, last = np.searchsorted(rows, (part.first, part.first + len(starts)))
            here = rows[first:last] - part.first
            starts = starts[here]
            ends = ends[here]
        if len(starts):
            yield part, starts, ends, slice(n, n + len(starts))
        n += len(starts)


def exact_scores(stored: StoredRows, codebook: Codebook, rows: Ids, question: Floats) -> Doubles:
    """(n,) float64: the score of each of these rows for a question (m, width), from decoded vectors.

    Products are float32, the sum is float64. Each passage is multiplied alone, so equal passages have
    bit-identical scores, and a score does not depend on the other rows.
    """
    scores = np.empty(len(rows), np.float64)
    for first in range(0, len(rows), _DECODED_TOGETHER):
        here = rows[first : first + _DECODED_TOGETHER]
        vectors = codebook.decode(stored.read(here))
        start = 0
        for place, end in enumerate(np.cumsum(stored.lengths[here]).tolist(), start=first):
            scores[place] = maxsim(vectors[start:end] @ question.T)
            start = end
    return scores


def maxsim(similarities: Floats) -> float:
    """The sum over question rows (columns) of the largest similarity with a token (rows).

    >>> maxsim(np.array([[0.5, 0.75], [1.0, 0.0]], np.float32))
    1.75
    """
    return float(similarities.max(axis=0).sum(dtype=np.float64))
