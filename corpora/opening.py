"""Files opened so that a folder cannot reach out of itself: no link is followed below its root.

A file may be replaced by a link or a pipe between the listing of a folder and the opening of the file, so
every part of the path is opened relative to the one before, and what counts is what the handle says.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path, PurePosixPath

from spanwise.errors import DocumentRejected

MAX_BYTES = 200_000_000
FILE_FLAGS = os.O_RDONLY
for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"):  # which of them there are depends on the system
    FILE_FLAGS |= getattr(os, flag, 0)
ROOT_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
FOLDER_FLAGS = ROOT_FLAGS | getattr(os, "O_NOFOLLOW", 0)
RELATIVE = os.open in os.supports_dir_fd  # not on Windows, where only the last part is checked


def open_folder(root: Path, relative: PurePosixPath) -> int:
    """A descriptor of a folder below `root`; `OSError` when a part of the way is a link or no folder."""
    handle = os.open(root, ROOT_FLAGS)
    for part in relative.parts:
        try:
            child = os.open(part, FOLDER_FLAGS, dir_fd=handle)
        finally:
            os.close(handle)
        handle = child
    return handle


def read_regular(root: Path, document_id: str) -> bytes:
    """The bytes of a regular file below `root`; `DocumentRejected` for links, pipes and giants."""
    relative = PurePosixPath(document_id)
    if relative.is_absolute() or ".." in relative.parts or not relative.name:
        raise ValueError(f"document id {document_id!r}: expected a path relative to its folder, without '..'")
    try:
        handle = _open_file(root, relative)
        with os.fdopen(handle, "rb") as file:
            return _read_settled(file.fileno())
    except OSError as error:
        raise DocumentRejected(f"cannot be opened: {error.strerror or error}") from error


def _open_file(root: Path, relative: PurePosixPath) -> int:
    if not RELATIVE:
        return os.open(root / relative, FILE_FLAGS)
    folder = open_folder(root, relative.parent)
    try:
        return os.open(relative.name, FILE_FLAGS, dir_fd=folder)
    finally:
        os.close(folder)


def _read_settled(handle: int) -> bytes:
    """All bytes behind a descriptor, read again when they changed meanwhile; the second time they are taken.

    Half of an old and half of a new version are then read from a file that never rests, and from no other.
    """
    before = _state(handle)
    data = _read(handle)
    if _state(handle) == before:
        return data
    os.lseek(handle, 0, os.SEEK_SET)
    return _read(handle)


def _state(handle: int) -> tuple[int, int]:
    status = os.fstat(handle)
    return status.st_size, status.st_mtime_ns


def _read(handle: int) -> bytes:
    """All bytes behind a descriptor; the size is limited while reading, whatever was declared before."""
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        raise DocumentRejected("not a regular file")
    if status.st_size > MAX_BYTES:
        raise DocumentRejected(_too_large(status.st_size))
    blocks: list[bytes] = []
    n_bytes = 0
    while block := os.read(handle, 1 << 20):
        n_bytes += len(block)
        if n_bytes > MAX_BYTES:
            raise DocumentRejected(_too_large(n_bytes))
        blocks.append(block)
    return b"".join(blocks)


def _too_large(n_bytes: int) -> str:
    return f"size {n_bytes // 1_000_000} MB is over the limit of {MAX_BYTES // 1_000_000} MB"
