"""Retrievers by name: `tfidf`, `bm25`, `rank_bm25`, `dense`, `colbert`, and fusions spelled with a plus."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spanwise.errors import IndexEmpty

from ..index import Snapshot
from ..index.analysis import Analyzer
from .bm25 import bm25_retriever
from .colbert import colbert_retriever
from .dense import dense_retriever
from .encoders import Encoders
from .fusion import FusionRetriever
from .lexical import Terms
from .protocol import Retriever
from .rank_bm25_engine import rank_bm25_retriever
from .stage import Stage
from .tfidf import tfidf_retriever

LEXICAL: dict[str, Callable[[Snapshot, Analyzer], Stage[Terms]]] = {
    "tfidf": tfidf_retriever,
    "bm25": bm25_retriever,
    "rank_bm25": rank_bm25_retriever,
}
ENCODED: dict[str, Callable[[Snapshot, Encoders, bool], Stage[Any]]] = {
    "dense": lambda snapshot, encoders, exact: dense_retriever(snapshot, encoders.passages(), exact),
    "colbert": lambda snapshot, encoders, exact: colbert_retriever(snapshot, encoders.tokens(), exact),
}
ALIASES = {"hybrid": "bm25+dense"}


def stages_of(name: str) -> list[str]:
    """The single retrievers that a name stands for; `ValueError` lists the known ones.

    >>> stages_of("hybrid")
    ['bm25', 'dense']
    """
    stages = ALIASES.get(name, name).split("+")
    unknown = [stage for stage in stages if stage not in (*LEXICAL, *ENCODED)]
    if unknown or len(set(stages)) != len(stages):
        known = ", ".join([*LEXICAL, "dense", *ALIASES, "colbert"])
        raise ValueError(f"retriever must be one of {known}, or different ones joined by +, not {name!r}")
    return stages


def build_retriever(
    name: str,
    snapshot: Snapshot,
    analyzer: Analyzer,
    encoders: Encoders,
    exact: bool = False,
) -> Retriever:
    """The retriever of that name over a snapshot; of `encoders` only those that a stage needs are called.

    `exact` looks at every vector also where there is an approximate index.
    `IndexEmpty` when the snapshot holds no passages.
    """
    names = stages_of(name)
    if not snapshot.n_passages:
        raise IndexEmpty(
            "the index holds no passages: run `spanwise index FOLDER` on a folder with documents"
        )
    stages: list[Stage[Any]] = [
        LEXICAL[stage](snapshot, analyzer) if stage in LEXICAL else ENCODED[stage](snapshot, encoders, exact)
        for stage in names
    ]
    return stages[0] if len(stages) == 1 else FusionRetriever(stages, snapshot)
