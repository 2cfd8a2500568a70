"""Files of an index: their names and digests, durable atomic writes, the write lock, named disk errors.

Every write does these steps in order: write, fsync the file, fsync its folder, rename, fsync the parent. A
rename without the fsyncs before it may publish an empty file (Pillai et al., "All File Systems Are Not
Created Equal", OSDI 2014).
"""

import errno
import fcntl
import hashlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from mmap import mmap
from pathlib import Path

from spanwise.errors import (
    IndexCorrupt,
    IndexLocked,
    IndexNotFound,
    IndexReadOnly,
    SpanwiseError,
    StorageFull,
)

FORMAT = 5  # of the whole index: catalog and segments
OLDEST = 4  # format that is still read
CATALOG = "catalog.sqlite"
SEGMENTS = "segments"
LOCK = "write.lock"
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
_RETRY_S = 0.02

OnWait = Callable[[str], None]
"""Gets the id of the process that holds a lock, as soon as somebody waits for it."""


def sha256_of(data: bytes | memoryview | mmap) -> str:
    """The SHA-256 of these bytes in lowercase hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def make_folder(path: Path) -> None:
    """Create a folder and its missing parents durably; an existing folder is fine."""
    if not path.parent.is_dir():
        make_folder(path.parent)
    path.mkdir(exist_ok=True)
    sync_directory(path.parent)


def write_file(path: Path, parts: Iterable[bytes | memoryview]) -> None:
    """Create a file with these bytes, durable on return; an existing file is an error."""
    with path.open("xb") as file:
        file.writelines(parts)
        file.flush()
        os.fsync(file.fileno())


def publish(temporary: Path, final: Path) -> None:
    """Rename a finished file or directory durably. Its files must be durable already."""
    if temporary.is_dir():
        sync_directory(temporary)
    temporary.rename(final)
    sync_directory(final.parent)


def sync_directory(path: Path) -> None:
    """Make the names inside a directory durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class WriteLock:
    """An `flock` on one file from `acquire` to `release`, or until the process dies.

    The package filelock is not used: the file holds the id of the locking process for the error message.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None

    def acquire(self, timeout_s: float = 0.0, on_wait: OnWait | None = None) -> None:
        """Take the lock. Raise `IndexLocked` when another process holds it for longer than `timeout_s`.

        Before it waits, `on_wait` gets the id of that process.
        """
        file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            self._wait_for(file, time.monotonic() + timeout_s, on_wait)
            os.ftruncate(file, 0)
            os.write(file, f"{os.getpid()}\n".encode("ascii"))
        except BaseException:
            os.close(file)
            raise
        self._file = file

    def release(self) -> None:
        """Release the lock, if it is held."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _wait_for(self, file: int, deadline: float, on_wait: OnWait | None) -> None:
        while True:
            try:
                return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                holder = os.pread(file, 32, 0).decode("ascii", "replace").strip() or "unknown"
                if on_wait:
                    on_wait(holder)
                    on_wait = None
                if time.monotonic() >= deadline:
                    raise IndexLocked(
                        f"{self._path.parent} is being written by process {holder}: try again when it ends"
                    ) from None
            time.sleep(_RETRY_S)


@contextmanager
def named_errors(path: Path) -> Iterator[None]:
    """Inside the context, failures of SQLite and of the disk become named errors about `path`."""
    try:
        yield
    except (sqlite3.ProgrammingError, sqlite3.IntegrityError):
        raise  # a bug of this program, not a failure of the disk
    except sqlite3.Error as error:
        raise _named(error, path) from error
    except UnicodeDecodeError as error:  # a text column, or SQLite's message, is not UTF-8
        raise corruption(path, str(error)) from error
    except OSError as error:
        if error.errno in _FULL:
            raise _full(path, error) from error
        if error.errno in _READ_ONLY:
            raise _read_only(path, error) from error
        if error.errno == errno.ENOENT and not path.exists():
            raise _gone(path) from error
        raise


def corruption(path: Path, reason: str) -> IndexCorrupt:
    """The error for a file of an index that differs from what was written."""
    return IndexCorrupt(
        f"{path} is damaged ({reason}): delete the index and run `spanwise index FOLDER` again"
    )


def _named(error: sqlite3.Error, path: Path) -> SpanwiseError:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    primary = code & 0xFF
    if primary == sqlite3.SQLITE_FULL or code in _REFUSED_WRITES:
        return _full(path, error)
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return IndexLocked(f"{path} is in use by another program ({error}): try again when it has finished")
    if primary in _FORBIDDEN:
        return _read_only(path, error) if path.exists() else _gone(path)
    return corruption(path, str(error))


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
