"""What a text may rest on: the sentences of passages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spanwise.types import Passage

from .citing import Piece, pieces_of


@dataclass(frozen=True, slots=True)
class Evidence:
    """Sentences of passages, and their words."""

    pieces: Sequence[Piece]
    texts: Sequence[str]


def evidence_of(passages: Sequence[Passage]) -> Evidence:
    """The sentences of passages."""
    pieces = pieces_of(passages)
    return Evidence(pieces, [piece.span.text for piece in pieces])
