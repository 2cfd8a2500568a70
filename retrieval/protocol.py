"""What every retriever is: something that ranks passages for questions, end to end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from spanwise.types import Hit


class Retriever(Protocol):
    """`name` is the spelling that selects it: "bm25", "dense", "bm25+dense", …"""

    name: str

    def search(self, questions: Sequence[str], k: int) -> list[list[Hit]]:
        """For each question its best k hits, best first, ties by (document id, start)."""
