"""`Library.ask` and `Library.ask_many`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from spanwise.types import Answer, AskOptions, ProgressCallback, no_progress

from .questions import checked_question
from .reranking import reranking_of

if TYPE_CHECKING:
    from .generations import Generation
    from .library import Library


def ask(
    library: Library,
    question: str,
    options: AskOptions | None = None,
    *,
    on_progress: ProgressCallback = no_progress,
    **changes: Any,
) -> Answer:
    """The answer to a question, or one whose `best` is None; `changes` are fields of `AskOptions`."""
    return ask_many(library, [question], options, on_progress=on_progress, **changes)[0]


def ask_many(
    library: Library,
    questions: Sequence[str],
    options: AskOptions | None = None,
    *,
    on_progress: ProgressCallback = no_progress,
    **changes: Any,
) -> list[Answer]:
    """One answer a question; models are loaded once."""
    how = replace(options or AskOptions(), **changes)
    asked = [checked_question(q) for q in questions]
    began = time.perf_counter()
    below, reranking = reranking_of(how.retriever or library.default_retriever, how.rerank, how.rerank_depth)

    def compute(generation: Generation) -> list[Answer]:
        encoders = library._encoders(remembering=True)
        ranking = library._ranking(generation, below, encoders, reranking, on_progress, how.exact)
        return library._asker(generation, ranking, how, True).ask(asked)

    call = {"verb": "ask", "options": how, "retriever": below}
    reader = how.reader
    depends = partial(library._models.known_to_ask, library.model, library.colbert, below, reader, reranking)
    answers, cached = library._answers.results(Answer, asked, call, depends, compute)
    if not cached:
        return answers
    took = {"cache": (time.perf_counter() - began) * 1000}
    return [replace(answer, cached=True, timings_ms=took) for answer in answers]
