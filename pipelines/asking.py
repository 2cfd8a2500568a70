"""`Library.ask` and its kin: one question, many at once, or one after the other as they come."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from spanwise.types import Answer, Filter

from .progress import Report, silent
from .questions import batches, checked_k, checked_question
from .reranking import DEPTH, reranking_of

if TYPE_CHECKING:
    from .generations import Generation
    from .library import Library


def ask(
    library: Library,
    question: str,
    k: int = 20,
    retriever: str | None = None,
    reader: str = "builtin",
    alternatives: int = 3,
    threshold: float | None = None,
    group: bool = True,
    where: Filter | None = None,
    rerank: str | None = None,
    rerank_depth: int = DEPTH,
    report: Report = silent,
    max_error: float | None = None,
    read_all: bool = False,
) -> Answer:
    """The answer to a question, or one whose `best` is None; see `Asker.ask` for the arguments.

    With `group` a text that several passages repeat is read once; where figures differ, each is read.
    `where` says which documents are searched and read; for `rerank` see `search`. With `max_error`, such
    as 0.1, what is declined is chosen so that at most this share of the answers given is wrong, on
    questions like those that the confidence was fitted on; it takes the place of `threshold`.
    `read_all` reads all `k` passages, also where the first would have been enough.
    """
    given = (k, retriever, reader, alternatives, threshold, group, where, rerank, rerank_depth, report)
    return ask_many(library, [question], *given, max_error, read_all)[0]


def ask_many(
    library: Library,
    questions: Sequence[str],
    k: int = 20,
    retriever: str | None = None,
    reader: str = "builtin",
    alternatives: int = 3,
    threshold: float | None = None,
    group: bool = True,
    where: Filter | None = None,
    rerank: str | None = None,
    rerank_depth: int = DEPTH,
    report: Report = silent,
    max_error: float | None = None,
    read_all: bool = False,
) -> list[Answer]:
    """One answer a question; models are loaded once."""
    asked = [checked_question(q) for q in questions]
    began, k = time.perf_counter(), checked_k(k)
    below, reranking = reranking_of(retriever or library.default_retriever, rerank, rerank_depth)

    def compute(generation: Generation) -> list[Answer]:
        ranking = library._ranking(generation, below, library._encoders(remembering=True), reranking, report)
        asker = library._asker(generation, ranking, reader, True, group, where)
        return asker.ask(asked, k, alternatives, threshold, max_error, read_all)

    call = {"verb": "ask", "k": k, "retriever": below, "group": group, "rerank": reranking}
    call |= {"reader": reader, "alternatives": alternatives, "threshold": threshold}
    call |= {"where": where, "exact": library.exact, "max_error": max_error, "read_all": read_all}
    depends = partial(library._models.known_to_ask, library.model, library.colbert, below, reader, reranking)
    answers, cached = library._answers.results(Answer, asked, call, depends, compute)
    if not cached:
        return answers
    took = {"cache": (time.perf_counter() - began) * 1000}
    return [replace(answer, cached=True, timings_ms=took) for answer in answers]


def ask_each(
    library: Library,
    questions: Iterable[str],
    k: int = 20,
    retriever: str | None = None,
    reader: str = "builtin",
    alternatives: int = 3,
    threshold: float | None = None,
    group: bool = True,
    where: Filter | None = None,
    rerank: str | None = None,
    rerank_depth: int = DEPTH,
    report: Report = silent,
    max_error: float | None = None,
    read_all: bool = False,
    at_once: int = 1,
) -> Generator[Answer, None, None]:
    """Yields an answer a question, in order, as soon as it is there; the next question is taken after that.

    `questions` may be without end. So many as `at_once` are computed together: more take less time each, and
    the first waits for the others; single ones are also looked up among the answers that were kept. Between
    two answers others may use the library, and each sees the last commit.
    """
    given = (k, retriever, reader, alternatives, threshold, group, where, rerank, rerank_depth, report)
    for some in batches(questions, at_once):
        yield from ask_many(library, some, *given, max_error, read_all)
