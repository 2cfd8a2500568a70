"""`Library.search` and `Library.search_many`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from spanwise.types import Hit, ProgressCallback, SearchOptions, no_progress

from .questions import checked_question
from .reranking import reranking_of

if TYPE_CHECKING:
    from .generations import Generation
    from .library import Library


def search(
    library: Library,
    question: str,
    options: SearchOptions | None = None,
    *,
    on_progress: ProgressCallback = no_progress,
    **changes: Any,
) -> list[Hit]:
    """The best `k` passages for a question, best first; `changes` are fields of `SearchOptions`."""
    return search_many(library, [question], options, on_progress=on_progress, **changes)[0]


def search_many(
    library: Library,
    questions: Sequence[str],
    options: SearchOptions | None = None,
    *,
    on_progress: ProgressCallback = no_progress,
    **changes: Any,
) -> list[list[Hit]]:
    """The best `k` passages for each question."""
    how = replace(options or SearchOptions(), **changes)
    asked = [checked_question(q) for q in questions]
    below, reranking = reranking_of(how.retriever or library.default_retriever, how.rerank, how.rerank_depth)

    def compute(generation: Generation) -> list[list[Hit]]:
        encoders = library._encoders(remembering=True)
        ranking = library._ranking(generation, below, encoders, reranking, on_progress, how.exact)
        among = generation.selection(how.where).passage_ids if how.where else None
        return (library.grouping(ranking) if how.dedupe else ranking).search(asked, how.k, among)

    call = {"verb": "search", "options": how, "retriever": below}
    depends = partial(library._models.known_to_search, library.model, library.colbert, below, reranking)
    return library._answers.results(list[Hit], asked, call, depends, compute)[0]
