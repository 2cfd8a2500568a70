"""Answers and hits of earlier questions, returned while nothing that they depend on has changed.

The key is the digest of the commit, the question, the options, the models in use, and the version: a result
is never that of an older commit or another model. Values are JSON without the question, with a digest.
While the file is locked, full or read-only, nothing is cached (`fault`); a damaged one is replaced.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from spanwise.types import Answer, Filter
from spanwise.version import __version__

from ..json_records import plain, rebuilt

T = TypeVar("T")

CACHE_NAME = "cache.sqlite"
FORMAT = 4  # of the file: raise it when the meaning of a result changes
SET_FORMAT = "PRAGMA user_version = 4"  # a pragma takes no parameters
MAX_RESULTS = 4_000
_TABLE = (
    "CREATE TABLE IF NOT EXISTS results (key TEXT PRIMARY KEY, commit_digest TEXT, value TEXT, digest TEXT)"
)
_DELETE_OLDEST = (
    "DELETE FROM results WHERE rowid NOT IN (SELECT rowid FROM results ORDER BY rowid DESC LIMIT ?)"
)
_DAMAGED = (0, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)  # 0: another format


def result_key(commit: str, question: str, options: object, digests: Mapping[str, str]) -> str:
    """The key of a result; its parts are compared by their `repr`."""
    return _sha256(repr((__version__, commit, question, options, sorted(digests.items()))))


class AnswerCache:
    """One SQLite file, opened when it is first used. Threads and processes may share it."""

    def __init__(self, path: Path) -> None:
        self.path, self.fault = path, ""
        self._results: sqlite3.Connection | None = None
        self._lock = Lock()

    def get(self, key: str, kind: Any, question: str, where: Filter | None) -> Any:
        """The result of this type under a key, or None."""
        sql = "SELECT value, digest FROM results WHERE key = ?"
        found = self._use(lambda results: results.execute(sql, (key,)).fetchone(), None)
        if found is None or found[1] != _sha256(key + found[0]):
            return None
        return _with_question(rebuilt(kind, json.loads(found[0])), question, where)

    def put(self, key: str, commit: str, kind: Any, result: Any) -> None:
        """Keep a result; results of other commits and the oldest beyond MAX_RESULTS are dropped."""
        anonymous = _with_question(result, "", None)
        value = json.dumps(plain(anonymous))
        if rebuilt(kind, json.loads(value)) != anonymous:
            return  # it would not come back equal
        row = key, commit, value, _sha256(key + value)

        def write(results: sqlite3.Connection) -> None:
            with results:
                results.execute("DELETE FROM results WHERE commit_digest != ?", (commit,))
                results.execute("REPLACE INTO results VALUES (?, ?, ?, ?)", row)
                results.execute(_DELETE_OLDEST, (MAX_RESULTS,))

        self._use(write, None)

    def count(self) -> int:
        """The number of results."""
        if not self.path.exists():
            return 0
        return self._use(
            lambda results: int(results.execute("SELECT count(*) FROM results").fetchone()[0]), 0
        )

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        if self._results is not None:
            self._results.close()
            self._results = None

    def _use(self, job: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        with self._lock:
            for _ in range(2):
                try:
                    self._results = _open(self.path) if self._results is None else self._results
                    done, self.fault = job(self._results), ""
                    return done
                except sqlite3.Error as error:
                    self.close()
                    self.fault = f"{self.path.name}: {error}"
                    if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _DAMAGED:
                        break  # in use, full or read-only: that may pass
                    for end in ("", "-wal", "-shm"):
                        self.path.with_name(self.path.name + end).unlink(missing_ok=True)
            return otherwise


def _open(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=1.0, check_same_thread=False)
    is_empty = not connection.execute("SELECT 1 FROM sqlite_master").fetchone()
    if connection.execute("PRAGMA user_version").fetchone() != (FORMAT,) and not is_empty:
        connection.close()
        raise sqlite3.DatabaseError("the cache has another format")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(SET_FORMAT)
    connection.execute(_TABLE)
    return connection


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _with_question(result: Any, question: str, where: Filter | None) -> Any:
    if isinstance(result, Answer):
        scope = result.scope and replace(result.scope, where=where or Filter())
        return replace(result, question=question, scope=scope)
    return result
