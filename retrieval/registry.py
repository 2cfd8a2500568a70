"""Retrievers by name: `tfidf`, `bm25`, `rank_bm25`, `dense`, `colbert`, and fusions spelled with a plus."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
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
from .plugged import PluggedRetriever, RetrieverSource
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


NO_OTHERS: Mapping[str, RetrieverSource] = {}


def stages_of(name: str, others: Collection[str] = ()) -> list[str]:
    """The single retrievers that a name stands for; `ValueError` lists the known ones.

    `others` are the names of retrievers that are not built in.

    >>> stages_of("hybrid")
    ['bm25', 'dense']
    """
    stages = ALIASES.get(name, name).split("+")
    unknown = [stage for stage in stages if stage not in (*LEXICAL, *ENCODED, *others)]
    if unknown or len(set(stages)) != len(stages):
        known = ", ".join([*LEXICAL, "dense", *ALIASES, "colbert", *others])
        raise ValueError(f"retriever must be one of {known}, or different ones joined by +, not {name!r}")
    return stages


def build_retriever(
    name: str,
    snapshot: Snapshot,
    analyzer: Analyzer,
    encoders: Encoders,
    exact: bool = False,
    others: Mapping[str, RetrieverSource] = NO_OTHERS,
) -> Retriever:
    """The retriever of that name over a snapshot; of `encoders` only those that a stage needs are called.

    `exact` looks at every vector also where there is an approximate index; `others` are made where a stage
    names them, and raise PluginFailed when that fails.
    `IndexEmpty` when the snapshot holds no passages.
    """
    names = stages_of(name, others)
    if not snapshot.n_passages:
        raise IndexEmpty(
            "the index holds no passages: run `spanwise index FOLDER` on a folder with documents"
        )
    stages: list[Stage[Any] | PluggedRetriever] = []
    for stage in names:
        if stage in LEXICAL:
            stages.append(LEXICAL[stage](snapshot, analyzer))
        elif stage in ENCODED:
            stages.append(ENCODED[stage](snapshot, encoders, exact))
        else:
            stages.append(PluggedRetriever(stage, others[stage], snapshot))
    return stages[0] if len(stages) == 1 else FusionRetriever(stages, snapshot)
