"""What lies in a folder: regular files in a fixed order, and a count of everything passed over.

Links are never followed, hidden files and the folders of `IGNORED` are left alone, and a name that is not
UTF-8 is refused with a reason, because it could be neither stored nor typed. Every entry that was met is
in `files`, in `rejected` or in `skipped`; the contents of a folder passed over are not met.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from spanwise.errors import FolderNotFound
from spanwise.types import Rejection

from .opening import RELATIVE, open_folder

OWN = ".spanwise"  # an index is no part of the folder that it is of, and is not counted
IGNORED = frozenset((".git", "node_modules", "__pycache__"))
KINDS = {
    stat.S_IFLNK: "link",
    stat.S_IFIFO: "pipe",
    stat.S_IFSOCK: "socket",
    stat.S_IFBLK: "device",
    stat.S_IFCHR: "device",
}


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A regular file as it was listed: where, under which id, its size in bytes and last change.

    `place` is the path below `root` as the system spells it; it opens the file, the id names the document.
    """

    document_id: str
    root: Path
    place: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Listing:
    """What a walk met: files sorted by document id, entries refused, entries passed over by reason."""

    files: tuple[FoundFile, ...] = ()
    rejected: tuple[Rejection, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)


def walk(root: Path) -> Listing:
    """Everything below a folder; `FolderNotFound` when it is missing, no folder, or cannot be listed."""
    if not root.is_dir():
        raise FolderNotFound(f"{root}: {'is not a folder' if root.exists() else 'there is no such folder'}")
    files: list[FoundFile] = []
    rejected: list[Rejection] = []
    skipped: Counter[str] = Counter()
    todo = [PurePosixPath()]
    while todo:
        folder = todo.pop()
        for name, status in _entries(root, folder, rejected):
            place = folder / name
            if name == OWN and stat.S_ISDIR(status.st_mode):
                continue
            reason = _reason_to_skip(name, status)
            if not _is_utf8(name):
                rejected.append(Rejection(_readable(place), "its name is not UTF-8"))
            elif reason:
                skipped[reason] += 1
            elif stat.S_ISDIR(status.st_mode):
                todo.append(place)
            else:
                files.append(FoundFile(str(place), root, str(place), status.st_size, status.st_mtime_ns))
    files.sort(key=lambda file: file.document_id)
    rejected.sort(key=lambda rejection: rejection.document_id)
    return Listing(tuple(files), tuple(rejected), dict(sorted(skipped.items())))


def _entries(
    root: Path, folder: PurePosixPath, rejected: list[Rejection]
) -> Iterator[tuple[str, os.stat_result]]:
    """Names and states of the entries of a folder; one that cannot be listed joins `rejected`."""
    try:
        yield from _scan(root, folder)
    except OSError as error:
        if not folder.parts:
            raise FolderNotFound(f"{root}: cannot be listed: {error.strerror}") from error
        rejected.append(Rejection(str(folder), f"folder cannot be listed: {error.strerror}"))


def _scan(root: Path, folder: PurePosixPath) -> list[tuple[str, os.stat_result]]:
    if not RELATIVE:
        with os.scandir(root / folder) as entries:
            return [(entry.name, entry.stat(follow_symlinks=False)) for entry in entries]
    handle = open_folder(root, folder)
    try:
        with os.scandir(handle) as entries:
            return [(entry.name, entry.stat(follow_symlinks=False)) for entry in entries]
    finally:
        os.close(handle)


def _reason_to_skip(name: str, status: os.stat_result) -> str:
    """Why an entry is passed over, the empty string when it is not."""
    kind = stat.S_IFMT(status.st_mode)
    if name in IGNORED and kind == stat.S_IFDIR:
        return f"folder {name}"
    if name.startswith("."):
        return "hidden"
    return "" if kind in (stat.S_IFREG, stat.S_IFDIR) else KINDS.get(kind, "special file")


def _is_utf8(name: str) -> bool:
    """False for a name that the system holds as other bytes, which Python marks by lone surrogates."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _readable(place: PurePosixPath) -> str:
    """The name with its odd bytes spelled out, so that it can be stored and printed."""
    return os.fsencode(place).decode("utf-8", "backslashreplace")
