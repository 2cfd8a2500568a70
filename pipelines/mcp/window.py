"""A passage, or a window of a document, with the place that it has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spanwise.types import Document, Passage

from ...corpora.passages import passages_at
from ..library import Library
from ..folders import resolve_document_id
from .arguments import WINDOW_CHARACTERS, ReadPassage


@dataclass(frozen=True, slots=True)
class Window:
    """A piece of a document: `place` has its offsets, words, page, line and headings; id 0 for no passage."""

    document: Document
    place: Passage


def window(library: Library, wanted: ReadPassage) -> Window:
    """The passage of that number, or the piece of a document, which ends with the document.

    Without an end it is as long as a window may be. `ValueError` for a passage that is not there, as after an
    update of its document, and for a start behind the end; DocumentNotFound for no document.
    """
    with library.reading() as snapshot:
        if wanted.passage is not None:
            [passage] = snapshot.passages([wanted.passage])
            return Window(snapshot.document(passage.document_id), passage)
        name = resolve_document_id(str(wanted.document), set(snapshot.document_ids()))
        document = snapshot.document(name)
    start = wanted.start or 0
    if start >= len(document.text) > 0:
        raise ValueError(f"{name} has {len(document.text):,} characters: there is nothing at {start:,}")
    end = min(wanted.end or start + WINDOW_CHARACTERS, len(document.text))
    [place] = passages_at(document, [(start, end)])
    return Window(document, place)


def window_record(found: Window) -> dict[str, Any]:
    """A window as plain values; offsets are code points of the document, which has `characters` of them."""
    document, place = found.document, found.place
    return {
        "document": document.id,
        "title": document.title,
        "media_type": document.media_type,
        "passage": place.id or None,
        "start": place.start,
        "end": place.end,
        "characters": len(document.text),
        "page": place.page,
        "line": place.line,
        "label": place.label,
        "heading": list(place.heading),
        "text": place.text,
    }
