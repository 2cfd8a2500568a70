"""The options that have what was found re-ranked, and what they mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from ..models import RERANK_DEPTH, RERANKER

RerankOption = Annotated[
    bool,
    typer.Option(
        "--rerank",
        help="Let a cross-encoder read the best passages together with the question, and rank them anew; the "
        "same as +rerank behind the retriever.",
    ),
]
RerankModelOption = Annotated[
    str | None,
    typer.Option(
        "--rerank-model",
        metavar="NAME",
        help="Re-rank by this one: builtin, a folder, or name@revision of a cross-encoder.",
        show_default=False,
    ),
]
RerankDepthOption = Annotated[
    int,
    typer.Option("--rerank-depth", min=1, help="How many passages it reads; each takes some 5 ms on a CPU."),
]
RERANK_DEPTH = RERANK_DEPTH


def rerank_model(rerank: bool, model: str | None) -> str:
    """The name of the cross-encoder to re-rank with; "" for none.

    >>> rerank_model(True, None), rerank_model(False, "mine"), rerank_model(False, None)
    ('builtin', 'mine', '')
    """
    return model or (RERANKER if rerank else "")


def reranked_names(names: Sequence[str], rerank: bool, model: str | None) -> list[str]:
    """Retrievers with "+rerank" behind each that is re-ranked: those that say so, or all.

    >>> reranked_names(["bm25", "bm25+rerank"], True, None)
    ['bm25+rerank', 'bm25+rerank']
    """
    from ...retrieval.reranking import SUFFIX

    some = any(name.endswith(SUFFIX) for name in names)
    everywhere = rerank or (model is not None and not some)
    return [name.removesuffix(SUFFIX) + SUFFIX if everywhere else name for name in names]
