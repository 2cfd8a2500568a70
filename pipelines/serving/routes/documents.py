"""What stands in the index: documents with their text, and passages."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from fastapi import Path as InPath

from spanwise.types import Document

from ....corpora.path_patterns import path_matcher
from ....index.snapshot import Snapshot
from ...records import passage_record
from ..faults import Refused
from ..requests import MOST_CHARACTERS
from ..responses import Record
from ..service import Service, service_of
from ..utf16 import Utf16, astral_positions, utf16_offset
from .questions import known_document

router = APIRouter(prefix="/api")
Served = Annotated[Service, Depends(service_of)]
Id = Annotated[str, Query(min_length=1, max_length=MOST_CHARACTERS)]
MOST_LISTED = 1000
MOST_TEXT = 1_000_000  # characters of a document that are given at once
MOST_ID = 2**63 - 1


@router.get("/documents")
async def documents(
    service: Served,
    limit: Annotated[int, Query(ge=1, le=MOST_LISTED)] = 100,
    offset: Annotated[int, Query(ge=0, le=MOST_ID)] = 0,
    path: Annotated[str | None, Query(min_length=1, max_length=MOST_CHARACTERS)] = None,
) -> Record:
    """The documents by id, `limit` of them from `offset` on; `path` is a pattern such as "town/**"."""
    matches = path_matcher([path] if path else [])

    def read(snapshot: Snapshot) -> dict[str, Any]:
        found = [one for one in snapshot.descriptions() if matches(one.id)]
        return {
            "documents": [
                {
                    "document": one.id,
                    "title": one.title,
                    "media_type": one.media_type,
                    "metadata": dict(one.metadata),
                }
                for one in found[offset : offset + limit]
            ],
            "total": len(found),
            "limit": limit,
            "offset": offset,
        }

    return Record(await service.looked_up(read))


@router.get("/document")
async def document(
    service: Served,
    id: Id,
    start: Annotated[int, Query(ge=0, le=MOST_ID)] = 0,
    end: Annotated[int | None, Query(ge=0, le=MOST_ID)] = None,
) -> Record:
    """A document with its text, or the part of it from `start` to `end`; a very long one in parts.

    `text` holds the characters from `start` to `end` of the record, of `characters` that there are. Headings,
    labels and pages are those of the whole document.
    """

    def read(snapshot: Snapshot) -> dict[str, Any]:
        return document_record(snapshot.document(known_document(snapshot, id)), start, end)

    return Record(await service.looked_up(read))


def document_record(found: Document, start: int = 0, end: int | None = None) -> dict[str, Any]:
    """A document as JSON values; offsets are code points of the whole text, with those of UTF-16 beside."""
    text = found.text
    end = min(len(text) if end is None else end, len(text), start + MOST_TEXT)
    if start > end:
        raise Refused(400, "BadRequest", f"start is {start}, expected at most {end}")
    astral = astral_positions(text)

    def at(offset: int) -> int:
        return utf16_offset(astral, offset)

    return {
        "document": found.id,
        "title": found.title,
        "media_type": found.media_type,
        "sha256": found.sha256,
        "metadata": dict(found.metadata),
        "characters": len(text),
        "start": start,
        "end": end,
        "utf16": {"start": at(start), "end": at(end)},
        "text": text[start:end],
        "page_starts": [{"start": page, "utf16": at(page)} for page in found.page_starts],
        "headings": [
            {"start": one.start, "utf16": at(one.start), "level": one.level, "text": one.text}
            for one in found.headings
        ],
        "labels": [{"start": one.start, "utf16": at(one.start), "text": one.text} for one in found.labels],
    }


@router.get("/passages")
async def passages(
    service: Served,
    document: Id,
    limit: Annotated[int, Query(ge=1, le=MOST_LISTED)] = MOST_LISTED,
    offset: Annotated[int, Query(ge=0, le=MOST_ID)] = 0,
) -> Record:
    """The passages of a document by their place, `limit` of them from `offset` on."""

    def read(snapshot: Snapshot) -> dict[str, Any]:
        ids = snapshot.passage_ids_of([known_document(snapshot, document)]).tolist()
        places = sorted(zip(snapshot.places(ids), ids, strict=True))
        found = snapshot.passages([number for _, number in places[offset : offset + limit]])
        utf16 = Utf16(snapshot)
        return {
            "document": document,
            "passages": [utf16.added(passage_record(one)) for one in found],
            "total": len(ids),
            "limit": limit,
            "offset": offset,
        }

    return Record(await service.looked_up(read))


@router.get("/passages/{id}")
async def passage(service: Served, id: Annotated[int, InPath(ge=1, le=MOST_ID)]) -> Record:
    """One passage by its id, which no other passage will ever have."""

    def read(snapshot: Snapshot) -> dict[str, Any]:
        try:
            [found] = snapshot.passages([id])
        except ValueError:
            raise Refused(404, "PassageNotFound", f"no passage has the id {id}") from None
        record: dict[str, Any] = Utf16(snapshot).added(passage_record(found))
        return record

    return Record(await service.looked_up(read))
