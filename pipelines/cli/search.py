"""`spanwise search QUESTION`: the best passages for a question."""

from __future__ import annotations

from typing import Annotated

import typer

from spanwise.types import SearchOptions

from ..models import DEFAULT_RETRIEVER
from ..records import search_record
from .options import (
    AfterOption,
    BeforeOption,
    DedupeOption,
    IndexOption,
    JsonOption,
    MetaOption,
    PathOption,
    RerankModelOption,
    RerankOption,
    RetrieverOption,
    TypeOption,
    filter_of,
    library_of,
    options_of,
    rerank_name,
    reranked,
)
from .show import empty_filter, print_json, progress, say, show_hits


def search(
    context: typer.Context,
    question: Annotated[str, typer.Argument(help="The question, or words.", show_default=False)],
    index: IndexOption = None,
    retriever: RetrieverOption = None,
    rerank: RerankOption = False,
    rerank_model: RerankModelOption = None,
    k: Annotated[int, typer.Option("-k", min=1, help="Number of passages.")] = 10,
    dedupe: DedupeOption = True,
    path: PathOption = None,
    type: TypeOption = None,
    after: AfterOption = None,
    before: BeforeOption = None,
    meta: MetaOption = None,
    json: JsonOption = False,
) -> None:
    """Print the best passages for a question."""
    model, where = rerank_name(rerank, rerank_model), filter_of(path, type, after, before, meta)
    options = options_of(
        SearchOptions, context, k=k, retriever=retriever or "", rerank=model, dedupe=dedupe, where=where
    )
    with library_of(None, index) as library:
        with progress(after_s=2) as report:
            hits = library.search(question, options, on_progress=report)
        scope = library.scope(where) if where else None
    if nothing := empty_filter(scope):
        say(nothing)
    if json:
        [name] = reranked([retriever or DEFAULT_RETRIEVER], bool(model))
        print_json(search_record(question, name, hits, scope))
    else:
        show_hits(hits)
