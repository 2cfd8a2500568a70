"""`Library.explain`: what it needs is loaded when it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..questions import checked_k, checked_question
from ..reranking import DEPTH

if TYPE_CHECKING:
    from spanwise.types import Filter

    from ..library import Library
    from .explanation import Explanation


def explain(
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
    max_error: float | None = None,
    read_all: bool = False,
) -> Explanation:
    """The answer to a question and what it rests on; for the arguments see `ask`.

    It is computed and not remembered, as it holds words of the question.
    """
    from .explanation import explained_answer

    asked, k, name = checked_question(question), checked_k(k), retriever or library.default_retriever
    given = (k, name, reader, alternatives, threshold, group, where, rerank, rerank_depth)
    return explained_answer(library, asked, *given, max_error, read_all)
