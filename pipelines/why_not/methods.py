"""`Library.why_not`: what it needs is loaded when it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..questions import checked_k, checked_question
from ..reranking import DEPTH

if TYPE_CHECKING:
    from spanwise.types import Filter

    from ..library import Library
    from .loss import WhyNot


def lost(
    library: Library,
    document: str,
    question: str,
    words: str | None = None,
    k: int = 20,
    retriever: str | None = None,
    reader: str = "builtin",
    alternatives: int = 3,
    threshold: float | None = None,
    group: bool = True,
    where: Filter | None = None,
    rerank: str | None = None,
    rerank_depth: int = DEPTH,
    read_all: bool = False,
) -> WhyNot:
    """At which stage a document is lost that should have answered a question; for the rest see `ask`.

    `document` is an id, a path, or the end of an id that no other has; `words` are those of it that should
    have answered. DocumentNotFound for a name that is none. It is computed and not remembered.
    """
    from .why_not import Settings, why_not

    name = retriever or library.default_retriever
    asked, k = checked_question(question), checked_k(k)
    given = (k, name, rerank, rerank_depth, reader, alternatives, threshold, group, where, words, read_all)
    return why_not(library, document, asked, Settings(*given))
