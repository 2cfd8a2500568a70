"""One SQLite file of bytes by kind and key, bounded in size: what was used longest ago goes first.

It holds nothing that cannot be computed again, so no failure of it is an error. A file that is damaged or of
another version is made anew; one that belongs to another program, cannot be written or is in use is left
alone, and `fault` says why. Every row carries a digest. Nothing waits for the disk: after a power cut the
file may be empty or damaged, which is the same as above.
"""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Self, TypeVar

from .cache_schema import ForeignFile, OtherVersion, connect

T = TypeVar("T")

CACHE_NAME = "cache.sqlite"
MOST_BYTES = 64 * 2**20
_SHARE = 8  # one value takes at most one such part of the file; one such part of the rows goes at a time
_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR}


@dataclass(frozen=True, slots=True)
class Looks:
    """How often something was looked for, found and not found, since the cache was made or cleared."""

    hits: int = 0
    misses: int = 0

    @property
    def rate(self) -> float | None:
        """The share that was found; None before the first look."""
        looks = self.hits + self.misses
        return self.hits / looks if looks else None


class CacheFile:
    """Opened when first used. Any number of threads and processes may use it at once."""

    def __init__(self, path: Path, most_bytes: int = MOST_BYTES) -> None:
        self.path, self.most_bytes = path, most_bytes
        self.fault = ""
        self._connection: sqlite3.Connection | None = None
        self._is_left_alone = False
        self._seal = ""
        self._one_at_a_time = Lock()

    def get(self, kind: str, key: str) -> bytes | None:
        """What was kept under this key, byte for byte, or None."""
        sql = "SELECT seal, value, digest FROM entries WHERE kind = ? AND key = ?"
        row = self._use(lambda db: db.execute(sql, (kind, key)).fetchone())
        if row is None or row[2] != _digest(kind, key, row[0], row[1]):
            return None
        return bytes(row[1])

    def put(self, kind: str, key: str, value: bytes, seal: str = "") -> None:
        """Keep a value. One with a seal drops what was kept under other seals; "" is none, and stays."""
        if len(value) <= self.most_bytes // _SHARE:
            row = (kind, key, seal, value, _digest(kind, key, seal, value), time.time_ns())
            self._use(lambda db: self._put(db, row, seal))

    def count(self, kind: str, key: str, found: bool) -> None:
        """Note that something was looked for, and that it was used if it was found."""
        self._use(lambda db: _count(db, kind, key, found))

    def clear(self) -> None:
        """Forget everything, and give the room back; without a file nothing happens."""
        if self.path.exists():
            self._use(_clear)

    def looks(self) -> dict[str, Looks]:
        """How often each kind was looked for."""
        rows = self._rows(lambda db: db.execute("SELECT kind, hits, misses FROM looks").fetchall())
        return {kind: Looks(hits, misses) for kind, hits, misses in rows}

    def entries(self) -> dict[str, int]:
        """How many values of each kind there are."""
        sql = "SELECT kind, count(*) FROM entries GROUP BY kind"
        return dict(self._rows(lambda db: db.execute(sql).fetchall()))

    def close(self) -> None:
        """Let go of the file; using it again opens it again."""
        with self._one_at_a_time:
            self._disconnect()

    def __enter__(self) -> Self:
        """The cache itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let go of it."""
        self.close()

    def _rows(self, query: Callable[[sqlite3.Connection], list[Any]]) -> list[Any]:
        return (self._use(query) or []) if self.path.exists() else []  # looking makes no file

    def _use(self, job: Callable[[sqlite3.Connection], T]) -> T | None:
        """What the job returns; None when the file cannot be used, and then `fault` says why."""
        with self._one_at_a_time:
            for attempt in range(2):
                if self._is_left_alone:
                    break
                try:
                    self._connection = self._connection or connect(self.path)
                    done = job(self._connection)
                except ForeignFile as error:
                    self.fault, self._is_left_alone = str(error), True
                except sqlite3.ProgrammingError:
                    raise  # a mistake of this program, not of the disk
                except (sqlite3.Error, OSError) as error:
                    self.fault = f"{self.path.name}: {error}"
                    if not _is_damage(error):
                        break  # in use, full, not to be written: that may pass
                    self._remove()
                else:
                    self.fault = self.fault if attempt else ""
                    return done
            return None

    def _put(self, db: sqlite3.Connection, row: tuple[object, ...], seal: str) -> None:
        with _transaction(db):
            if seal and seal != self._seal:
                db.execute("DELETE FROM entries WHERE seal NOT IN ('', ?)", (seal,))
            db.execute("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?, ?)", row)
            while _bytes_used(db) > self.most_bytes and _drop_oldest(db):
                pass
        self._seal = seal or self._seal

    def _remove(self) -> None:
        self._disconnect()
        try:
            for end in ("", "-wal", "-shm"):
                self.path.with_name(self.path.name + end).unlink(missing_ok=True)
        except OSError:
            self._is_left_alone = True

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _drop_oldest(db: sqlite3.Connection) -> int:
    """Drops the rows that were used longest ago; says how many."""
    return db.execute(
        "DELETE FROM entries WHERE rowid IN (SELECT rowid FROM entries ORDER BY used"
        " LIMIT (SELECT 1 + count(*) / ? FROM entries))",
        (_SHARE,),
    ).rowcount


def _count(db: sqlite3.Connection, kind: str, key: str, found: bool) -> None:
    with _transaction(db):
        db.execute(
            "INSERT INTO looks VALUES (?, ?, ?)"
            " ON CONFLICT DO UPDATE SET hits = hits + excluded.hits, misses = misses + excluded.misses",
            (kind, int(found), int(not found)),
        )
        if found:
            used = (time.time_ns(), kind, key)
            db.execute("UPDATE entries SET used = ? WHERE kind = ? AND key = ?", used)


def _clear(db: sqlite3.Connection) -> None:
    with _transaction(db):
        db.execute("DELETE FROM entries")
        db.execute("DELETE FROM looks")
    db.execute("VACUUM")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


@contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


def _bytes_used(db: sqlite3.Connection) -> int:
    (pages,) = db.execute("PRAGMA page_count").fetchone()
    (free,) = db.execute("PRAGMA freelist_count").fetchone()
    (size,) = db.execute("PRAGMA page_size").fetchone()
    return int((pages - free) * size)


def _digest(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _is_damage(error: Exception) -> bool:
    """True when the file is not what it should be; the module's own complaints about values have no code."""
    if isinstance(error, OtherVersion):
        return True
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
    return isinstance(error, sqlite3.Error) and code & 0xFF in _DAMAGE
