"""The metadata of a hit in other frameworks: flat, plain values, as their stores and filters expect."""

from __future__ import annotations

from spanwise.types import Hit, Passage

Value = str | int | float | None

PLACE = ("source", "page", "line", "label", "heading")
"""Where a passage is, in words that a language model can cite."""


def place_metadata(passage: Passage) -> dict[str, Value]:
    """Where a passage is; `source` is the document's id, offsets are code points of its stored text.

    >>> place_metadata(Passage(7, "a.pdf", 4, 9, "words", page=2, heading=("Mill", "Rules")))["heading"]
    'Mill > Rules'
    """
    return {
        "source": passage.document_id,
        "passage": passage.id,
        "start": passage.start,
        "end": passage.end,
        "page": passage.page,
        "line": passage.line,
        "label": passage.label,
        "heading": " > ".join(passage.heading),
    }


def hit_metadata(hit: Hit) -> dict[str, Value]:
    """The place of a hit, its rank and score, and the score of each stage as "score_bm25"."""
    stages = {f"score_{stage}": value for stage, value in hit.scores.items()}
    return {**place_metadata(hit.passage), "rank": hit.rank, "score": hit.score, **stages}
