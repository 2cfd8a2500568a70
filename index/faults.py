"""Which named error a failure of the disk or of SQLite becomes."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from spanwise.errors import (
    IndexCorrupt,
    IndexLocked,
    IndexNotFound,
    IndexReadOnly,
    SpanwiseError,
    StorageFull,
)

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
# SQLite reports a write that the file system refuses (a quota, a limit on file size) as a failed write.
_REFUSED_WRITES = {
    sqlite3.SQLITE_IOERR_WRITE,
    sqlite3.SQLITE_IOERR_FSYNC,
    sqlite3.SQLITE_IOERR_TRUNCATE,
    sqlite3.SQLITE_IOERR_SHMSIZE,
    sqlite3.SQLITE_IOERR_SHMOPEN,
    sqlite3.SQLITE_IOERR_DIR_FSYNC,
}
_READ_ONLY = {errno.EACCES, errno.EPERM, errno.EROFS}
_FORBIDDEN = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}


@contextmanager
def named_faults(path: Path) -> Iterator[None]:
    """Inside, failures of SQLite and of the disk come out as members of the error tree that name `path`."""
    try:
        yield
    except (sqlite3.ProgrammingError, sqlite3.IntegrityError):
        raise  # a mistake of this program, not of the disk
    except sqlite3.Error as error:
        raise _named(error, path) from error
    except UnicodeDecodeError as error:  # text in the file, also in SQLite's message, that is no text
        raise _corrupt(path, error) from error
    except OSError as error:
        if error.errno in _FULL:
            raise _full(path, error) from error
        if error.errno in _READ_ONLY:
            raise _read_only(path, error) from error
        if error.errno == errno.ENOENT and not path.exists():
            raise _gone(path) from error
        raise


def _named(error: sqlite3.Error, path: Path) -> SpanwiseError:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    primary = code & 0xFF
    if primary == sqlite3.SQLITE_FULL or code in _REFUSED_WRITES:
        return _full(path, error)
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return IndexLocked(f"{path} is in use by another program ({error}): try again when it has finished")
    if primary in _FORBIDDEN:
        return _read_only(path, error) if path.exists() else _gone(path)
    return _corrupt(path, error)


def _corrupt(path: Path, error: Exception) -> IndexCorrupt:
    return IndexCorrupt(
        f"{path} is damaged ({error}): delete the index and run `spanwise index FOLDER` again"
    )


def _full(path: Path, error: Exception) -> StorageFull:
    return StorageFull(
        f"no room to write {path} ({error}); the last commit is intact: free space and run again"
    )


def _read_only(path: Path, error: Exception) -> IndexReadOnly:
    return IndexReadOnly(
        f"{path} cannot be opened or written ({error}): check its permissions, or name another --index"
    )


def _gone(path: Path) -> IndexNotFound:
    return IndexNotFound(f"{path} is gone: make it again with `spanwise index FOLDER`")
