"""An immutable segment on disk: a file of flat arrays and the manifest that vouches for it.

    segments/<sha256 of manifest.json>/manifest.json
    segments/<sha256 of manifest.json>/columns.bin      little-endian numbers, each column on a multiple of 64

A segment is named by the digest of its manifest, and the manifest holds the digest of every column, so the
name alone, kept in the catalog, proves every byte. Opening checks the manifest and the size; `check` reads
columns and compares their digests.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spanwise.errors import FormatTooNew, IndexCorrupt

from .atomic import publish, write_file

FORMAT = 1
_MANIFEST = "manifest.json"
_COLUMNS = "columns.bin"
_TEMPORARY = ".unfinished"
_ALIGNMENT = 64  # bytes; the length of a cache line
_NAME = re.compile(r"[0-9a-f]{64}")

Columns = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Segment:
    """An open segment. `columns` are read-only arrays mapped from its file, which stay readable when the file
    is deleted. `kind` says what they mean; `model` is the digest of the model that wrote them, or empty.
    """

    path: Path
    kind: str
    model: str
    columns: Mapping[str, NDArray[Any]]
    digests: Mapping[str, str]
    data: mmap.mmap | bytes

    def check(self, *names: str) -> None:
        """Compare columns with their digests; `IndexCorrupt` names the file and the column."""
        for name in names:
            if _digest(self.columns[name].data) != self.digests[name]:
                raise damaged(self.path / _COLUMNS, f"column {name} does not match its digest")

    def check_file(self) -> None:
        """Compare the whole file with its digest, also the bytes between columns."""
        if _digest(self.data) != self.digests[_COLUMNS]:
            self.check(*self.columns)
            raise damaged(self.path / _COLUMNS, "a byte between its columns changed")


def is_segment_name(name: str) -> bool:
    """Whether a directory of that name is a segment, finished or not."""
    return name == _TEMPORARY or _NAME.fullmatch(name) is not None


def damaged(path: Path, how: str) -> IndexCorrupt:
    """The error for a file of a segment that is not as it was written."""
    return IndexCorrupt(f"{path} is damaged ({how}): delete the index and run `spanwise index FOLDER` again")


def write_segment(folder: Path, kind: str, model: str, columns: Mapping[str, NDArray[Any]]) -> str:
    """Write one segment durably under `folder` and return its name; equal columns give equal bytes."""
    temporary = folder / _TEMPORARY
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    flat = {name: _little_endian(column) for name, column in columns.items()}
    parts = [part for column in flat.values() for part in (column.data, bytes(-column.nbytes % _ALIGNMENT))]
    manifest = {
        "format": FORMAT,
        "kind": kind,
        "model": model,
        "bytes": sum(memoryview(part).nbytes for part in parts),
        "sha256": _digest(*parts),
        "columns": _layout(flat),
    }
    text = json.dumps(manifest, sort_keys=True, indent=1).encode("ascii")
    write_file(temporary / _COLUMNS, *parts)
    write_file(temporary / _MANIFEST, text)
    publish(temporary, folder / _digest(text))
    return _digest(text)


def open_segment(path: Path) -> Segment:
    """Map a segment into memory. `FileNotFoundError` when the directory is gone, `IndexCorrupt` when its
    manifest is not the one it is named by or its file is missing or of the wrong size.
    """
    manifest = _manifest(path)
    data = _map(path / _COLUMNS, manifest["bytes"])
    entries = manifest["columns"]
    return Segment(
        path=path,
        kind=manifest["kind"],
        model=manifest["model"],
        columns={name: _column(data, entry) for name, entry in entries.items()},
        digests={_COLUMNS: manifest["sha256"]} | {name: entry["sha256"] for name, entry in entries.items()},
        data=data,
    )


def _layout(columns: Mapping[str, NDArray[Any]]) -> dict[str, dict[str, Any]]:
    """Where each column stands in the file, how it is read, and its digest."""
    entries: dict[str, dict[str, Any]] = {}
    offset = 0
    for name, column in columns.items():
        shape = list(column.shape)
        digest = _digest(column.data)
        entries[name] = {"dtype": column.dtype.str, "shape": shape, "offset": offset, "sha256": digest}
        offset += column.nbytes + -column.nbytes % _ALIGNMENT
    return entries


def _little_endian(column: NDArray[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(column, dtype=column.dtype.newbyteorder("<"))


def _manifest(path: Path) -> dict[str, Any]:
    """The manifest, after it has proved to be the one that the segment is named by."""
    if not path.is_dir():
        raise FileNotFoundError(f"{path} is missing")
    try:
        text = (path / _MANIFEST).read_bytes()
    except FileNotFoundError:
        raise damaged(path / _MANIFEST, "the file is missing") from None
    if _digest(text) != path.name:
        raise damaged(path / _MANIFEST, "it is not the manifest that the segment is named by")
    manifest: dict[str, Any] = json.loads(text)
    if manifest["format"] > FORMAT:
        raise FormatTooNew(f"{path} has format {manifest['format']}, this program reads up to {FORMAT}")
    return manifest


def _map(path: Path, size: int) -> mmap.mmap | bytes:
    try:
        with path.open("rb") as file:
            found = file.seek(0, 2)
            if found != size:
                raise damaged(path, f"it has {found} bytes instead of {size}")
            return mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) if size else b""
    except FileNotFoundError:
        raise damaged(path, "the file is missing") from None


def _column(data: mmap.mmap | bytes, entry: Mapping[str, Any]) -> NDArray[Any]:
    shape = tuple(entry["shape"])
    flat = np.frombuffer(data, np.dtype(entry["dtype"]), prod(shape), entry["offset"])
    return flat.reshape(shape)


def _digest(*parts: Any) -> str:
    sha256 = hashlib.sha256()
    for part in parts:
        sha256.update(part)
    return sha256.hexdigest()
