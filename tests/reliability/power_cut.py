"""What a disk may hold after a power cut, by the rules that POSIX gives and nothing more.

Bytes are on the disk after a sync of their file, a name after a sync of its folder. What was not synced may
be there, or not, or in part. A file system that promises more (ordered renames) is not relied upon.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from file_operations import Operation


class Data(Enum):
    """What became of the bytes that were not synced."""

    KEPT = "kept"
    DROPPED = "dropped"
    TORN = "torn"  # of each write the first half


class Names(Enum):
    """What became of the names that were not synced: made, changed or removed."""

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
    """One folder that existed and was on the disk before; operations below it happen one by one."""

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
                folder.now.pop(name, None)  # the lock and the log's index are not heard
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
