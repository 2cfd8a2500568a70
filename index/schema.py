"""The tables of `catalog.sqlite`, how it is made and how it is opened."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import numpy as np

from spanwise.errors import FormatTooNew, FormatTooOld, IndexCorrupt

from .atomic import publish
from .faults import named_faults
from .state import seal

FORMAT = 4
_APPLICATION_ID = 0x7370616E  # "span", in the header of the file
_BUSY_TIMEOUT_S = 5.0

# `text` stands last so that reading the other columns of a document does not page through it.
_TABLES = """
PRAGMA application_id = 0x7370616E;
PRAGMA user_version = 4;
CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE state (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    generation INTEGER NOT NULL,
    documents INTEGER NOT NULL,
    passages INTEGER NOT NULL,
    seal TEXT NOT NULL
) STRICT;
CREATE TABLE documents (
    id TEXT PRIMARY KEY NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    media_type TEXT NOT NULL,
    title TEXT NOT NULL,
    page_starts TEXT NOT NULL,
    headings TEXT NOT NULL,
    labels TEXT NOT NULL DEFAULT '[]',
    metadata TEXT NOT NULL,
    digest TEXT NOT NULL,
    text TEXT NOT NULL
) STRICT;
CREATE TABLE passages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    document_id TEXT NOT NULL REFERENCES documents (id),
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    page INTEGER,
    line INTEGER NOT NULL,
    heading TEXT NOT NULL,
    label TEXT NOT NULL DEFAULT '',
    content TEXT NOT NULL DEFAULT '',
    digest TEXT NOT NULL
) STRICT;
CREATE INDEX passages_by_place ON passages (document_id, start, "end");
CREATE INDEX passages_by_content ON passages (content);
CREATE TABLE tombstones (passage_id INTEGER PRIMARY KEY, content TEXT) STRICT;
CREATE INDEX tombstones_by_content ON tombstones (content);
CREATE TABLE refusals (
    document_id TEXT PRIMARY KEY NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    kind TEXT NOT NULL,
    reason TEXT NOT NULL,
    reader TEXT NOT NULL,
    digest TEXT NOT NULL
) STRICT;
CREATE TABLE segments (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    model TEXT NOT NULL,
    rows INTEGER NOT NULL
) STRICT;
"""


def create_catalog(path: Path, settings: Mapping[str, str]) -> None:
    """Make an empty catalog with these settings, whole or not at all; `FileExistsError` if there is one."""
    from sqlite_utils import Database  # takes longer to import than a search takes, and only this needs it

    if path.exists():
        raise FileExistsError(f"{path} exists already")
    temporary = path.with_name(path.name + ".unfinished")
    temporary.unlink(missing_ok=True)
    with named_faults(path), closing(connect(temporary, "mode=rwc")) as connection:
        database = Database(connection, execute_plugins=False)
        database.enable_wal()
        database.executescript(_TABLES)
        database.table("settings").insert_all({"key": k, "value": settings[k]} for k in sorted(settings))
        counts = {"generation": 0, "documents": 0, "passages": 0}
        nothing = seal(0, 0, 0, settings, [], np.empty(0, np.int64))
        database.table("state").insert({"one": 1, **counts, "seal": nothing})
    with named_faults(path):
        publish(temporary, path)


def open_catalog(path: Path) -> sqlite3.Connection:
    """A connection to an existing catalog, after its header has proved to be one this program reads.

    Where nothing can be written, SQLite cannot keep the log that readers and writers share. Then the catalog
    is read as a file that nobody changes, as long as no log lies beside it; the next snapshot looks anew.
    """
    with named_faults(path):
        try:
            return _checked(connect(path, "mode=rw"), path)
        except sqlite3.OperationalError:
            log = path.with_name(path.name + "-wal")
            if os.access(path.parent, os.W_OK) or log.exists():
                raise
            return _checked(connect(path, "mode=ro&immutable=1"), path)


def connect(path: Path, mode: str) -> sqlite3.Connection:
    """A connection whose transactions begin and end only where the code says so.

    Every commit is on the disk when it returns. A connection may be used from several threads.
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
    connection.execute("PRAGMA trusted_schema = OFF")  # the file may come from a stranger
    connection.execute("PRAGMA cell_size_check = ON")
    return connection


def _checked(connection: sqlite3.Connection, path: Path) -> sqlite3.Connection:
    """The connection, or closed with the error that its header is worth."""
    try:
        _check_header(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _check_header(connection: sqlite3.Connection, path: Path) -> None:
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    if application_id != _APPLICATION_ID:
        raise IndexCorrupt(f"{path} is not the catalog of a spanwise index")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > FORMAT:
        raise FormatTooNew(
            f"{path} has format {version}, this program reads format {FORMAT}: install a newer spanwise"
        )
    if version < FORMAT:
        raise FormatTooOld(
            f"{path} has format {version}, this program reads format {FORMAT}: "
            "delete the index and run `spanwise index FOLDER` again"
        )
