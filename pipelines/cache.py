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
from typing import TYPE_CHECKING, Any, TypeVar, cast

from spanwise import __version__
from spanwise.types import Answer, Filter

from .records import plain, rebuilt

if TYPE_CHECKING:
    from sqlite_utils.db import Table

T = TypeVar("T")

CACHE_NAME = "cache.sqlite"
FORMAT = 4  # of the file: raise it when the meaning of a result changes
SET_FORMAT = "PRAGMA user_version = 4"  # a pragma takes no parameters
MAX_RESULTS = 4_000
_DAMAGED = (0, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)  # 0: another format


def result_key(commit: str, question: str, options: object, digests: Mapping[str, str]) -> str:
    """The key of a result; its parts are compared by their `repr`."""
    return _sha256(repr((__version__, commit, question, options, sorted(digests.items()))))


class AnswerCache:
    """One SQLite file, opened when it is first used. Threads and processes may share it."""

    def __init__(self, path: Path) -> None:
        self.path, self.fault = path, ""
        self._results: Table | None = None
        self._lock = Lock()

    def get(self, key: str, kind: Any, question: str, where: Filter | None) -> Any:
        """The result of this type under a key, or None."""
        none: list[dict[str, Any]] = []
        rows = self._use(lambda results: list(results.rows_where("key = ?", [key])), none)
        if not rows or rows[0]["digest"] != _sha256(key + rows[0]["value"]):
            return None
        return _with_question(rebuilt(kind, json.loads(rows[0]["value"])), question, where)

    def put(self, key: str, commit: str, kind: Any, result: Any) -> None:
        """Keep a result; results of other commits and the oldest beyond MAX_RESULTS are dropped."""
        anonymous = _with_question(result, "", None)
        value = json.dumps(plain(anonymous))
        if rebuilt(kind, json.loads(value)) != anonymous:
            return  # it would not come back equal
        row = {"key": key, "commit_digest": commit, "value": value, "digest": _sha256(key + value)}

        def write(results: Table) -> None:
            kept = "SELECT rowid FROM results ORDER BY rowid DESC LIMIT ?"
            results.delete_where("commit_digest != ?", [commit])
            results.upsert(row, pk="key").delete_where(f"rowid NOT IN ({kept})", [MAX_RESULTS])

        self._use(write, None)

    def count(self) -> int:
        """The number of results."""
        return self._use(lambda results: results.count, 0) if self.path.exists() else 0

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        if self._results is not None:
            self._results.db.close()
            self._results = None

    def _use(self, job: Callable[[Table], T], otherwise: T) -> T:
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


def _open(path: Path) -> Table:
    from sqlite_utils import Database

    database = Database(sqlite3.connect(path, timeout=1.0, check_same_thread=False))
    if database.execute("PRAGMA user_version").fetchone() != (FORMAT,) and database.table_names():
        database.close()
        raise sqlite3.DatabaseError("the cache has another format")
    database.enable_wal()
    database.execute(SET_FORMAT)
    columns = dict.fromkeys(("key", "commit_digest", "value", "digest"), str)
    return cast("Table", database["results"]).create(columns, pk="key", if_not_exists=True)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _with_question(result: Any, question: str, where: Filter | None) -> Any:
    if isinstance(result, Answer):
        scope = result.scope and replace(result.scope, where=where or Filter())
        return replace(result, question=question, scope=scope)
    return result
