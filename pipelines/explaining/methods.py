"""`Library.explain`: what it needs is loaded when it is called."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from spanwise.types import AskOptions

from ..questions import checked_question

if TYPE_CHECKING:
    from ..library import Library
    from .explanation import Explanation


def explain(
    library: Library, question: str, options: AskOptions | None = None, **changes: Any
) -> Explanation:
    """The answer to a question and what it rests on; `changes` are fields of `AskOptions`.

    It is computed and not cached.
    """
    from .explanation import explained_answer

    return explained_answer(library, checked_question(question), replace(options or AskOptions(), **changes))
