"""Retrievers by name: `tfidf`, `bm25`, `rank_bm25`, `dense`, `colbert`, and fusions joined by a plus.

`dense` ranks passages by the cosine of one vector per text. `colbert` ranks by late interaction:

    score(q, d) = sum over token vectors u of q of  max over token vectors v of d of  u . v

Source: Khattab and Zaharia, "ColBERT: Efficient and Effective Passage Search via Contextualized Late
Interaction over BERT", SIGIR 2020, section 3.
"""

import math
from collections.abc import Collection, Sequence
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np

from spanwise.errors import ContractBroken, IndexEmpty, ModelMismatch, SpanwiseError
from spanwise.types import Hit, Passage

from ..index.analysis import Analyzer
from ..index.protocol import Floats, Ids, Ranking
from ..index.snapshot import MakeLexical, Snapshot
from ..index.top_k import best
from .bm25 import RankBM25Index, bm25_index
from .protocol import Encoder, Encoders, Retriever, TokenEncoder
from .stage import FusionRetriever, Stage, check_questions, hits_of, lexical_stage
from .tfidf import tfidf_index

LEXICAL: dict[str, MakeLexical] = {
    "tfidf": tfidf_index,
    "bm25": bm25_index,
    "rank_bm25": RankBM25Index,
}
ENCODED = ("dense", "colbert")
ALIASES = {"hybrid": "bm25+dense"}


def stages_of(name: str) -> list[str]:
    """The names of the single retrievers in a retriever's name; `ValueError` for an unknown one.

    >>> stages_of("hybrid")
    ['bm25', 'dense']
    """
    stages = ALIASES.get(name, name).split("+")
    unknown = [stage for stage in stages if stage not in (*LEXICAL, *ENCODED)]
    if unknown or len(set(stages)) != len(stages):
        known = ", ".join([*LEXICAL, "dense", *ALIASES, "colbert"])
        raise ValueError(f"retriever must be one of {known}, or several joined by +, not {name!r}")
    return stages


def build(
    retriever: str | Retriever,
    snapshot: Snapshot,
    analyzer: Analyzer,
    encoders: Encoders,
    exact: bool = False,
) -> Retriever:
    """The retriever with this name, or the user's own object, over a snapshot; `IndexEmpty` without passages.

    Only the encoders of its stages are loaded. `exact` compares every vector, even where an approximate index
    exists.
    """
    names = stages_of(retriever) if isinstance(retriever, str) else []
    if not snapshot.n_passages:
        raise IndexEmpty("the index holds no passages. Fill it with: spanwise index FOLDER")
    if not isinstance(retriever, str):
        return CheckedRetriever(retriever, snapshot)
    stages: list[Stage[Any]] = []
    for name in names:
        if name in LEXICAL:
            index = snapshot.lexical(name, LEXICAL[name])
            stages.append(lexical_stage(name, index, snapshot, analyzer))
        elif name == "dense":
            stages.append(dense_retriever(snapshot, encoders.passages(), exact))
        else:
            stages.append(colbert_retriever(snapshot, encoders.tokens(), exact))
    return stages[0] if len(stages) == 1 else FusionRetriever(stages, snapshot)


def dense_retriever(snapshot: Snapshot, encoder: Encoder, exact: bool = False) -> Stage[Floats]:
    """The retriever `dense`: ranks passages by the cosine of their vector and the question's.

    `IndexEmpty` if no vectors are stored, `ModelMismatch` if only vectors of other models are. A large
    collection is searched approximately, unless `exact` is set.
    """
    _check_models(encoder.digest, snapshot.vector_models(), "vector", "", "--model NAME")
    index = snapshot.vectors(encoder.digest, exact)
    return Stage("dense", encoder.encode_questions, index, snapshot, needs_vectors=True)


def colbert_retriever(
    snapshot: Snapshot, encoder: TokenEncoder, exact: bool = False
) -> Stage[Sequence[Floats]]:
    """The retriever `colbert`: ranks passages by the MaxSim of their token vectors and the question's.

    Errors and approximate search as for `dense_retriever`.
    """
    _check_models(
        encoder.digest, snapshot.token_models(), "token vector", " --colbert builtin", "--colbert NAME"
    )
    index = snapshot.maxsim(encoder.digest, exact)
    return Stage("colbert", encoder.encode_questions, index, snapshot, needs_vectors=True)


def _check_models(digest: str, stored: Collection[str], noun: str, make: str, option: str) -> None:
    if not stored:
        raise IndexEmpty(
            f"no passage has a {noun} yet. Run `spanwise index FOLDER{make}`, or use `--retriever bm25`"
        )
    if digest not in stored:
        raise ModelMismatch(
            f"the index holds {noun}s by {', '.join(sorted(stored))}, not by {digest}: "
            f"run `spanwise index FOLDER {option}` to encode the passages with this model"
        )


class CheckedRetriever:
    """A user's retriever whose results are checked.

    Only passage ids and scores are used: text, places and the order of equal scores come from the index.
    ContractBroken if the search fails, or if a result is not a ranking of the index's passages.
    """

    def __init__(self, retriever: Retriever, snapshot: Snapshot) -> None:
        self.name = str(getattr(retriever, "name", "custom"))
        self._retriever = retriever
        self._snapshot = snapshot
        if not callable(getattr(retriever, "search", None)):
            raise self._broke("has no method search")

    def search(self, questions: Sequence[str], k: int, among: Ids | None = None) -> list[list[Hit]]:
        """The best k hits of each question, with the passages of the index."""
        return hits_of(self.rank(questions, k, among), self._snapshot, self.name)

    def rank(self, questions: Sequence[str], k: int, among: Ids | None = None) -> list[Ranking]:
        """The ids and scores of the hits of each question, ties by (document id, start)."""
        check_questions(questions, k)
        try:
            results = [list(hits) for hits in self._retriever.search(questions, k, among)]
        except SpanwiseError:
            raise
        except Exception as error:
            raise self._broke(f"failed: {type(error).__name__}: {error}") from error
        if len(results) != len(questions):
            raise self._broke(f"gave {len(results)} lists of hits for {len(questions)} questions")
        allowed = self._ids if among is None else frozenset(among.tolist())
        return [self._ranking(hits, k, allowed) for hits in results]

    def _ranking(self, hits: Sequence[Hit], k: int, allowed: frozenset[int]) -> Ranking:
        if len(hits) > k:
            raise self._broke(f"gave {len(hits)} hits, expected at most {k}")
        for hit in hits:
            if not (isinstance(hit, Hit) and isinstance(hit.passage, Passage)):
                raise self._broke(f"gave {hit!r:.60}, expected a Hit with a Passage")
            if not (isinstance(hit.score, Real) and math.isfinite(hit.score)):
                raise self._broke(f"gave the score {hit.score!r}, expected a finite number")
            if hit.passage.id not in self._ids:
                raise self._broke(
                    f"gave the passage {hit.passage.id!r}, which is not in the index. "
                    "Build the retriever again after a sync"
                )
            if hit.passage.id not in allowed:
                raise self._broke(f"gave the passage {hit.passage.id}, which the filter excludes")
        ids = [hit.passage.id for hit in hits]
        if len(set(ids)) != len(ids):
            raise self._broke("gave the same passage twice for one question")
        scores = np.array([hit.score for hit in hits], np.float64)
        return best(np.array(ids, np.int64), scores, k, self._snapshot.places)

    @cached_property
    def _ids(self) -> frozenset[int]:
        return frozenset(self._snapshot.passage_ids().tolist())

    def _broke(self, problem: str) -> ContractBroken:
        return ContractBroken(f"the retriever {self.name!r} {problem}")
