"""Late-interaction search over the live token vectors of one model.

    score = sum over question rows r of max over passage tokens t of <q_r, t>

A search has three steps, and only the first may lose a passage:

    candidates   by centroids (`centroid_lists`); all passages when the collection or the filter is small, or
                 the search exact
    finalists    by products of int8 numbers over all their tokens: no passage of the best k is lost
    scores       of the decoded vectors

Source: Khattab and Zaharia, "ColBERT", SIGIR 2020, section 3.3, equation 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, sqrt

import numpy as np
from numpy.typing import NDArray

from ..dense import check_token_questions
from ..protocol import Floats, Ids, Places, Ranking
from ..ranking import best, check_among, check_k
from ..rows import StoredRows, span_places
from .centroid_lists import Interaction, InvertedLists, spans_among
from .codebook import Codebook
from .kernels import LANES, ROWS, interleaved, is_fused, look_up, product_sums, segment_maxima
from .tokens import codes_of

CANDIDATES = 640, 16  # for any k, and for each passage of the result
_MEASURED_AT = 20_000  # passages; candidates grow with the square root of how many times more there are
_WORTHWHILE = 4  # times as many passages as candidates: else all are scanned
_LISTED = 200_000  # passages from which inverted lists find the candidates
_DECODED = 128  # passages that are decoded at once
_BLOCK = 8192  # tokens that are multiplied at once
_LARGEST = 127  # of an int8
_LONGEST = 1.25  # no decoded token is longer: unit vectors, off by their quantisation
_ROUNDING = 1e-5  # of whole numbers, summed exactly, and then scaled in float32


class MaxSimIndex:
    """Ranks live passages for questions of several unit vectors; scores are sums and may be negative."""

    def __init__(
        self,
        stored: StoredRows,
        codebook: Codebook,
        places: Places,
        exact: bool = False,
        candidates: int | None = None,
    ) -> None:
        """`exact` scans all tokens. `candidates` passages are scanned otherwise; None: by k and size."""
        if candidates is not None and candidates < 1:
            raise ValueError(f"candidates must be at least 1, not {candidates}")
        self._stored = stored
        self._codebook = codebook
        self._places = places
        self._is_exact = exact
        self._candidates = candidates
        self._levels = Int8Levels.of(codebook)

    def __len__(self) -> int:
        """The number of live passages with token vectors."""
        return len(self._stored)

    @property
    def width(self) -> int:
        """Numbers in a token vector."""
        return self._codebook.width

    def search(self, queries: Sequence[Floats], k: int, among: Ids | None = None) -> list[Ranking]:
        """For each question (rows, width) float32 its best k passages by the sum of maxima.

        `among` are the passage ids that the search is restricted to; those without token vectors are ignored.
        """
        check_k(k)
        check_among(among)
        check_token_questions(queries, self.width)
        rows = None if among is None else self._rows(among)
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
        if self._candidates is not None:
            return max(k, self._candidates)
        for_any, for_each = CANDIDATES
        return ceil((for_any + for_each * k) * max(1.0, sqrt(len(self) / _MEASURED_AT)))

    def _ranked(self, rows_of_question: Floats, k: int, rows: Ids | None) -> Ranking:
        """The best k of these rows (None means all); scanned scores show which cannot be among them."""
        question = Question(rows_of_question, self._codebook, self._levels)
        scanned = scan(self._stored, self._levels, question, rows)
        rows = np.arange(len(self)) if rows is None else rows
        if len(rows) > k:
            threshold = np.partition(scanned, len(rows) - k)[len(rows) - k]
            rows = rows[scanned >= threshold - question.slack(self._largest_scale)]
        scores = exact_scores(self._stored, self._codebook, rows, question.rows)
        return best(self._stored.passage_ids[rows], scores, k, self._places)

    def _proposed(self, question: Floats, n: int, rows: Ids | None) -> Ids | None:
        """The n most promising rows, ascending; None for all."""
        table = self._interaction.table(question)
        if rows is None and len(self) > _LISTED:
            rows = self._lists.rows(table, n)
        scores = self._interaction.scores(table, rows)
        if len(scores) > n:
            chosen = np.sort(np.argpartition(scores, len(scores) - n)[len(scores) - n :])
            return chosen if rows is None else rows[chosen]
        return rows

    def _rows(self, among: Ids) -> Ids:
        """The rows of these passages, ascending."""
        rows = self._stored.rows_of(among)
        return np.sort(rows[rows >= 0])

    @cached_property
    def _interaction(self) -> Interaction:
        return Interaction(self._stored, self._codebook.centroids)

    @cached_property
    def _lists(self) -> InvertedLists:
        return InvertedLists.build(self._stored, len(self._codebook.centroids))

    @cached_property
    def _largest_scale(self) -> float:
        """The largest scale of a token, deleted ones included."""
        scales = [part.data["scales"] for part in self._stored.parts]
        return max((float(np.abs(part).max(initial=0)) for part in scales), default=0.0)


@dataclass(frozen=True, slots=True)
class Int8Levels:
    """The levels of a codebook rounded to `values` (16,) int8 times `step`.

    `error` is the largest difference of a level from its rounded value, in units of a token's scale.
    """

    values: NDArray[np.int8]
    step: float
    error: float

    @classmethod
    def of(cls, codebook: Codebook) -> Int8Levels:
        """The rounded levels of this codebook."""
        levels = codebook.levels.astype(np.float64)
        step = float(np.abs(levels).max()) / _LARGEST or 1.0
        rounded = np.rint(levels / step)
        return cls(rounded.astype(np.int8), step, float(np.abs(rounded * step - levels).max()))


class Question:
    """The rows (m, width) float32 of one question for the tokens of one codebook.

    Row r is about scale * codes[r], codes (m, width) int8; its similarity with a token is about

        weights[r] * (scale of the token * (codes[r] . int8 levels) + base[centroid, r])
    """

    def __init__(self, rows: Floats, codebook: Codebook, levels: Int8Levels) -> None:
        self.rows = rows
        self._centroids = codebook.centroids
        self._levels = levels
        scales = np.abs(rows).max(axis=1) / np.float32(_LARGEST)
        scales[scales == 0] = 1
        self.codes: NDArray[np.int8] = np.rint(rows / scales[:, np.newaxis]).astype(np.int8)
        self.weights: Floats = scales * np.float32(levels.step)
        self._lost = rows - scales[:, np.newaxis] * self.codes

    def base(self, lanes: Ids, n_lanes: int) -> Floats:
        """(C, n_lanes) float32, row r at lanes[r], other lanes 0."""
        placed = np.zeros((n_lanes, self.rows.shape[1]), np.float32)
        placed[lanes] = self.rows / self.weights[:, np.newaxis]
        base: Floats = self._centroids @ placed.T
        return base

    def slack(self, largest_scale: float) -> float:
        """How far the difference of two scanned scores may be from that of the exact ones.

        Each is off by at most the rounding of rows and of levels in every maximum,
        sum over r of |row - its int8| * |token| + |row| * |level - its int8| * scale * sqrt(width)

        and by the rounding of the products, as a share of the lengths of their vectors.
        """
        of_rows = float(np.linalg.norm(self._lost, axis=1).sum()) * _LONGEST
        lengths = float(np.linalg.norm(self.rows, axis=1).sum())
        of_levels = lengths * self._levels.error * largest_scale * sqrt(self.rows.shape[1])
        return 2 * (of_rows + of_levels + lengths * _LONGEST * _ROUNDING)


def scan(stored: StoredRows, levels: Int8Levels, question: Question, rows: Ids | None = None) -> Floats:
    """(n,) the score of each of these rows, ascending (None means all), up to `question.slack`.

    One pass over the tokens where they lie, on a machine that can; else blocks of float32 products, which
    hold the whole numbers exactly. Memory is that of a block.
    """
    scores = np.empty(len(stored) if rows is None else len(rows), np.float32)
    if rows is None:
        stored.check()
    else:
        stored.check_rows(rows)
    (_scan_fused if is_fused(question.rows.shape[1]) else scan_blocks)(stored, levels, question, rows, scores)
    return scores


def _scan_fused(
    stored: StoredRows, levels: Int8Levels, question: Question, rows: Ids | None, scores: Floats
) -> None:
    groups = interleaved(question.codes)
    weights = np.zeros(len(groups) * ROWS, np.float32)
    weights[: len(question.rows)] = question.weights
    number = np.arange(len(question.rows))
    base = question.base(number // ROWS * LANES + number % ROWS, len(groups) * LANES)
    for part, starts, ends, to in spans_among(stored, rows):
        codes = codes_of(part.data)
        product_sums(
            groups, weights, base, levels.values, codes.values, codes.scales.view(np.uint16), codes.centroids,
            starts, ends, scores[to],
        )  # fmt: skip


def scan_blocks(
    stored: StoredRows, levels: Int8Levels, question: Question, rows: Ids | None, scores: Floats
) -> None:
    """Write the score of each of these rows from products of blocks of tokens, on any machine."""
    pairs = levels.values[np.arange(256)[:, np.newaxis] >> (0, 4) & 15].view(np.uint16)[:, 0]  # of a byte
    columns = question.codes.T.astype(np.float32)
    base = question.base(np.arange(len(question.rows)), len(question.rows))
    for part, starts, ends, to in spans_among(stored, rows):
        codes, sums = codes_of(part.data), scores[to]
        for first, last in _blocks(ends - starts):
            lengths = ends[first:last] - starts[first:last]
            tokens = span_places(starts[first:last], lengths)
            values = np.empty((len(tokens), codes.values.shape[1]), np.uint16)
            look_up(codes.values[tokens], pairs, values)
            maxima = np.empty((last - first, len(question.rows)), np.float32)
            segment_maxima(
                values.view(np.int8).astype(np.float32) @ columns,
                codes.scales[tokens].astype(np.float32),
                base,
                codes.centroids[tokens],
                np.cumsum(lengths),
                maxima,
            )
            sums[first:last] = (maxima * question.weights).sum(axis=1)


def _blocks(lengths: Ids) -> Iterator[tuple[int, int]]:
    """Consecutive passages with at most `_BLOCK` tokens together, or a longer one alone."""
    ends = np.cumsum(lengths)
    first = done = 0
    while first < len(ends):
        last = max(first + 1, int(np.searchsorted(ends, done + _BLOCK, side="right")))
        yield first, last
        first, done = last, int(ends[last - 1])


def exact_scores(stored: StoredRows, codebook: Codebook, rows: Ids, question: Floats) -> NDArray[np.float64]:
    """(n,) float64: the score of each of these rows for a question (m, width), from decoded vectors.

    Products are float32, the sum float64. Each passage is multiplied alone: equal passages get equal bits,
    and a score does not depend on the other rows.
    """
    scores = np.empty(len(rows), np.float64)
    for first in range(0, len(rows), _DECODED):
        here = rows[first : first + _DECODED]
        vectors = codebook.decode(codes_of(stored.read(here)))
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
