"""Crashes of an index: child processes to kill, the record of file changes, the disk after a power cut.

Python's changes are recorded by replacements of functions in `os` and `io.open`. SQLite's are recorded by a
VFS that passes everything on to the default one (https://www.sqlite.org/vfs.html): the methods of an open
file are copied, and those that write, truncate and sync are replaced. The log's index (`-shm`) is not
recorded: no power cut keeps it.
"""

from __future__ import annotations

import ctypes
import io
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from enum import Enum
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any
from unittest import mock

CONTEXT = get_context("forkserver")
CONTEXT.set_forkserver_preload(["pytest", "spanwise.pipelines.library", "preloaded"])

Say = Callable[[Any], None]


@dataclass(frozen=True, slots=True)
class End:
    """The messages of a child in order, and its exit code: 0, or minus the number of a signal."""

    messages: tuple[Any, ...]
    code: int


class Child:
    """A process that runs `task(say, *arguments)`; its messages can be read also after it was killed."""

    def __init__(self, task: Callable[..., None], *arguments: Any) -> None:
        self._pipe, theirs = CONTEXT.Pipe(duplex=False)
        self._process: ForkServerProcess = CONTEXT.Process(target=_run, args=(task, theirs, *arguments))
        self._process.start()
        theirs.close()

    def receive(self) -> Any:
        """The next message."""
        return self._pipe.recv()

    def kill(self) -> None:
        """End it by SIGKILL: no handler runs."""
        self._process.kill()

    def end(self, timeout_s: float = 120) -> End:
        """Wait for its end; kill it and raise TimeoutError when that takes too long."""
        messages = []
        try:
            while self._pipe.poll(timeout_s):
                messages.append(self._pipe.recv())
        except EOFError:
            self._process.join()
            return End(tuple(messages), self._process.exitcode or 0)
        finally:
            self._process.kill()
        raise TimeoutError(f"a child sent nothing for {timeout_s} s")


def run(task: Callable[..., None], *arguments: Any, timeout_s: float = 120) -> End:
    """Run a task in a child to its end."""
    return Child(task, *arguments).end(timeout_s)


def _run(task: Callable[..., None], pipe: Connection, *arguments: Any) -> None:
    task(pipe.send, *arguments)


@contextmanager
def killed_at(last: int | None, root: Path) -> Iterator[list[Operation]]:
    """Kill this process before its change number `last` (from 0) below `root`; yields the changes made."""
    made: list[Operation] = []

    def listen(operation: Operation) -> None:
        if len(made) == last:
            os.kill(os.getpid(), signal.SIGKILL)
        made.append(operation)

    with recorded(listen, root):
        yield made


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


Listener = Callable[[Operation], None]


@contextmanager
def recorded(listen: Listener, root: Path) -> Iterator[None]:
    """Inside, `listen` is called before each change at or below `root`; its OSError refuses the change."""

    def below(operation: Operation) -> None:
        if operation.path.is_relative_to(root):
            listen(operation)

    with ExitStack() as stack:
        for module, name, double in _doubles(below):
            stack.enter_context(mock.patch.object(module, name, double))
        stack.enter_context(_recorded_sqlite(below))
        yield


def _doubles(listen: Listener) -> Iterator[tuple[Any, str, Callable[..., Any]]]:
    """What stands in for the functions of Python that change files."""

    def of_one(kind: str, do: Callable[..., None]) -> Callable[..., None]:
        def double(path: Any, *args: Any, dir_fd: int | None = None, **more: Any) -> None:
            listen(Operation(kind, _absolute(path, dir_fd), site=_site()))
            do(path, *args, dir_fd=dir_fd, **more)

        return double

    def mkdir(path: Any, *args: Any, do: Callable[..., None] = os.mkdir) -> None:
        if not _absolute(path).exists() and _absolute(path).parent.is_dir():  # else nothing will change
            listen(Operation("mkdir", _absolute(path), site=_site()))
        do(path, *args)

    def fsync(file: int, do: Callable[[int], None] = os.fsync) -> None:
        listen(Operation("sync", Path(f"/proc/self/fd/{file}").readlink(), site=_site()))
        do(file)

    def rename(old: Any, new: Any, do: Callable[[Any, Any], None] = os.rename) -> None:
        listen(Operation("rename", _absolute(old), target=_absolute(new), site=_site()))
        do(old, new)

    def opened(file: Any, mode: str = "r", *args: Any, do: Callable[..., Any] = io.open, **more: Any) -> Any:
        if "x" not in mode:
            return do(file, mode, *args, **more)
        listen(Operation("create", _absolute(file), site=_site()))
        return _RecordedFile(do(file, mode, *args, **more), _absolute(file), listen)

    yield os, "mkdir", mkdir
    yield os, "unlink", of_one("unlink", os.unlink)
    yield os, "rmdir", of_one("rmdir", os.rmdir)
    yield os, "fsync", fsync
    yield os, "rename", rename
    yield io, "open", opened


class _RecordedFile:
    """A new file whose writes are recorded."""

    def __init__(self, file: Any, path: Path, listen: Listener) -> None:
        self._file, self._path, self._listen = file, path, listen

    def writelines(self, parts: Any) -> None:
        data = b"".join(parts)
        self._listen(Operation("write", self._path, data, self._file.tell(), site=_site()))
        self._file.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> _RecordedFile:
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
def _recorded_sqlite(listen: Listener) -> Iterator[None]:
    library = sqlite()
    vfs = _RecordedVfs(library.sqlite3_vfs_find(None).contents, listen)
    library.sqlite3_vfs_register(ctypes.byref(vfs.vfs), 1)
    try:
        yield
    finally:
        library.sqlite3_vfs_unregister(ctypes.byref(vfs.vfs))
        _outlive.append(vfs)


_outlive: list[_RecordedVfs] = []  # a connection that was not closed may still call into it


class _RecordedVfs:
    """A copy of a VFS with the methods that change files exchanged."""

    def __init__(self, real: Vfs, listen: Listener) -> None:
        self._real, self._listen = real, listen
        self._files: dict[int, tuple[Path, Methods]] = {}
        self._kept: list[Methods] = []
        self._names_to_sync: set[Path] = set()
        self.vfs = Vfs.from_buffer_copy(real)
        self.vfs.name = b"recorded"
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
            self._listen(operation)
        except OSError:
            return False
        return True


class Data(Enum):
    """What a power cut does to bytes that were not synced; TORN keeps the first half of each write."""

    KEPT = "kept"
    DROPPED = "dropped"
    TORN = "torn"


class Names(Enum):
    """What a power cut does to new, changed and removed names that were not synced."""

    KEPT = "kept"
    DROPPED = "dropped"


@dataclass(eq=False)
class _File:
    synced: bytes = b""
    pending: list[Operation] = field(default_factory=list)

    def content(self, fate: Data) -> bytes:
        content = bytearray(self.synced)
        for operation in self.pending if fate is not Data.DROPPED else ():
            if operation.kind == "truncate":
                del content[operation.at :]
                continue
            data = operation.data[: len(operation.data) // 2] if fate is Data.TORN else operation.data
            content.extend(bytes(max(0, operation.at - len(content))))
            content[operation.at : operation.at + len(data)] = data
        return bytes(content)


@dataclass(eq=False)
class _Folder:
    now: dict[str, _File | _Folder] = field(default_factory=dict)
    synced: dict[str, _File | _Folder] = field(default_factory=dict)


Image = tuple[tuple[str, bytes | None], ...]
"""The path of each file with its bytes, of each folder with None; a folder comes before what it holds."""


class Disk:
    """A folder on a disk, by the rules of POSIX alone: bytes are safe after a sync of their file, a name
    after a sync of its folder; anything else may be there, or not, or in part.
    """

    def __init__(self, root: Path) -> None:
        self._root, self._top = root, _Folder()

    def apply(self, operation: Operation) -> None:
        """Do what the operation does."""
        if operation.path == self._root:
            self._top.synced = dict(self._top.now)
            return
        folder, name = self._folder(operation.path.parent), operation.path.name
        match operation.kind:
            case "create":
                folder.now[name] = _File()
            case "mkdir":
                folder.now[name] = _Folder()
            case "unlink" | "rmdir":
                folder.now.pop(name, None)  # the lock and the log's index are not recorded
            case "rename":
                assert operation.target is not None
                self._folder(operation.target.parent).now[operation.target.name] = folder.now.pop(name)
            case kind:
                self._change(kind, folder.now[name], operation)

    def _change(self, kind: str, node: _File | _Folder, operation: Operation) -> None:
        if isinstance(node, _Folder):
            assert kind == "sync", operation
            node.synced = dict(node.now)
        elif kind == "sync":
            node.synced, node.pending = node.content(Data.KEPT), []
        else:
            node.pending.append(operation)

    def images(self) -> Iterator[Image]:
        """Each thing that the disk may hold if the power fails now."""
        for names in Names:
            for data in Data:
                yield tuple(_listing(self._top, "", names, data))

    def _folder(self, path: Path) -> _Folder:
        folder = self._top
        for part in path.relative_to(self._root).parts:
            below = folder.now[part]
            assert isinstance(below, _Folder), path
            folder = below
        return folder


def _listing(folder: _Folder, prefix: str, names: Names, data: Data) -> Iterator[tuple[str, bytes | None]]:
    entries = folder.now if names is Names.KEPT else folder.synced
    for name, node in sorted(entries.items()):
        if isinstance(node, _Folder):
            yield f"{prefix}{name}", None
            yield from _listing(node, f"{prefix}{name}/", names, data)
        else:
            yield f"{prefix}{name}", node.content(data)


def write_image(image: Image, folder: Path) -> None:
    """Make the files and folders of an image below an empty folder."""
    for name, content in image:
        if content is None:
            (folder / name).mkdir()
        else:
            (folder / name).write_bytes(content)
