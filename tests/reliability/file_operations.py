"""Hears every change to the files of an index before it happens: Python's own and SQLite's.

Python's changes are heard where it asks for them, in `os` and `io.open`. SQLite's are heard in a VFS that
hands everything on to the one it replaces (https://www.sqlite.org/vfs.html): the methods of an open file are
copied with those exchanged that write, cut and sync. The log's index (`-shm`) is not heard: no power cut
keeps it.
"""

from __future__ import annotations

import ctypes
import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock


@dataclass(frozen=True, slots=True)
class Operation:
    """One change. `data` is written at offset `at`, or the file is cut at `at`; `target` is a new name.

    `site` names the functions of `index/` that asked for it, innermost first, or SQLite.
    """

    kind: str  # create, write, truncate, sync, rename, unlink, mkdir, rmdir
    path: Path
    data: bytes = b""
    at: int = 0
    target: Path | None = None
    site: tuple[str, ...] = ()


Hear = Callable[[Operation], None]


@contextmanager
def heard(hear: Hear, root: Path) -> Iterator[None]:
    """Inside, `hear` is called before each change at or below `root`; its OSError refuses the change."""

    def below(operation: Operation) -> None:
        if operation.path.is_relative_to(root):
            hear(operation)

    with ExitStack() as stack:
        for module, name, double in _doubles(below):
            stack.enter_context(mock.patch.object(module, name, double))
        stack.enter_context(_heard_sqlite(below))
        yield


def _doubles(hear: Hear) -> Iterator[tuple[Any, str, Callable[..., Any]]]:
    """What stands in for the functions of Python that change files."""

    def of_one(kind: str, do: Callable[..., None]) -> Callable[..., None]:
        def double(path: Any, *args: Any, dir_fd: int | None = None, **more: Any) -> None:
            hear(Operation(kind, _absolute(path, dir_fd), site=_site()))
            do(path, *args, dir_fd=dir_fd, **more)

        return double

    def mkdir(path: Any, *args: Any, do: Callable[..., None] = os.mkdir) -> None:
        if not _absolute(path).exists() and _absolute(path).parent.is_dir():  # else nothing will change
            hear(Operation("mkdir", _absolute(path), site=_site()))
        do(path, *args)

    def fsync(file: int, do: Callable[[int], None] = os.fsync) -> None:
        hear(Operation("sync", Path(f"/proc/self/fd/{file}").readlink(), site=_site()))
        do(file)

    def rename(old: Any, new: Any, do: Callable[[Any, Any], None] = os.rename) -> None:
        hear(Operation("rename", _absolute(old), target=_absolute(new), site=_site()))
        do(old, new)

    def opened(file: Any, mode: str = "r", *args: Any, do: Callable[..., Any] = io.open, **more: Any) -> Any:
        if "x" not in mode:
            return do(file, mode, *args, **more)
        hear(Operation("create", _absolute(file), site=_site()))
        return _HeardFile(do(file, mode, *args, **more), _absolute(file), hear)

    yield os, "mkdir", mkdir
    yield os, "unlink", of_one("unlink", os.unlink)
    yield os, "rmdir", of_one("rmdir", os.rmdir)
    yield os, "fsync", fsync
    yield os, "rename", rename
    yield io, "open", opened


class _HeardFile:
    """A new file whose writes are heard."""

    def __init__(self, file: Any, path: Path, hear: Hear) -> None:
        self._file, self._path, self._hear = file, path, hear

    def writelines(self, parts: Any) -> None:
        data = b"".join(parts)
        self._hear(Operation("write", self._path, data, self._file.tell(), site=_site()))
        self._file.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> _HeardFile:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()


def _absolute(path: Any, folder: int | None = None) -> Path:
    return Path(f"/proc/self/fd/{folder}").readlink() / path if folder is not None else Path(path).absolute()


def _site() -> tuple[str, ...]:
    frame, names = sys._getframe(2), []
    while frame:
        if frame.f_globals.get("__name__", "").startswith("spanwise.index."):
            names.append(frame.f_code.co_name)
        frame = frame.f_back
    return tuple(names)


OK, FULL = 0, 13
CREATED = 0x4
SYNCED_WITH_ITS_FOLDER = 0x800 | 0x4000 | 0x80000  # journals and the log, at their first sync
Pointer, Int, Long = ctypes.c_void_p, ctypes.c_int, ctypes.c_int64
OPEN = ctypes.CFUNCTYPE(Int, Pointer, Pointer, Pointer, Int, Pointer)  # a file keeps the pointer to its name
DELETE = ctypes.CFUNCTYPE(Int, Pointer, Pointer, Int)
WRITE = ctypes.CFUNCTYPE(Int, Pointer, Pointer, Int, Long)
TRUNCATE = ctypes.CFUNCTYPE(Int, Pointer, Long)
SYNC = ctypes.CFUNCTYPE(Int, Pointer, Int)


class Methods(ctypes.Structure):
    """sqlite3_io_methods."""

    _fields_ = (
        [("version", Int), ("close", Pointer), ("read", Pointer)]
        + [("write", WRITE), ("truncate", TRUNCATE), ("sync", SYNC)]
        + [(f"other{number}", Pointer) for number in range(13)]
    )


class Vfs(ctypes.Structure):
    """sqlite3_vfs."""

    _fields_ = (
        [("version", Int), ("file_size", Int), ("longest_path", Int)]
        + [("next", Pointer), ("name", ctypes.c_char_p), ("data", Pointer)]
        + [("open", OPEN), ("delete", DELETE)]
        + [(f"other{number}", Pointer) for number in range(14)]
    )


def sqlite() -> Any:
    """The SQLite that `sqlite3` uses; AttributeError where it cannot be reached from outside."""
    import _sqlite3

    library = ctypes.CDLL(_sqlite3.__file__)
    library.sqlite3_vfs_find.restype = ctypes.POINTER(Vfs)
    return library


@contextmanager
def _heard_sqlite(hear: Hear) -> Iterator[None]:
    library = sqlite()
    vfs = _HeardVfs(library.sqlite3_vfs_find(None).contents, hear)
    library.sqlite3_vfs_register(ctypes.byref(vfs.vfs), 1)
    try:
        yield
    finally:
        library.sqlite3_vfs_unregister(ctypes.byref(vfs.vfs))
        _outlive.append(vfs)


_outlive: list[_HeardVfs] = []  # a connection that was not closed may still call into it


class _HeardVfs:
    """A copy of a VFS with the methods that change files exchanged."""

    def __init__(self, real: Vfs, hear: Hear) -> None:
        self._real, self._hear = real, hear
        self._files: dict[int, tuple[Path, Methods]] = {}
        self._kept: list[Methods] = []
        self._names_to_sync: set[Path] = set()
        self.vfs = Vfs.from_buffer_copy(real)
        self.vfs.name = b"heard"
        self.vfs.open, self.vfs.delete = OPEN(self._open), DELETE(self._delete)
        self._methods = {
            "write": WRITE(self._write),
            "truncate": TRUNCATE(self._cut),
            "sync": SYNC(self._sync),
        }

    def _open(self, vfs: int, name: int | None, file: int, flags: int, out: int) -> int:
        if name is None:
            return self._real.open(vfs, name, file, flags, out)
        path = Path(os.fsdecode(ctypes.string_at(name)))
        if (
            flags & CREATED
            and not path.exists()
            and not self._allowed(Operation("create", path, site=("sqlite",)))
        ):
            return FULL
        code = self._real.open(vfs, name, file, flags, out)
        if code == OK:
            self._exchange(file, path)
            if flags & CREATED and flags & SYNCED_WITH_ITS_FOLDER:
                self._names_to_sync.add(path)
        return code

    def _exchange(self, file: int, path: Path) -> None:
        slot = ctypes.cast(file, ctypes.POINTER(ctypes.POINTER(Methods)))
        real = slot.contents.contents
        ours = Methods.from_buffer_copy(real)
        for name, method in self._methods.items():
            setattr(ours, name, method)
        self._files[file] = path, real
        self._kept.append(ours)
        slot[0] = ctypes.pointer(ours)

    def _delete(self, vfs: int, name: int, sync: int) -> int:
        path = Path(os.fsdecode(ctypes.string_at(name)))
        if path.exists() and not self._allowed(Operation("unlink", path, site=("sqlite",))):
            return FULL
        if sync and not self._allowed(Operation("sync", path.parent, site=("sqlite", "names"))):
            return FULL
        return self._real.delete(vfs, name, sync)

    def _write(self, file: int, data: int, size: int, at: int) -> int:
        path, real = self._files[file]
        if not self._allowed(Operation("write", path, ctypes.string_at(data, size), at, site=("sqlite",))):
            return FULL
        return real.write(file, data, size, at)

    def _cut(self, file: int, size: int) -> int:
        path, real = self._files[file]
        if not self._allowed(Operation("truncate", path, at=size, site=("sqlite",))):
            return FULL
        return real.truncate(file, size)

    def _sync(self, file: int, flags: int) -> int:
        path, real = self._files[file]
        kind = "log" if path.name.endswith("-wal") else "database"
        if not self._allowed(Operation("sync", path, site=("sqlite", kind))):
            return FULL
        if path in self._names_to_sync:
            self._names_to_sync.remove(path)
            if not self._allowed(Operation("sync", path.parent, site=("sqlite", "names"))):
                return FULL
        return real.sync(file, flags)

    def _allowed(self, operation: Operation) -> bool:
        try:
            self._hear(operation)
        except OSError:
            return False
        return True
