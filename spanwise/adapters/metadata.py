"""The metadata of a hit as flat, plain values, which the stores and filters of other frameworks expect."""

from __future__ import annotations

from uuid import NAMESPACE_URL, uuid5

from spanwise import Library
from spanwise.types import Hit

PLACE = ("source", "page", "line", "label", "heading")
"""The keys that say where a passage is, in words that a language model can cite."""


def hit_metadata(hit: Hit) -> dict[str, str | int | float | None]:
    """Place, rank and scores of a hit.

    `source` is the document's id. `start` and `end` are code points of the document's stored text.
    """
    passage = hit.passage
    return {
        "source": passage.document_id,
        "passage": passage.id,
        "start": passage.start,
        "end": passage.end,
        "page": passage.page,
        "line": passage.line,
        "label": passage.label,
        "heading": " > ".join(passage.heading),
        "rank": hit.rank,
        "score": hit.score,
        **{f"score_{stage}": value for stage, value in hit.scores.items()},
    }


def hit_id(library: Library, hit: Hit) -> str:
    """The UUID of a passage by the path of its index, its document, start and end."""
    passage = hit.passage
    path = library.store.path.resolve().as_uri()
    return str(uuid5(NAMESPACE_URL, f"{path}#{passage.start}-{passage.end} {passage.document_id}"))
