"""Which retriever is used where none is named: one constant, and what follows from it.

Where it needs token vectors, a new index keeps them from the start unless it is told not to. An index that
was made before, or told not to, is searched by the one that needs none.
"""

from __future__ import annotations

DEFAULT_RETRIEVER = "hybrid"
WITHOUT_TOKENS = "hybrid"
COLBERT = "builtin"  # the model of the token vectors that a new index keeps


def needs_tokens() -> bool:
    """Whether the default retriever searches by token vectors."""
    return "colbert" in DEFAULT_RETRIEVER.split("+")


def default_retriever(has_tokens: bool) -> str:
    """The retriever of an index where none is named."""
    return DEFAULT_RETRIEVER if has_tokens or not needs_tokens() else WITHOUT_TOKENS
