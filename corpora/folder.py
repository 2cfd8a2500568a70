"""The files of a folder, listed in a fixed order and opened without following links.

Hidden entries, the folders of `SKIPPED_FOLDERS`, indexes, and entries that a `.spanwiseignore` names are
skipped. Skipped folders are not entered. Each entry is in `files`, in `rejected` or in `skipped`, except the
files of spanwise itself.

A file may be replaced by a link or a pipe between listing and opening. So each part of its path is opened
relative to the part before it, and the kind of the file is read from the open descriptor.
"""

import os
import stat
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from spanwise.errors import DocumentRejected, FolderNotFound
from spanwise.types import RejectedFile

from .ignore import IGNORE_FILE, IgnoreRules, read_rules

OWN_FILES = frozenset((".spanwise", IGNORE_FILE, "spanwise.toml"))
SKIPPED_FOLDERS = frozenset((".git", "node_modules", "__pycache__"))
PARTS_OF_INDEX = ("catalog.sqlite", "segments")
KINDS = {
    stat.S_IFLNK: "link",
    stat.S_IFIFO: "pipe",
    stat.S_IFSOCK: "socket",
    stat.S_IFBLK: "device",
    stat.S_IFCHR: "device",
}
MAX_BYTES = 200_000_000  # of a file
FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
ROOT_FLAGS = os.O_RDONLY | os.O_DIRECTORY
FOLDER_FLAGS = ROOT_FLAGS | os.O_NOFOLLOW


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A regular file.

    document_id: the name of its document, a POSIX path.
    root: the folder that was walked.
    place: its path below `root`, as the system spells it; it opens the file.
    size: in bytes.
    mtime_ns: the time of its last change.
    stamp: its inode, the time of its last change of any kind, which no program can set back, and the device
        of its folder.
    """

    document_id: str
    root: Path
    place: str
    size: int
    mtime_ns: int
    stamp: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """The result of a walk.

    files: the regular files, ordered by document id.
    rejected: the entries that cannot be read, with their reasons.
    skipped: the number of skipped entries by reason.
    folders: the device of each folder by its id; "" if no file below it is listed, as in an unmounted drive.
    """

    files: tuple[FoundFile, ...] = ()
    rejected: tuple[RejectedFile, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)
    folders: Mapping[str, str] = field(default_factory=dict)


def walk(root: Path, prefix: str = "") -> Listing:
    """The entries of a folder and its subfolders; `prefix` begins each document id.

    `FolderNotFound` if the folder cannot be listed.
    """
    if not root.is_dir():
        reason = "is not a folder" if root.exists() else "there is no such folder"
        raise FolderNotFound(f"{root}: {reason}")
    return merge([_Walk(root, prefix).listing()])


def merge(listings: Sequence[Listing]) -> Listing:
    """Several listings as one.

    If files share an id, the one whose name is spelled like the id is kept, and the others are rejected.
    """
    rejected = [rejection for listing in listings for rejection in listing.rejected]
    files: list[FoundFile] = []
    for file in sorted(
        (file for listing in listings for file in listing.files),
        key=lambda file: (file.document_id, not file.document_id.endswith(file.place), file.place),
    ):
        if files and files[-1].document_id == file.document_id:
            rejected.append(RejectedFile(file.document_id, "another file's name is spelled the same way"))
        else:
            files.append(file)
    rejected.sort(key=lambda rejection: (rejection.document_id, rejection.reason))
    skipped = sum((Counter(listing.skipped) for listing in listings), Counter[str]())
    folders = {name: device for listing in listings for name, device in listing.folders.items()}
    return Listing(tuple(files), tuple(rejected), dict(sorted(skipped.items())), folders)


class _Walk:
    """A walk of one root, folder by folder."""

    def __init__(self, root: Path, prefix: str) -> None:
        self.root = root
        self.prefix = prefix
        self.files: list[FoundFile] = []
        self.rejected: list[RejectedFile] = []
        self.skipped: Counter[str] = Counter()
        self._todo: list[tuple[str, IgnoreRules | None]] = [("", None)]
        self._devices: dict[str, str] = {}
        self._filled: set[str] = set()  # folders with an entry that is no folder to walk

    def listing(self) -> Listing:
        while self._todo:
            folder, rules = self._todo.pop()
            try:
                with (
                    _opened_folder(self.root, PurePosixPath(folder)) as handle,
                    os.scandir(handle) as entries,
                ):
                    self._devices[folder] = str(os.fstat(handle).st_dev)
                    self._enter(folder, list(entries), rules)
            except OSError as error:
                if not folder:
                    raise FolderNotFound(f"{self.root}: cannot be listed: {error.strerror}") from error
                if not isinstance(error, FileNotFoundError):  # deleted since the folder above was listed
                    self._devices[folder] = ""
                    self._reject(folder.rstrip("/"), f"folder cannot be listed: {error.strerror}")
        return Listing(tuple(self.files), tuple(self.rejected), self.skipped, self._folders())

    def _folders(self) -> dict[str, str]:
        filled: set[str] = set()
        for folder in self._filled:
            while folder not in filled:
                filled.add(folder)
                folder = folder[: folder.rfind("/", 0, -1) + 1]
        return {
            self._id(folder).rstrip("/"): device if folder in filled else ""
            for folder, device in self._devices.items()
        }

    def _enter(self, folder: str, entries: list[os.DirEntry[str]], rules: IgnoreRules | None) -> None:
        names = {entry.name for entry in entries}
        if names.issuperset(PARTS_OF_INDEX):
            self.skipped["folder of an index"] += 1
            self._filled.add(folder)
            return
        if IGNORE_FILE in names:
            rules = self._read_rules(folder, rules)
        while entries:  # popped to free its memory: a folder may hold a million
            entry = entries.pop()
            if entry.name not in OWN_FILES:
                self._visit(folder, entry, rules)

    def _visit(self, folder: str, entry: os.DirEntry[str], rules: IgnoreRules | None) -> None:
        place = folder + entry.name
        try:
            status = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            return  # deleted since the folder was listed
        except OSError as error:
            self._devices[place] = ""
            self._reject(place, f"cannot be read: {error.strerror}")
            return
        is_folder = stat.S_ISDIR(status.st_mode)
        if reason := _skip_reason(entry.name, status.st_mode):
            self.skipped[reason] += 1
        elif rules is not None and rules.ignores(place, is_folder):
            self.skipped[f"ignored by {IGNORE_FILE}"] += 1
        elif is_folder:
            self._todo.append((place + "/", rules))
            return
        else:
            stamp = f"{status.st_ino} {status.st_ctime_ns} {self._devices[folder]}"
            self.files.append(
                FoundFile(self._id(place), self.root, place, status.st_size, status.st_mtime_ns, stamp)
            )
        self._filled.add(folder)

    def _read_rules(self, folder: str, above: IgnoreRules | None) -> IgnoreRules | None:
        place = folder + IGNORE_FILE
        try:
            rules, complaints = read_rules(read_regular(self.root, place), folder, above)
        except DocumentRejected as error:
            self._reject(place, f"its rules are ignored: {error}")
            return above
        if complaints:
            self._reject(place, "; ".join(complaints))
        return rules

    def _reject(self, place: str, reason: str) -> None:
        self.rejected.append(RejectedFile(self._id(place), reason))

    def _id(self, place: str) -> str:
        return self.prefix + readable(place)


def _skip_reason(name: str, mode: int) -> str:
    """The reason to skip an entry, or the empty string."""
    kind = stat.S_IFMT(mode)
    if name in SKIPPED_FOLDERS and kind == stat.S_IFDIR:
        return f"folder {name}"
    if name.startswith((".", "~$")):  # "~$" of files that Office has open
        return "hidden"
    return "" if kind in (stat.S_IFREG, stat.S_IFDIR) else KINDS.get(kind, "special file")


def readable(name: str) -> str:
    """The name with escapes for bytes that are not UTF-8, so that it can be stored and printed.

    >>> readable("caf\\udce9.txt")
    'caf\\\\xe9.txt'
    """
    return os.fsencode(name).decode("utf-8", "backslashreplace")


@contextmanager
def _opened_folder(root: Path, relative: PurePosixPath) -> Iterator[int]:
    """A descriptor of a folder below `root`; `OSError` if a part of the path is not a folder, or a link."""
    handle = os.open(root, ROOT_FLAGS)
    try:
        for part in relative.parts:
            child = os.open(part, FOLDER_FLAGS, dir_fd=handle)
            os.close(handle)
            handle = child
        yield handle
    finally:
        os.close(handle)


def read_regular(root: Path, place: str) -> bytes:
    """The bytes of a regular file below `root`; `DocumentRejected` for links, pipes and large files."""
    relative = PurePosixPath(place)
    if relative.is_absolute() or ".." in relative.parts or not relative.name:
        raise ValueError(f"{place!r}: expected a path relative to its folder, without '..'")
    try:
        with _opened_folder(root, relative.parent) as folder:
            handle = os.open(relative.name, FILE_FLAGS, dir_fd=folder)
        with os.fdopen(handle, "rb") as file:
            return _read_settled(file.fileno())
    except OSError as error:
        raise DocumentRejected(f"cannot be opened: {error.strerror or error}") from error


def _read_settled(handle: int) -> bytes:
    """All bytes of an open file, read a second time if it changed during the first.

    Only a file that changes again during the second can mix two versions.
    """
    before = os.fstat(handle)
    data = _read(handle)
    after = os.fstat(handle)
    if (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns):
        return data
    os.lseek(handle, 0, os.SEEK_SET)
    return _read(handle)


def _read(handle: int) -> bytes:
    """All bytes of an open regular file; the limit also holds for a file that grows while it is read."""
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        raise DocumentRejected("not a regular file")
    data = bytearray()
    n_bytes = status.st_size
    while n_bytes <= MAX_BYTES and (block := os.read(handle, 1 << 20)):
        data += block
        n_bytes = max(n_bytes, len(data))
    if n_bytes > MAX_BYTES:
        raise DocumentRejected(f"{n_bytes // 1_000_000} MB; the limit is {MAX_BYTES // 1_000_000} MB")
    return bytes(data)
