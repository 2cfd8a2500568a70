"""Hits with what their scores rest on: computed and not remembered, as it holds words of the question."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from spanwise.types import Hit

from ..retrieval.alignment import aligned, check_alignable
from ..retrieval.protocol import TokenEncoder
from .generations import Generation, Generations


def explained(
    asked: Sequence[str],
    retriever: str,
    pool: int,
    generations: Generations,
    search: Callable[[Generation], list[list[Hit]]],
    encoder: Callable[[], TokenEncoder],
) -> list[list[Hit]]:
    """What `search` finds in the last generation, with alignments.

    Raises ValueError for a retriever without a colbert stage, and when `pool` tokens share a vector.
    """
    check_alignable(retriever, pool)
    with generations.last() as generation:
        return [
            aligned(question, found, generation.snapshot, encoder())
            for question, found in zip(asked, search(generation), strict=True)
        ]
