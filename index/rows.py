"""Documents and passages as rows of the catalog, each with a digest of all that is served from it.

SQLite does not notice a flipped bit inside a value, so a row proves itself by its digest each time it is
read. A passage's digest covers its text, which is stored once, in its document. The size and time of a file
are only hints for the next sync and stay outside.

Rows of format 1 have no labels and no content digest: their digests cover the columns that they have.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from spanwise.errors import DocumentRejected
from spanwise.types import Document, Heading, Label, Passage

Row = dict[str, Any]
_DOCUMENT = ("id", "sha256", "media_type", "title", "page_starts", "headings", "labels", "metadata", "text")
_PASSAGE = ("document_id", "start", "end", "page", "line", "heading", "label", "content")
_REFUSAL = ("document_id", "size", "mtime_ns", "kind", "reason", "reader")
_json = json.JSONEncoder(ensure_ascii=False, sort_keys=True).encode  # `json.dumps` would make one a call


@dataclass(frozen=True, slots=True)
class FileState:
    """What tells whether a file has changed: its size in bytes, its time, and the digest of its bytes."""

    size: int
    mtime_ns: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """A file that was found and not stored, and why: broken or forbidden ("rejected"), or no document at all
    ("skipped"). `reader` is the version of what refused it: another version may think better of it.
    """

    size: int
    mtime_ns: int
    kind: Literal["rejected", "skipped"]
    reason: str
    reader: str = ""


@dataclass(frozen=True, slots=True)
class Description:
    """What is known about a document without reading its text."""

    id: str
    media_type: str
    title: str
    metadata: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Facts:
    """What a filter looks at, an entry for each document in each column, in no certain order.

    `mtimes_ns` are those of the files, nanoseconds since 1970, 0 where there is none.
    """

    ids: Sequence[str]
    media_types: Sequence[str]
    mtimes_ns: Sequence[int]
    metadata: Sequence[Mapping[str, str]]


def indexed_text(passage: Passage) -> str:
    """What is searched for a passage: its heading path, then its words, a line each."""
    return _indexed_text(passage.heading, passage.text)


def content_digest(heading: Sequence[str], text: str) -> str:
    """The digest of what is searched and encoded: passages that agree in it have the same vector."""
    return hashlib.sha256(_indexed_text(heading, text).encode("utf-8")).hexdigest()


def document_row(document: Document, state: FileState) -> Row:
    """The row that stores a document; `DocumentRejected` for text that no file can hold."""
    row = {
        "id": document.id,
        "size": state.size,
        "mtime_ns": state.mtime_ns,
        "sha256": document.sha256,
        "media_type": document.media_type,
        "title": document.title,
        "page_starts": _json(document.page_starts),
        "headings": _json([(heading.start, heading.level, heading.text) for heading in document.headings]),
        "labels": _json([(label.start, label.text) for label in document.labels]),
        "metadata": _json(dict(document.metadata)),
        "text": document.text,
    }
    try:
        return row | {"digest": document_digest(row)}
    except UnicodeEncodeError as error:
        at = f"{error.object[error.start]!r} cannot be stored"
        raise DocumentRejected(f"{document.id!a}: a lone surrogate, {at}") from None


def document_digest(row: Mapping[str, Any]) -> str:
    """The digest a document's row must have."""
    return _digest([row[column] for column in _DOCUMENT if column in row])


def document_of(row: Mapping[str, Any]) -> Document:
    """The document that a row stores."""
    return Document(
        id=row["id"],
        media_type=row["media_type"],
        sha256=row["sha256"],
        title=row["title"],
        text=row["text"],
        page_starts=tuple(json.loads(row["page_starts"])),
        headings=tuple(Heading(*heading) for heading in json.loads(row["headings"])),
        labels=tuple(Label(*label) for label in json.loads(row.get("labels", "[]"))),
        metadata=json.loads(row["metadata"]),
    )


def passage_row(passage: Passage) -> Row:
    """The row that stores a passage; its id is given by the catalog."""
    row = {
        "document_id": passage.document_id,
        "start": passage.start,
        "end": passage.end,
        "page": passage.page,
        "line": passage.line,
        "heading": _json(passage.heading),
        "label": passage.label,
        "content": content_digest(passage.heading, passage.text),
    }
    return row | {"digest": passage_digest(row, passage.text)}


def passage_digest(row: Mapping[str, Any], text: str) -> str:
    """The digest a passage's row must have when its document says `text` at its place."""
    return _digest([row[column] for column in _PASSAGE if column in row] + [text])


def passage_of(row: Mapping[str, Any], text: str) -> Passage:
    """The passage that a row stores, with its text."""
    return Passage(
        id=row["id"],
        document_id=row["document_id"],
        start=row["start"],
        end=row["end"],
        text=text,
        page=row["page"],
        line=row["line"],
        heading=tuple(json.loads(row["heading"])),
        label=row.get("label", ""),
    )


def refusal_row(document_id: str, refusal: Refusal) -> Row:
    """The row that stores a refusal."""
    row = {
        "document_id": document_id,
        "size": refusal.size,
        "mtime_ns": refusal.mtime_ns,
        "kind": refusal.kind,
        "reason": refusal.reason,
        "reader": refusal.reader,
    }
    return row | {"digest": refusal_digest(row)}


def refusal_digest(row: Mapping[str, Any]) -> str:
    """The digest a refusal's row must have."""
    return _digest([row[column] for column in _REFUSAL])


def refusal_of(row: Mapping[str, Any]) -> Refusal:
    """The refusal that a row stores."""
    return Refusal(row["size"], row["mtime_ns"], row["kind"], row["reason"], row["reader"])


def _indexed_text(heading: Sequence[str], text: str) -> str:
    return "\n".join([*heading, text])


def _digest(values: list[Any]) -> str:
    return hashlib.sha256(_json(values).encode("utf-8")).hexdigest()
