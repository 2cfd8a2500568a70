"""Exact MaxSim with a scan that proposes: the best passages are ranked by scores from their decoded vectors.

The scan says how far its scores may be from exact ones. So many candidates are taken that the best k are
surely among them, and what is returned are sums in float64 of one passage and one question: the same bits for
a pair of them, whatever proposed it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..gate import check_token_questions
from ..protocol import Places, Ranking
from ..ranking import best, check_among, check_k
from ..scan import Nearest
from .rerank import exact_scores
from .stored_tokens import StoredTokens

_SPARE = 64  # candidates beyond 2k in the first round: few cost little, and a second scan costs all of it


class TokenScan(Protocol):
    """Looks at the tokens of every live passage, or of every one that is chosen."""

    def nearest(
        self, questions: Sequence[NDArray[np.float32]], n: int, chosen: NDArray[np.bool_] | None = None
    ) -> Nearest:
        """The best n rows for each question (m, width); at least n must be chosen."""


class ScannedMaxSim:
    """Ranks live passages by the sum over a question's rows of the best match among a passage's rows."""

    def __init__(self, stored: StoredTokens, scan: TokenScan, places: Places) -> None:
        self._stored = stored
        self._scan = scan
        self._places = places

    @classmethod
    def build(cls, stored: StoredTokens, places: Places, device: str) -> ScannedMaxSim:
        """Search on a device of torch."""
        from .torch_maxsim import TorchMaxSim

        return cls(stored, TorchMaxSim.load(stored, device), places)

    def __len__(self) -> int:
        """How many live passages have tokens."""
        return len(self._stored)

    def search(
        self, queries: Sequence[NDArray[np.float32]], k: int, among: NDArray[np.int64] | None = None
    ) -> list[Ranking]:
        """For each question, unit rows (m, width) with m at least 1, its best k passages; see `Index`."""
        check_k(k)
        check_token_questions(queries, self._stored.width)
        chosen = None if among is None else self._chosen(among)
        n_rows = len(self) if chosen is None else int(chosen.sum())
        if not n_rows or not len(queries):
            return [Ranking(np.empty(0, np.int64), np.empty(0, np.float64)) for _ in queries]
        found = self._scan.nearest(queries, min(2 * k + _SPARE, n_rows), chosen)
        rankings = []
        for number, query in enumerate(queries):
            rows = self._widened(found, number, query, k, chosen, n_rows)
            scores = exact_scores(self._stored, rows, query)
            rankings.append(best(self._stored.passage_ids[rows], scores, k, self._places))
        return rankings

    def _widened(
        self,
        found: Nearest,
        number: int,
        query: NDArray[np.float32],
        k: int,
        chosen: NDArray[np.bool_] | None,
        n_rows: int,
    ) -> NDArray[np.int64]:
        """Candidates of one question: those, and no others, that may belong to the best k."""
        scores, rows, slack = found.scores[number], found.rows[number], found.slack
        while len(rows) < n_rows and scores[-1] >= scores[k - 1] - slack:
            wider = self._scan.nearest([query], min(4 * len(rows), n_rows), chosen)
            scores, rows, slack = wider.scores[0], wider.rows[0], wider.slack
        near: NDArray[np.int64] = rows[scores >= scores[min(k, len(rows)) - 1] - slack]
        return near

    def _chosen(self, among: NDArray[np.int64]) -> NDArray[np.bool_]:
        """(n,) which rows belong to these passages."""
        check_among(among)
        rows = self._stored.rows_of(among)
        chosen = np.zeros(len(self), np.bool_)
        chosen[rows[rows >= 0]] = True
        return chosen
