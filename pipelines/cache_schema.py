"""The tables of `cache.sqlite`, how it is made and how it is told from files of other programs."""

from __future__ import annotations

import sqlite3
from pathlib import Path

VERSION = 1
_APPLICATION_ID = 0x73706163  # "spac", in the header of the file
_PATIENCE_S = 0.1  # whoever waits longer for a cache had better compute
_TABLES = """
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS entries (
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    seal TEXT NOT NULL,
    value BLOB NOT NULL,
    digest TEXT NOT NULL,
    used INTEGER NOT NULL,
    PRIMARY KEY (kind, key)
) STRICT;
CREATE INDEX IF NOT EXISTS entries_by_use ON entries (used);
CREATE TABLE IF NOT EXISTS looks (
    kind TEXT PRIMARY KEY NOT NULL,
    hits INTEGER NOT NULL,
    misses INTEGER NOT NULL
) STRICT;
PRAGMA application_id = 0x73706163;
PRAGMA user_version = 1;
COMMIT;
"""


class ForeignFile(Exception):
    """What lies in the cache's place is not the cache, and is none of our business."""


class OtherVersion(sqlite3.DatabaseError):
    """A cache that another version of this program made; it is worth nothing here."""


def connect(path: Path) -> sqlite3.Connection:
    """The cache at `path`, made when there is none. Transactions begin and end only where the code says so.

    Raises ForeignFile, and `sqlite3.Error` for what is damaged, in use or not to be written.
    """
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise ForeignFile(f"{path.name} is not a file of this program")
    connection = sqlite3.connect(
        path, timeout=_PATIENCE_S, isolation_level=None, check_same_thread=False, cached_statements=32
    )
    try:
        _prepare(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.execute("PRAGMA synchronous = OFF")  # what is lost can be computed again
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if application != _APPLICATION_ID and (application or tables):
        raise ForeignFile(f"{path.name} is a database of another program")
    if tables and version != VERSION:
        raise OtherVersion(f"version {version}, this program has {VERSION}")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA journal_size_limit = 4194304")
    if not tables:
        connection.executescript(_TABLES)
