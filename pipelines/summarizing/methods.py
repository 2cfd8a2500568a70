"""`Library.summarize` and `Library.summary_sentences`: what they need is loaded when they are called."""

from __future__ import annotations

import time
from collections.abc import Generator as Pieces
from typing import TYPE_CHECKING

from spanwise.types import SearchOptions

from ..ask import checked_question
from ..models import RERANK_DEPTH
from ..models import RERANK_DEPTH

if TYPE_CHECKING:
    from spanwise.types import Answer, Filter

    from ..library import Library
    from .summary import Summary, SummarySentence
    from .writing import Writing

EXTRACTIVE = "extractive"


def summarize(
    library: Library,
    question: str | None = None,
    document: str | None = None,
    length: str = "medium",
    writing: Writing | None = None,
    strict: bool = False,
    k: int = 20,
    retriever: str | None = None,
    group: bool = True,
    where: Filter | None = None,
    rerank: str = "",
    rerank_depth: int = RERANK_DEPTH,
) -> Summary:
    """A summary in which every sentence is checked and cites the spans that carry it.

    Of the best `k` passages for a `question`; without one of a `document` (an id, a path, or the end of an
    id), or of all documents that `where` leaves. `length` is "short", "medium" or "long". Without `writing`
    its sentences are chosen from the passages and quoted; else they are written by a generator, and `strict`
    drops those that are not supported. A summary
    without sentences is a refusal. IndexEmpty without any passage, DocumentNotFound for a document that is
    none, ValueError for question and document together.
    """
    from .summarize import exhausted

    given = (document, length, writing, strict, k, retriever, group, where, rerank, rerank_depth)
    return exhausted(summary_sentences(library, question, *given))


def summary_sentences(
    library: Library,
    question: str | None = None,
    document: str | None = None,
    length: str = "medium",
    writing: Writing | None = None,
    strict: bool = False,
    k: int = 20,
    retriever: str | None = None,
    group: bool = True,
    where: Filter | None = None,
    rerank: str = "",
    rerank_depth: int = RERANK_DEPTH,
) -> Pieces[SummarySentence, None, Summary]:
    """Yields the sentences of a summary as they come, each after its check; returns it. See `summarize`."""
    from .gathered import found, whole
    from .lengths import length_of
    from .summarize import Summarizer

    if question is not None and document is not None:
        raise ValueError("a question is answered from all documents: give a question or a document")
    asked = "" if question is None else checked_question(question)
    wanted, began = length_of(length), time.perf_counter()
    options = SearchOptions(k, retriever or "", rerank, rerank_depth, group, where)
    with library._views.current() as view:
        snapshot, name = view.hold(), ""
        if asked:
            ranking = view.retriever(options, library._models)
            name = ranking.name
            gathered = found(view, ranking, asked, k, where)
        else:
            gathered = whole(view, document, where, library.roots)
    took = {"retrieve": (time.perf_counter() - began) * 1000}
    summarizer = Summarizer(
        *(
            asked,
            gathered,
            snapshot,
            view.analyzer,
            lambda: library._models.reader("builtin"),
        ),
        *(wanted, name, strict, writing, took),
    )
    return (yield from summarizer.sentences())


def written(library: Library, answer: Answer, writing: Writing | None = None) -> Summary:
    """The written form of an answer, each sentence checked and cited; a refusal for a declined one.

    Without `writing` it is the sentence that carries the answer; see `of_answer`.
    """
    from .of_answer import written_answer

    with library._views.current() as view:
        snapshot = view.hold()
    return written_answer(answer, snapshot, view.analyzer, writing)
