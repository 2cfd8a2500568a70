"""An immutable segment on disk: a file of flat arrays and the manifest that vouches for it.

    segments/<sha256 of manifest.json>/manifest.json
    segments/<sha256 of manifest.json>/columns.bin      little-endian numbers, each column on a multiple of 64

A segment is named by the digest of its manifest, and the manifest holds the digest of every column, so the
name alone, kept in the catalog, proves every byte. Opening checks the manifest and the size; `check` reads
columns and compares their digests.
"""

from __future__ import annotations

import hashlib
import mmap
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import manifest
from .manifest import Manifest, damaged, is_digest, parse_manifest

MANIFEST = "manifest.json"
COLUMNS = "columns.bin"
UNFINISHED = ".unfinished"


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

    @property
    def passage_ids(self) -> NDArray[np.int64]:
        """(n,) the passages that it holds rows of; none in a codebook, which belongs to all of a model."""
        return self.columns.get("passage_ids", np.empty(0, np.int64))

    def check(self, *names: str) -> None:
        """Compare columns with their digests; `IndexCorrupt` names the file and the column."""
        for name in names:
            if hashlib.sha256(self.columns[name].data).hexdigest() != self.digests[name]:
                raise damaged(self.path / COLUMNS, f"column {name} does not match its digest")

    def check_file(self) -> None:
        """Compare the whole file with its digest, also the bytes between columns."""
        if hashlib.sha256(self.data).hexdigest() != self.digests[COLUMNS]:
            self.check(*self.columns)
            raise damaged(self.path / COLUMNS, "a byte between its columns changed")

    def release(self) -> None:
        """Give back the memory of the pages that were read; they are read again when they are needed."""
        if isinstance(self.data, mmap.mmap):
            self.data.madvise(mmap.MADV_DONTNEED)


def is_segment_name(name: str) -> bool:
    """Whether a directory of that name is a segment, finished or not."""
    return name == UNFINISHED or is_digest(name)


def open_segment(path: Path) -> Segment:
    """Map a segment into memory. `FileNotFoundError` when the directory is gone, `IndexCorrupt` when its
    manifest is not the one it is named by or its file is missing or of the wrong size.
    """
    found = _manifest(path)
    data = _map(path / COLUMNS, found.n_bytes)
    return Segment(
        path=path,
        kind=found.kind,
        model=found.model,
        columns={name: _array(data, column) for name, column in found.columns.items()},
        digests={COLUMNS: found.sha256} | {name: column.sha256 for name, column in found.columns.items()},
        data=data,
    )


def _manifest(path: Path) -> Manifest:
    """The manifest, after it has proved to be the one that the segment is named by."""
    if not path.is_dir():
        raise FileNotFoundError(f"{path} is missing")
    try:
        with (path / MANIFEST).open("rb") as file:
            text = file.read(manifest.MOST_BYTES)
    except FileNotFoundError:
        raise damaged(path / MANIFEST, "the file is missing") from None
    if hashlib.sha256(text).hexdigest() != path.name:
        raise damaged(path / MANIFEST, "it is not the manifest that the segment is named by")
    return parse_manifest(text, path / MANIFEST)


def _map(path: Path, size: int) -> mmap.mmap | bytes:
    try:
        with path.open("rb") as file:
            found = file.seek(0, 2)
            if found != size:
                raise damaged(path, f"it has {found} bytes instead of {size}")
            return mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) if size else b""
    except FileNotFoundError:
        raise damaged(path, "the file is missing") from None


def _array(data: mmap.mmap | bytes, column: manifest.Column) -> NDArray[Any]:
    flat = np.frombuffer(data, np.dtype(column.dtype), prod(column.shape), column.offset)
    return flat.reshape(column.shape)
