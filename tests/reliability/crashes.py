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
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from unittest import mock

CONTEXT = get_context("forkserver")
CONTEXT.set_forkserver_preload(["pytest", "spanwise.pipelines.library.library", "preloaded"])

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
        self._process = CONTEXT.Process(target=_run, args=(task, theirs, *arguments))
        self._process.start()
        theirs.close()
        self.receive = self._pipe.recv
        self.alive = self._process.is_alive
        self.kill = self._process.kill  # no handler runs

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
            self.kill()
        raise TimeoutError(f"a child sent nothing for {timeout_s} s")


def run(task: Callable[..., None], *arguments: Any, timeout_s: float = 120) -> End:
    """Run a task in a child to its end."""
    return Child(task, *arguments).end(timeout_s)


def _run(task: Callable[..., None], pipe: Connection, *arguments: Any) -> None:
    task(pipe.send, *arguments)


@dataclass(frozen=True, slots=True)
class Operation:
    """One change. `data` is written at `offset`, or the file is cut there; `target` is a new name.

    `site` names the functions of `index/` that asked for it, innermost first, or SQLite.
    """

    kind: str  # create, write, truncate, sync, rename, unlink, mkdir, rmdir
    path: Path
    data: bytes = b""
    offset: int = 0
    target: Path | None = None
    site: tuple[str, ...] = ()


Listener = Callable[[Operation], None]


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


@contextmanager
def recorded(listen: Listener, root: Path) -> Iterator[None]:
    """Inside, `listen` is called before each change at or below `root`; its OSError refuses the change."""

    def below(operation: Operation) -> None:
        if operation.path.is_relative_to(root):
            listen(operation)

    with ExitStack() as stack:
        for module, double in _doubles(below):
            stack.enter_context(mock.patch.object(module, double.__name__, double))
        stack.enter_context(_recorded_sqlite(below))
        yield


def _doubles(tell: Listener) -> Iterator[tuple[Any, Callable[..., Any]]]:
    """What stands in for the functions of Python that change files, under their names."""

    def listen(kind: str, path: Any, **more: Any) -> None:
        tell(Operation(kind, Path(path).absolute(), site=_site(), **more))

    def unlink(path: Any, *, dir_fd: int | None = None, do: Callable[..., None] = os.unlink) -> None:
        listen("unlink", _of_handle(dir_fd) / path if dir_fd is not None else path)
        do(path, dir_fd=dir_fd)

    def rmdir(path: Any, *, dir_fd: int | None = None, do: Callable[..., None] = os.rmdir) -> None:
        listen("rmdir", _of_handle(dir_fd) / path if dir_fd is not None else path)
        do(path, dir_fd=dir_fd)

    def mkdir(path: Any, *args: Any, do: Callable[..., None] = os.mkdir) -> None:
        if not Path(path).exists() and Path(path).absolute().parent.is_dir():  # else nothing will change
            listen("mkdir", path)
        do(path, *args)

    def fsync(file: int, do: Callable[[int], None] = os.fsync) -> None:
        listen("sync", _of_handle(file))
        do(file)

    def rename(old: Any, new: Any, do: Callable[[Any, Any], None] = os.rename) -> None:
        listen("rename", old, target=Path(new).absolute())
        do(old, new)

    def open(path: Any, mode: str = "r", *args: Any, do: Callable[..., Any] = io.open, **more: Any) -> Any:
        def writelines(parts: Any) -> None:
            data = b"".join(parts)
            listen("write", path, data=data, offset=file.tell())
            file.write(data)

        if "x" in mode:
            listen("create", path)
        file = do(path, mode, *args, **more)
        if "x" in mode:
            file.writelines = writelines
        return file

    yield from ((os, double) for double in (unlink, rmdir, mkdir, fsync, rename))
    yield io, open


def _of_handle(handle: int) -> Path:
    return Path(f"/proc/self/fd/{handle}").readlink()


def _site() -> tuple[str, ...]:
    frame = sys._getframe(1)
    names = []
    while frame:
        if frame.f_globals.get("__name__", "").startswith("spanwise.index."):
            names.append(frame.f_code.co_name)
        frame = frame.f_back
    return tuple(names)


OK = 0
FULL = 13
CREATED = 0x4
SYNCED_WITH_ITS_FOLDER = 0x800 | 0x4000 | 0x80000  # journals and the log, at their first sync
Pointer = ctypes.c_void_p
Int = ctypes.c_int
Long = ctypes.c_int64
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


@contextmanager
def _recorded_sqlite(listen: Listener) -> Iterator[None]:
    """Record the SQLite that `sqlite3` uses; AttributeError where it cannot be reached from outside."""
    import _sqlite3

    library = ctypes.CDLL(_sqlite3.__file__)
    library.sqlite3_vfs_find.restype = ctypes.POINTER(Vfs)
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
        self._real = real
        self._listen = listen
        self._files: dict[int, tuple[Path, Methods]] = {}
        self._kept: list[Methods] = []  # a closed file may be used until its connection is gone
        self._names_to_sync: set[Path] = set()
        self.vfs = Vfs.from_buffer_copy(real)
        self.vfs.name = b"recorded"
        self.vfs.open = OPEN(self._open)
        self.vfs.delete = DELETE(self._delete)
        self._methods = WRITE(self._write), TRUNCATE(self._cut), SYNC(self._sync)

    def _open(self, vfs: int, name: int | None, file: int, flags: int, out: int) -> int:
        if name is None:
            return self._real.open(vfs, name, file, flags, out)
        path = Path(os.fsdecode(ctypes.string_at(name)))
        if flags & CREATED and not path.exists() and self._refused("create", path):
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
        ours.write, ours.truncate, ours.sync = self._methods
        self._files[file] = path, real
        self._kept.append(ours)
        slot[0] = ctypes.pointer(ours)

    def _delete(self, vfs: int, name: int, sync: int) -> int:
        path = Path(os.fsdecode(ctypes.string_at(name)))
        if path.exists() and self._refused("unlink", path):
            return FULL
        if sync and self._refused("sync", path.parent, "names"):
            return FULL
        return self._real.delete(vfs, name, sync)

    def _write(self, file: int, data: int, size: int, offset: int) -> int:
        path, real = self._files[file]
        if self._refused("write", path, data=ctypes.string_at(data, size), offset=offset):
            return FULL
        return real.write(file, data, size, offset)

    def _cut(self, file: int, size: int) -> int:
        path, real = self._files[file]
        return FULL if self._refused("truncate", path, offset=size) else real.truncate(file, size)

    def _sync(self, file: int, flags: int) -> int:
        path, real = self._files[file]
        if self._refused("sync", path, "log" if path.name.endswith("-wal") else "database"):
            return FULL
        if path in self._names_to_sync:
            self._names_to_sync.remove(path)
            if self._refused("sync", path.parent, "names"):
                return FULL
        return real.sync(file, flags)

    def _refused(self, kind: str, path: Path, *what: str, **more: Any) -> bool:
        try:
            self._listen(Operation(kind, path, site=("sqlite", *what), **more))
        except OSError:
            return True
        return False


@dataclass(eq=False)
class _File:
    synced: bytes = b""
    pending: list[Operation] = field(default_factory=list)

    def content(self, share: float) -> bytes:
        """The bytes when this share of each write that was not synced is kept."""
        content = bytearray(self.synced)
        for operation in self.pending if share else ():
            if operation.kind == "truncate":
                del content[operation.offset :]
                continue
            data = operation.data[: int(len(operation.data) * share)]
            content.extend(bytes(max(0, operation.offset - len(content))))
            content[operation.offset : operation.offset + len(data)] = data
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
        self._root = root
        self._top = _Folder()

    def apply(self, operation: Operation) -> None:
        """Do what the operation does."""
        if operation.path == self._root:
            self._top.synced = dict(self._top.now)
            return
        names = self._names(operation.path.parent)
        name = operation.path.name
        match operation.kind, names.get(name):
            case "create", _:
                names[name] = _File()
            case "mkdir", _:
                names[name] = _Folder()
            case "unlink" | "rmdir", _:
                names.pop(name, None)  # the lock and the log's index are not recorded
            case "rename", _:
                assert operation.target is not None
                self._names(operation.target.parent)[operation.target.name] = names.pop(name)
            case "sync", _Folder() as folder:
                folder.synced = dict(folder.now)
            case "sync", _File() as file:
                file.synced = file.content(1)
                file.pending = []
            case "write" | "truncate", _File() as file:
                file.pending.append(operation)
            case _:
                raise AssertionError(operation)

    def images(self) -> Iterator[Image]:
        """Each thing that the disk may hold if the power fails now, with what was not synced kept or lost."""
        for names_kept in (True, False):
            for share in (1, 0, 0.5):
                yield tuple(_listing(self._top, "", names_kept, share))

    def _names(self, path: Path) -> dict[str, _File | _Folder]:
        folder = self._top
        for part in path.relative_to(self._root).parts:
            below = folder.now[part]
            assert isinstance(below, _Folder), path
            folder = below
        return folder.now


def _listing(
    folder: _Folder, prefix: str, names_kept: bool, share: float
) -> Iterator[tuple[str, bytes | None]]:
    for name, node in sorted((folder.now if names_kept else folder.synced).items()):
        if isinstance(node, _Folder):
            yield f"{prefix}{name}", None
            yield from _listing(node, f"{prefix}{name}/", names_kept, share)
        else:
            yield f"{prefix}{name}", node.content(share)


def write_image(image: Image, folder: Path) -> None:
    """Make the files and folders of an image below an empty folder."""
    for name, content in image:
        if content is None:
            (folder / name).mkdir()
        else:
            (folder / name).write_bytes(content)
