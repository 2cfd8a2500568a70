"""`Library.search` and its kin: one question, many at once, or one after the other as they come."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from spanwise.types import Filter, Hit

from .progress import Report, silent
from .questions import batches, checked_k, checked_question
from .reranking import DEPTH, reranking_of

if TYPE_CHECKING:
    from .generations import Generation
    from .library import Library


def search(
    library: Library,
    question: str,
    k: int = 10,
    retriever: str | None = None,
    group: bool = True,
    where: Filter | None = None,
    rerank: str | None = None,
    rerank_depth: int = DEPTH,
    report: Report = silent,
) -> list[Hit]:
    """The best `k` passages for a question, best first; `group` folds near-duplicates into one hit.

    Without a `retriever` it is the default one of the index. `where` says which documents are searched;
    then too there are `k` hits when so many passages match. `rerank` names a cross-encoder, which reads the
    best `rerank_depth` passages together with the question and ranks them anew: "builtin", a folder, or
    name@revision. It takes milliseconds a passage; `report` hears of its progress. "bm25+rerank" as the
    retriever says the same as "bm25" and "builtin".
    """
    given = (k, retriever, group, where, rerank, rerank_depth, report)
    return search_many(library, [question], *given)[0]


def search_many(
    library: Library,
    questions: Sequence[str],
    k: int = 10,
    retriever: str | None = None,
    group: bool = True,
    where: Filter | None = None,
    rerank: str | None = None,
    rerank_depth: int = DEPTH,
    report: Report = silent,
) -> list[list[Hit]]:
    """The best `k` passages for each question."""
    asked, k = [checked_question(q) for q in questions], checked_k(k)
    below, reranking = reranking_of(retriever or library.default_retriever, rerank, rerank_depth)

    def compute(generation: Generation) -> list[list[Hit]]:
        ranking = library._ranking(generation, below, library._encoders(remembering=True), reranking, report)
        among = generation.selection(where).passage_ids if where else None
        return (library.grouping(ranking) if group else ranking).search(asked, k, among)

    call = {"verb": "search", "k": k, "retriever": below, "group": group, "rerank": reranking}
    call |= {"where": where, "exact": library.exact}
    depends = partial(library._models.known_to_search, library.model, library.colbert, below, reranking)
    return library._answers.results(list[Hit], asked, call, depends, compute)[0]


def search_each(
    library: Library,
    questions: Iterable[str],
    k: int = 10,
    retriever: str | None = None,
    group: bool = True,
    where: Filter | None = None,
    rerank: str | None = None,
    rerank_depth: int = DEPTH,
    report: Report = silent,
    at_once: int = 1,
) -> Generator[list[Hit], None, None]:
    """Yields the hits of each question, in order, as soon as they are there; see `search` and `ask_each`."""
    given = (k, retriever, group, where, rerank, rerank_depth, report)
    for some in batches(questions, at_once):
        yield from search_many(library, some, *given)
