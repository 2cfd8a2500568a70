"""BM25 by the library rank_bm25, as a reference to hold the project's own against.

`BM25Okapi` is given the passages' terms, the same k1 and b, and Lucene's idf: its own idf replaces negative
values by a floor, which ranks passages wrongly in small corpora. It scores every passage for every question
in Python, so it is slow; the rankings are those of `bm25`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spanwise.errors import IndexEmpty

from ..index import Snapshot
from ..index.analysis import Analyzer
from ..index.live_postings import LivePostings
from ..index.protocol import Places, Ranking
from ..index.ranking import best, check_k, rows_among
from .bm25 import BM25, idf_lucene
from .lexical import Terms, lexical_stage
from .stage import Stage


class RankBM25Index:
    """Ranks live passages for lists of terms with an engine of rank_bm25."""

    def __init__(self, engine: Any, passage_ids: NDArray[np.int64], places: Places) -> None:
        self._engine = engine
        self._passage_ids = passage_ids
        self._places = places

    @classmethod
    def build(cls, postings: LivePostings, weighting: BM25, places: Places) -> RankBM25Index:
        """Hand the terms of all live passages to the library; `IndexEmpty` when there are none."""
        from rank_bm25 import BM25Okapi  # type: ignore[import-untyped]

        bags = [bag for bag, live in zip(_bags(postings), postings.live.tolist(), strict=True) if live]
        if not any(bags):
            raise IndexEmpty("no passage of the index holds a word")
        engine = BM25Okapi(bags, k1=weighting.k1, b=weighting.b)
        df = postings.all_statistics.df
        engine.idf = {term: idf_lucene(df[term], len(bags)) for term in engine.idf}
        return cls(engine, postings.passage_ids[postings.live], places)

    def __len__(self) -> int:
        """How many live passages can be found."""
        return len(self._passage_ids)

    def search(
        self, queries: Sequence[Sequence[str]], k: int, among: NDArray[np.int64] | None = None
    ) -> list[Ranking]:
        """For each list of terms its best k passages; a passage with score 0 is not found."""
        check_k(k)
        allowed = rows_among(self._passage_ids, among)
        return [self._search(terms, k, allowed) for terms in queries]

    def _search(self, terms: Sequence[str], k: int, allowed: NDArray[np.bool_] | None) -> Ranking:
        scores = self._engine.get_scores(terms)
        found = np.flatnonzero(scores > 0 if allowed is None else (scores > 0) & allowed)
        return best(self._passage_ids[found], scores[found], k, self._places)


def _bags(postings: LivePostings) -> list[list[str]]:
    """The terms of each row, each as often as it occurs; their order in the text is not in the postings."""
    bags: list[list[str]] = [[] for _ in range(len(postings))]
    for pairs in postings.pairs():
        terms = [term.decode("utf-8") for term in pairs.vocabulary]
        for number, row, count in zip(
            pairs.terms.tolist(), pairs.rows.tolist(), pairs.counts.tolist(), strict=True
        ):
            bags[row].extend([terms[number]] * count)
    return bags


def rank_bm25_retriever(
    snapshot: Snapshot, analyzer: Analyzer, weighting: BM25 | None = None
) -> Stage[Terms]:
    """The retriever `rank_bm25` over a snapshot."""
    index = RankBM25Index.build(snapshot.postings(), weighting or BM25(), snapshot.places)
    return lexical_stage("rank_bm25", index, snapshot, analyzer)
