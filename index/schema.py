"""The tables of the catalog, and its rows: documents, passages and unread files with their digests.

SQLite does not notice a flipped bit inside a value, so every row holds a digest that is compared each time
the row is read. The digest of a passage covers its text, which is stored once, in its document. The size and
time of a file are only hints for the next sync, so no digest covers them.
"""

import json
import os
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from spanwise.errors import DocumentRejected, FormatTooNew, FormatTooOld
from spanwise.types import Bounds, Document, Heading, Label, Passage

from .files import FORMAT, OLDEST, corruption, named_errors, publish, sha256_of

_APPLICATION_ID = 0x7370616E  # "span", in the header of the file
_BUSY_TIMEOUT_S = 5.0

# `text` is the last column, so that reading the others does not page through it.
_TABLES = f"""
PRAGMA application_id = {_APPLICATION_ID};
PRAGMA user_version = {FORMAT};
CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE state (
    one INTEGER PRIMARY KEY CHECK (one = 1), generation INTEGER NOT NULL, documents INTEGER NOT NULL,
    passages INTEGER NOT NULL, digest TEXT NOT NULL
) STRICT;
CREATE TABLE documents (
    id TEXT PRIMARY KEY NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, sha256 TEXT NOT NULL,
    media_type TEXT NOT NULL, title TEXT NOT NULL, page_starts TEXT NOT NULL, headings TEXT NOT NULL,
    labels TEXT NOT NULL, metadata TEXT NOT NULL, left_out TEXT NOT NULL, stamp TEXT NOT NULL,
    digest TEXT NOT NULL, text TEXT NOT NULL
) STRICT;
CREATE TABLE passages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, document_id TEXT NOT NULL REFERENCES documents (id),
    start INTEGER NOT NULL, "end" INTEGER NOT NULL, page INTEGER, line INTEGER NOT NULL,
    heading TEXT NOT NULL, label TEXT NOT NULL, left_out TEXT NOT NULL, content TEXT NOT NULL,
    digest TEXT NOT NULL
) STRICT;
CREATE INDEX passages_by_place ON passages (document_id, start, "end");
CREATE INDEX passages_by_content ON passages (content);
CREATE TABLE tombstones (passage_id INTEGER PRIMARY KEY, content TEXT) STRICT;
CREATE INDEX tombstones_by_content ON tombstones (content);
CREATE TABLE refusals (
    document_id TEXT PRIMARY KEY NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
    kind TEXT NOT NULL, reason TEXT NOT NULL, reader TEXT NOT NULL, digest TEXT NOT NULL
) STRICT;
CREATE TABLE segments (
    position INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL,
    model TEXT NOT NULL, rows INTEGER NOT NULL
) STRICT;
"""

# Format 4 has no `left_out` and no `stamp`: readers take them as empty, the first writer adds them.
_UPGRADE = f"""
BEGIN IMMEDIATE;
ALTER TABLE documents ADD COLUMN left_out TEXT NOT NULL DEFAULT '[]';
ALTER TABLE documents ADD COLUMN stamp TEXT NOT NULL DEFAULT '';
ALTER TABLE passages ADD COLUMN left_out TEXT NOT NULL DEFAULT '[]';
PRAGMA user_version = {FORMAT};
COMMIT;
"""
NONE_LEFT_OUT = "[]"
ABSENT = " absent "

TableRow = dict[str, Any]
_DOCUMENT = ("id", "sha256", "media_type", "title", "page_starts", "headings", "labels", "metadata", "text")
_PASSAGE = ("document_id", "start", "end", "page", "line", "heading", "label", "content")
_UNREAD = ("document_id", "size", "mtime_ns", "kind", "reason", "reader")
_json = json.JSONEncoder(ensure_ascii=False, sort_keys=True).encode  # `json.dumps` makes an encoder per call


@dataclass(frozen=True, slots=True)
class FileState:
    """The state that shows whether a file has changed.

    size: in bytes
    mtime_ns: the time of its last change, in nanoseconds since 1970
    sha256: the digest of its bytes
    stamp: see `FoundFile`; empty if unknown. After `ABSENT` the readers of a file that is not there now
    """

    size: int
    mtime_ns: int
    sha256: str
    stamp: str = ""

    @property
    def is_absent(self) -> bool:
        """True for a document that is kept although its file is not there now."""
        return ABSENT in self.stamp

    @property
    def device(self) -> str:
        """The device of its folder; empty if unknown."""
        parts = self.stamp.partition(ABSENT)[0].split()
        return parts[2] if len(parts) == 3 else ""


@dataclass(frozen=True, slots=True)
class UnreadFile:
    """A file that could not be read as a document.

    size, mtime_ns: see `FileState`
    kind: "rejected" if it is broken or forbidden, "skipped" if it is no document
    reason: why it was not read
    reader: the version of the reader that refused it; another version may accept it
    """

    size: int
    mtime_ns: int
    kind: Literal["rejected", "skipped"]
    reason: str
    reader: str = ""


class Description(NamedTuple):
    """A document without its text.

    id: its path relative to its root
    media_type, title, metadata: see `Document`
    mtime_ns: the time of its file, in nanoseconds since 1970; 0 if unknown
    """

    id: str
    media_type: str
    title: str
    mtime_ns: int
    metadata: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SegmentEntry:
    """A segment as the catalog lists it.

    id: the digest of its manifest
    kind: see `segment.Manifest`
    model: the digest of the model that made it, or empty
    rows: the number of passages, deleted ones included
    """

    id: str
    kind: str
    model: str
    rows: int


@dataclass(frozen=True, slots=True)
class CommitState:
    """One commit.

    generation: the number of the commit
    n_documents, n_passages: of the live rows
    digest: over everything that search results depend on
    """

    generation: int
    n_documents: int
    n_passages: int
    digest: str


def state_digest(
    generation: int,
    n_documents: int,
    n_passages: int,
    settings: Mapping[str, str],
    segments: Sequence[SegmentEntry],
    deleted: bytes,
) -> str:
    """The digest over counts, settings, segment names and deleted passages. A lost row changes it.

    deleted: the ids of the deleted passages, ascending, as little-endian int64
    """
    entries = [(entry.id, entry.kind, entry.model, entry.rows) for entry in segments]
    head = json.dumps([generation, n_documents, n_passages, sorted(settings.items()), entries])
    return sha256_of(head.encode("utf-8") + deleted)


def create_catalog(path: Path, settings: Mapping[str, str]) -> None:
    """Atomically create an empty catalog with these settings. Raise `FileExistsError` if there is one."""
    from sqlite_utils import Database

    if path.exists():
        raise FileExistsError(f"{path} exists already")
    temporary = path.with_name(path.name + ".unfinished")
    temporary.unlink(missing_ok=True)
    with named_errors(path), closing(_connect(temporary, "mode=rwc")) as connection:
        database = Database(connection, execute_plugins=False)
        database.enable_wal()
        database.executescript(_TABLES)
        database.table("settings").insert_all({"key": k, "value": settings[k]} for k in sorted(settings))
        empty = state_digest(0, 0, 0, settings, [], b"")
        state = {"one": 1, "generation": 0, "documents": 0, "passages": 0, "digest": empty}
        database.table("state").insert(state)
    with named_errors(path):
        publish(temporary, path)


def open_catalog(path: Path) -> sqlite3.Connection:
    """A connection to an existing catalog whose header was checked.

    In a read-only folder SQLite cannot keep the log that readers and writers share. A catalog without a log
    is then opened as immutable; the next snapshot opens it again.
    """
    with named_errors(path):
        try:
            return _checked(_connect(path, "mode=rw"), path)
        except sqlite3.OperationalError:
            log = path.with_name(path.name + "-wal")
            if os.access(path.parent, os.W_OK) or log.exists():
                raise
            return _checked(_connect(path, "mode=ro&immutable=1"), path)


def upgrade(path: Path) -> None:
    """Give a catalog of format 4 the columns of this format; the caller holds the write lock."""
    with named_errors(path), closing(open_catalog(path)) as connection:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version < FORMAT:
            connection.executescript(_UPGRADE)


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    """A connection for several threads, with explicit transactions only.

    Every commit is durable when it returns.
    """
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{mode}",
        uri=True,
        timeout=_BUSY_TIMEOUT_S,
        isolation_level=None,
        check_same_thread=False,
    )
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA journal_size_limit = 16777216")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA trusted_schema = OFF")  # the file is untrusted input
    connection.execute("PRAGMA cell_size_check = ON")
    return connection


def _checked(connection: sqlite3.Connection, path: Path) -> sqlite3.Connection:
    """The connection; it is closed unless the header is that of a catalog of this format."""
    try:
        (application_id,) = connection.execute("PRAGMA application_id").fetchone()
        if application_id != _APPLICATION_ID:
            raise corruption(path, "it is not the catalog of a spanwise index")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        formats = f"{path} has format {version}, this program reads format {FORMAT}"
        if version > FORMAT:
            raise FormatTooNew(f"{formats}: install a newer spanwise")
        if version < OLDEST:
            raise FormatTooOld(f"{formats}: delete the index and run `spanwise index FOLDER` again")
    except BaseException:
        connection.close()
        raise
    return connection


def indexed_text(passage: Passage) -> str:
    """The text that is searched and encoded for a passage: its headings, one per line, then its text.

    Without what is left out of it.
    """
    return "\n".join([*passage.heading, passage.readable])


def document_row(document: Document, state: FileState) -> TableRow:
    """The row that stores a document. Raise `DocumentRejected` for text that UTF-8 cannot hold."""
    row = {
        "id": document.id,
        "size": state.size,
        "mtime_ns": state.mtime_ns,
        "stamp": state.stamp,
        "sha256": document.sha256,
        **document_structure(document),
        "text": document.text,
    }
    try:
        return row | {"digest": document_digest(row)}
    except UnicodeEncodeError as error:
        surrogate = error.object[error.start]
        raise DocumentRejected(f"{document.id!a}: a lone surrogate, {surrogate!r} cannot be stored") from None


def document_structure(document: Document) -> TableRow:
    """The columns of a document, except its id, its text and the state of its file."""
    return {
        "media_type": document.media_type,
        "title": document.title,
        "page_starts": _json(document.page_starts),
        "headings": _json([(heading.start, heading.level, heading.text) for heading in document.headings]),
        "labels": _json([(label.start, label.text) for label in document.labels]),
        "metadata": _json(dict(document.metadata)),
        "left_out": _json(document.left_out),
    }


def document_digest(row: TableRow) -> str:
    """The expected digest of a document's row."""
    return _digest([row[column] for column in _DOCUMENT] + _left_out(row))


def document_from_row(row: TableRow) -> Document:
    """The document stored in a row."""
    return Document(
        id=row["id"],
        media_type=row["media_type"],
        sha256=row["sha256"],
        title=row["title"],
        text=row["text"],
        page_starts=tuple(json.loads(row["page_starts"])),
        headings=tuple(Heading(*heading) for heading in json.loads(row["headings"])),
        labels=tuple(Label(*label) for label in json.loads(row["labels"])),
        metadata=json.loads(row["metadata"]),
        left_out=_bounds(row),
    )


def passage_row(passage: Passage) -> TableRow:
    """The row that stores a passage, without its id, which the catalog assigns.

    `content` is the digest of its indexed text: passages with equal `content` have equal vectors.
    """
    row = {
        "document_id": passage.document_id,
        "start": passage.start,
        "end": passage.end,
        "page": passage.page,
        "line": passage.line,
        "heading": _json(passage.heading),
        "label": passage.label,
        "left_out": _json(passage.left_out),
        "content": sha256_of(indexed_text(passage).encode("utf-8")),
    }
    return row | {"digest": passage_digest(row, passage.text)}


def passage_digest(row: TableRow, text: str) -> str:
    """The expected digest of a passage's row when its document holds `text` at its place."""
    return _digest([row[column] for column in _PASSAGE] + [text] + _left_out(row))


def passage_from_row(row: TableRow, text: str) -> Passage:
    """The passage stored in a row, with its text."""
    return Passage(
        id=row["id"],
        document_id=row["document_id"],
        start=row["start"],
        end=row["end"],
        text=text,
        page=row["page"],
        line=row["line"],
        heading=tuple(json.loads(row["heading"])),
        label=row["label"],
        left_out=_bounds(row),
    )


def _left_out(row: TableRow) -> list[str]:
    """What a digest covers of `left_out`: nothing where it is empty, as in format 4."""
    value = row.get("left_out", NONE_LEFT_OUT)
    return [] if value == NONE_LEFT_OUT else [value]


def _bounds(row: TableRow) -> tuple[Bounds, ...]:
    return tuple((start, end) for start, end in json.loads(row.get("left_out", NONE_LEFT_OUT)))


def unread_row(document_id: str, unread: UnreadFile) -> TableRow:
    """The row that stores an unread file."""
    row = {"document_id": document_id, **asdict(unread)}
    return row | {"digest": unread_digest(row)}


def unread_digest(row: TableRow) -> str:
    """The expected digest of an unread file's row."""
    return _digest([row[column] for column in _UNREAD])


def _digest(values: list[Any]) -> str:
    return sha256_of(_json(values).encode("utf-8"))
