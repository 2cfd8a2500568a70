"""Answers and hits of earlier questions, returned while nothing that they depend on has changed.

The key is the digest of the commit, the question, the options, the models in use, and the version. So a
result is never that of an older commit or another model. Values are JSON without the question, with a digest.
While the file is locked, full or read-only, nothing is cached (`fault`). A damaged file is replaced.
"""

import hashlib
import json
import sqlite3
import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from spanwise.types import Answer, Filter, SearchResult
from spanwise.version import __version__

from ..json_records import rebuilt

Result = TypeVar("Result", Answer, SearchResult)

CACHE_NAME = "cache.sqlite"
FORMAT = 10  # of the file: raise it when the meaning of a result changes
MAX_RESULTS = 4_000
_SCHEMA = f"""
PRAGMA journal_mode = WAL;
PRAGMA user_version = {FORMAT};
CREATE TABLE IF NOT EXISTS results (key TEXT PRIMARY KEY, commit_digest TEXT, value TEXT, digest TEXT);
"""
_DELETE_OLD = "DELETE FROM results WHERE commit_digest != ? OR rowid <= (SELECT max(rowid) FROM results) - ?"
_DAMAGED = (0, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)  # 0: another format


def result_key(commit: str, question: str, options: object, digests: Mapping[str, str]) -> str:
    """The key of a result; its parts are compared by their `repr`."""
    return _sha256(repr((__version__, commit, question, options, sorted(digests.items()))))


class AnswerCache:
    """One SQLite file, opened when it is first used. Threads and processes may share it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.fault = ""
        self._connection: sqlite3.Connection | None = None
        self._lock = Lock()

    def get(self, kind: type[Result], key: str, question: str, where: Filter | None) -> Result | None:
        """The result of this type under a key, or None; an answer with the time of the look-up."""
        began = time.perf_counter()
        for value, digest in self._run(("SELECT value, digest FROM results WHERE key = ?", (key,))):
            if digest == _sha256(key + value):
                stored = _with_question(rebuilt(kind, json.loads(value)), question, where)
                timings_ms = {"cache": (time.perf_counter() - began) * 1000}
                from_cache = {"cached": True, "timings_ms": timings_ms} if kind is Answer else {}
                result: Result = replace(stored, **from_cache)
                return result
        return None

    def put(self, key: str, commit: str, result: Answer | SearchResult) -> None:
        """Keep a result; results of other commits and the oldest beyond MAX_RESULTS are deleted.

        Not kept are words of a conversation, and the answer in place of a model that fails.
        """
        if result.understood or (isinstance(result, Answer) and result.failure):
            return
        plain = asdict(_with_question(result, "", None))
        value = json.dumps(plain)
        if asdict(rebuilt(type(result), json.loads(value))) == plain:  # else it would not come back equal
            row = (key, commit, value, _sha256(key + value))
            insert = "REPLACE INTO results VALUES (?, ?, ?, ?)"
            self._run((insert, row), (_DELETE_OLD, (commit, MAX_RESULTS)))

    def count(self) -> int:
        """The number of results."""
        rows = self._run(("SELECT count(*) FROM results", ())) if self.path.exists() else []
        return rows[0][0] if rows else 0

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _run(self, *statements: tuple[str, tuple[object, ...]]) -> list[tuple[Any, ...]]:
        """The rows of the last statement of a transaction; none while the file cannot be used."""
        with self._lock:
            for _ in range(2):
                try:
                    self._connection = self._connection or _open(self.path)
                    with self._connection:
                        rows = [self._connection.execute(*each).fetchall() for each in statements]
                    self.fault = ""
                    return rows[-1]
                except sqlite3.Error as error:
                    self.close()
                    self.fault = f"{self.path.name}: {error}"
                    if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _DAMAGED:
                        break  # in use, full or read-only: that may pass
                    for suffix in ("", "-wal", "-shm"):
                        self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
            return []


def _open(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=1.0, check_same_thread=False)
    is_empty = not connection.execute("SELECT 1 FROM sqlite_master").fetchone()
    if connection.execute("PRAGMA user_version").fetchone() != (FORMAT,) and not is_empty:
        connection.close()
        raise sqlite3.DatabaseError("the cache has another format")
    connection.executescript(_SCHEMA)
    return connection


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _with_question(result: Any, question: str, where: Filter | None) -> Any:
    scope = result.scope and replace(result.scope, where=where or Filter())
    if isinstance(result, SearchResult):
        return replace(result, spelling=replace(result.spelling, question=question), scope=scope)
    return replace(result, question=question, scope=scope)
