"""What lies in a folder: regular files in a fixed order, and a count of everything passed over.

Links are never followed; hidden entries, the folders of `IGNORED`, indexes, and what a `.spanwiseignore`
names are left alone, and such folders are not entered. Every entry that was met is in `files`, in `rejected`
or in `skipped`; what belongs to spanwise itself is not counted.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from spanwise.errors import DocumentRejected, FolderNotFound
from spanwise.types import Rejection

from .ignore import NAME as IGNORE_FILE
from .ignore import IgnoreRules, parse_rules
from .opening import RELATIVE, open_folder, read_regular

OWN = frozenset((".spanwise", IGNORE_FILE, "spanwise.toml"))
IGNORED = frozenset((".git", "node_modules", "__pycache__"))
PARTS_OF_INDEX = ("catalog.sqlite", "segments")
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


def walk(root: Path, prefix: str = "") -> Listing:
    """Everything below a folder, its ids after `prefix`; `FolderNotFound` when it cannot be listed."""
    if not root.is_dir():
        raise FolderNotFound(f"{root}: {'is not a folder' if root.exists() else 'there is no such folder'}")
    found = _Walk(root, prefix)
    found.all()
    return joined([Listing(tuple(found.files), tuple(found.rejected), found.skipped)])


def joined(listings: Sequence[Listing]) -> Listing:
    """Several listings as one. Of files that share an id the one spelled so is kept, the rest refused."""
    rejected = [rejection for listing in listings for rejection in listing.rejected]
    kept: list[FoundFile] = []
    for file in sorted((file for listing in listings for file in listing.files), key=_order):
        if kept and kept[-1].document_id == file.document_id:
            rejected.append(Rejection(file.document_id, "another file's name is spelled the same way"))
        else:
            kept.append(file)
    rejected.sort(key=lambda rejection: (rejection.document_id, rejection.reason))
    skipped = sum((Counter(listing.skipped) for listing in listings), Counter[str]())
    return Listing(tuple(kept), tuple(rejected), dict(sorted(skipped.items())))


def _order(file: FoundFile) -> tuple[str, bool, str]:
    return file.document_id, not file.document_id.endswith(file.place), file.place


class _Walk:
    """One walk of one root, folder by folder."""

    def __init__(self, root: Path, prefix: str) -> None:
        self.root, self.prefix = root, prefix
        self.files: list[FoundFile] = []
        self.rejected: list[Rejection] = []
        self.skipped: Counter[str] = Counter()
        self._todo: list[tuple[str, IgnoreRules | None]] = [("", None)]

    def all(self) -> None:
        while self._todo:
            folder, rules = self._todo.pop()
            try:
                with _scan(self.root, folder) as entries:
                    self._enter(folder, list(entries), rules)
            except OSError as error:
                if not folder:
                    raise FolderNotFound(f"{self.root}: cannot be listed: {error.strerror}") from error
                if isinstance(error, FileNotFoundError):
                    continue  # it has gone since the folder above was listed
                self._reject(folder.rstrip("/"), f"folder cannot be listed: {error.strerror}")

    def _enter(self, folder: str, entries: list[os.DirEntry[str]], rules: IgnoreRules | None) -> None:
        names = {entry.name for entry in entries}
        if names.issuperset(PARTS_OF_INDEX):
            self.skipped["folder of an index"] += 1
            return
        if IGNORE_FILE in names:
            rules = self._read_rules(folder, rules)
        while entries:  # given up one by one: an entry keeps its state, and a folder may hold a million
            entry = entries.pop()
            if entry.name not in OWN:
                self._meet(folder, entry, rules)

    def _meet(self, folder: str, entry: os.DirEntry[str], rules: IgnoreRules | None) -> None:
        place = folder + entry.name
        try:
            status = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            return  # it has gone since the folder was listed
        except OSError as error:
            self._reject(place, f"cannot be looked at: {error.strerror}")
            return
        is_folder = stat.S_ISDIR(status.st_mode)
        if reason := reason_to_skip(entry.name, status.st_mode):
            self.skipped[reason] += 1
        elif rules is not None and rules.ignores(place, is_folder):
            self.skipped[f"ignored by {IGNORE_FILE}"] += 1
        elif is_folder:
            self._todo.append((place + "/", rules))
        else:
            file = FoundFile(self._id(place), self.root, place, status.st_size, status.st_mtime_ns)
            self.files.append(file)

    def _read_rules(self, folder: str, above: IgnoreRules | None) -> IgnoreRules | None:
        place = folder + IGNORE_FILE
        try:
            own, complaints = parse_rules(read_regular(self.root, place))
        except DocumentRejected as error:
            self._reject(place, f"its rules are not in force: {error}")
            return above
        if complaints:
            self._reject(place, "; ".join(complaints))
        return IgnoreRules(folder, own, above)

    def _reject(self, place: str, reason: str) -> None:
        self.rejected.append(Rejection(self._id(place), reason))

    def _id(self, place: str) -> str:
        return self.prefix + place if _is_utf8(place) else self.prefix + readable(place)


@contextmanager
def _scan(root: Path, folder: str) -> Iterator[Iterator[os.DirEntry[str]]]:
    """The entries of a folder below `root`, reached without following a link."""
    if not RELATIVE:
        with os.scandir(root / folder) as entries:
            yield entries
        return
    handle = open_folder(root, PurePosixPath(folder))
    try:
        with os.scandir(handle) as entries:
            yield entries
    finally:
        os.close(handle)


def reason_to_skip(name: str, mode: int) -> str:
    """Why an entry is passed over, the empty string when it is not."""
    kind = stat.S_IFMT(mode)
    if name in IGNORED and kind == stat.S_IFDIR:
        return f"folder {name}"
    if name.startswith("."):
        return "hidden"
    return "" if kind in (stat.S_IFREG, stat.S_IFDIR) else KINDS.get(kind, "special file")


def readable(name: str) -> str:
    """A name with the bytes that are not UTF-8 spelled out, so that it can be stored and printed.

    >>> readable("caf\\udce9.txt")
    'caf\\\\xe9.txt'
    """
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _is_utf8(name: str) -> bool:
    """False for a name that the system holds as other bytes, which Python marks by lone surrogates."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
