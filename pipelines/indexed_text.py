"""The text of a passage that is searched and encoded."""

from __future__ import annotations

from spanwise.types import Passage


def indexed_text(passage: Passage) -> str:
    """What is searched for a passage: its heading path, then its words."""
    return "\n".join([*passage.heading, passage.text])
