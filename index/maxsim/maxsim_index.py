"""Late-interaction search over the live token vectors of one model.

A search goes from cheap and many to dear and few, and only its first step may lose a passage:

    candidates   by centroids (`interaction`), in large collections after inverted lists (`lists`);
                 all passages when the collection or the filter is small, or the search exact
    finalists    by int8 products of all their tokens (`exact_scan`): none that may be in the best k is lost
    scores       of the decoded vectors (`rerank`)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import ceil, sqrt

import numpy as np
from numpy.typing import NDArray

from ..gate import check_token_questions
from ..protocol import Places, Ranking
from ..ranking import best, check_among, check_k
from .codebook import Codebook
from .exact_scan import rounding, scan
from .int8_tokens import Int8Form
from .interaction import Interaction
from .lists import InvertedLists
from .question import Question
from .rerank import exact_scores
from .stored_tokens import StoredTokens

CANDIDATES = 640, 16  # for any k, and for each passage asked for
_MEASURED_AT = 20_000  # passages; candidates grow with the square root of how many times more there are
_WORTHWHILE = 4  # times as many passages as candidates: else all are scanned
_LISTED = 200_000  # passages from which candidates come out of inverted lists
_WITHOUT_SIGN = np.uint16(0x7FFF)
_TOGETHER = 32  # questions whose scores of all passages are held at once


class MaxSimIndex:
    """Ranks live passages for questions of several unit vectors; scores are sums and may be negative."""

    def __init__(
        self,
        stored: StoredTokens,
        codebook: Codebook,
        places: Places,
        exact: bool = False,
        candidates: int | None = None,
    ) -> None:
        """`candidates` passages are compared by all their tokens; None chooses by k and the collection."""
        if candidates is not None and candidates < 1:
            raise ValueError(f"candidates must be at least 1, not {candidates}")
        self._stored = stored
        self._codebook = codebook
        self._places = places
        self._is_exact = exact
        self._candidates = candidates
        self._form = Int8Form.of(codebook)

    @classmethod
    def build(
        cls,
        stored: StoredTokens,
        codebook: Codebook,
        places: Places,
        exact: bool = False,
    ) -> MaxSimIndex:
        """Search these tokens; `exact` looks at all of them, whatever the size of the collection."""
        return cls(stored, codebook, places, exact)

    def __len__(self) -> int:
        """How many live passages have token vectors."""
        return len(self._stored)

    @property
    def width(self) -> int:
        """Numbers in a token vector."""
        return self._stored.width

    def search(
        self, queries: Sequence[NDArray[np.float32]], k: int, among: NDArray[np.int64] | None = None
    ) -> list[Ranking]:
        """For each question (rows, width) float32 its best k passages by the sum of maxima.

        `among` are the ids of the passages to which the search is confined; those without token vectors are
        passed over.
        """
        check_k(k)
        check_among(among)
        check_token_questions(queries, self.width)
        rows = None if among is None else self._rows(among)
        n_rows = len(self) if rows is None else len(rows)
        if not n_rows:
            return [Ranking(np.empty(0, np.int64), np.empty(0, np.float64)) for _ in queries]
        questions = [Question(query, self._codebook, self._form) for query in queries]
        n = self.n_candidates(k)
        if self._is_exact or n_rows <= _WORTHWHILE * n:
            return self._ranked_of_all(questions, k, rows)
        return [self._ranked(question, k, self._proposed(question, n, rows)) for question in questions]

    def n_candidates(self, k: int) -> int:
        """How many passages are compared by all their tokens to find the best k."""
        if self._candidates is not None:
            return max(k, self._candidates)
        for_any, for_each = CANDIDATES
        return ceil((for_any + for_each * k) * max(1.0, sqrt(len(self) / _MEASURED_AT)))

    def _ranked_of_all(
        self, questions: Sequence[Question], k: int, rows: NDArray[np.int64] | None
    ) -> list[Ranking]:
        """The rankings of these rows, all of them scanned."""
        all_rows = np.arange(len(self)) if rows is None else rows
        found = []
        for first in range(0, len(questions), _TOGETHER):
            some = questions[first : first + _TOGETHER]
            scores = scan(self._stored, self._form, some, rows)
            for question, row in zip(some, scores, strict=True):
                found.append(self._finished(question, k, all_rows, row, len(some)))
        return found

    def _ranked(self, question: Question, k: int, rows: NDArray[np.int64]) -> Ranking:
        """The ranking of these candidates."""
        return self._finished(question, k, rows, scan(self._stored, self._form, [question], rows)[0], 1)

    def _finished(
        self, question: Question, k: int, rows: NDArray[np.int64], scanned: NDArray[np.float32], together: int
    ) -> Ranking:
        """The best k of these rows by exact scores; their scanned ones say which cannot be among them.

        `together` says how many questions were scanned at once.
        """
        if len(rows) > k:
            threshold = np.partition(scanned, len(rows) - k)[len(rows) - k]
            slack = question.slack(self._largest_scale, rounding(together, self.width))
            rows = rows[scanned >= threshold - slack]
        scores = exact_scores(self._stored, rows, question.rows)
        return best(self._stored.passage_ids[rows], scores, k, self._places)

    def _proposed(self, question: Question, n: int, rows: NDArray[np.int64] | None) -> NDArray[np.int64]:
        """The n most promising rows, ascending."""
        table = self._interaction.table(question)
        if rows is None and len(self) > _LISTED:
            rows = self._lists.rows(table, n)
        scores = self._interaction.scores(table, rows)
        if len(scores) > n:
            chosen = np.sort(np.argpartition(scores, len(scores) - n)[len(scores) - n :])
            return chosen if rows is None else rows[chosen]
        return np.arange(len(self)) if rows is None else rows

    def _rows(self, among: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows of these passages, ascending."""
        rows = self._stored.rows_of(among)
        return np.sort(rows[rows >= 0])

    @cached_property
    def _interaction(self) -> Interaction:
        return Interaction(self._stored, self._codebook.centroids)

    @cached_property
    def _lists(self) -> InvertedLists:
        return InvertedLists.build(self._stored)

    @cached_property
    def _largest_scale(self) -> float:
        """The largest size of a token's scale, deleted ones included."""
        parts = [part.codes.scales.view(np.uint16) for part in self._stored.parts if len(part.codes)]
        bits = [
            int((scales & _WITHOUT_SIGN).max()) for scales in parts
        ]  # float16 in the order of the numbers
        return float(np.array(max(bits, default=0), np.uint16).view(np.float16))
