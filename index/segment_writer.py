"""Writes a segment: durably, deterministically, and without holding a long column in memory."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spanwise.errors import IndexCorrupt

from .atomic import publish, write_file
from .manifest import ALIGNMENT, FORMAT, Column, Manifest
from .segment import COLUMNS, MANIFEST, UNFINISHED, open_segment


@dataclass(frozen=True, slots=True)
class Blocks:
    """A column that is made while it is written: arrays that together have the dtype and shape named."""

    dtype: str
    shape: tuple[int, ...]
    parts: Iterable[NDArray[Any]]


Columns = Mapping[str, NDArray[Any] | Blocks]


def write_segment(folder: Path, kind: str, model: str, columns: Columns) -> str:
    """Write one segment durably under `folder` and return its name; equal columns give equal bytes.

    An equal one may lie there, dropped but a moment ago: it stays, unless it is damaged.
    """
    temporary = folder / UNFINISHED
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    layout = _Layout()
    write_file(temporary / COLUMNS, layout.parts(columns))
    text = Manifest(FORMAT, kind, model, layout.n_bytes, layout.sha256.hexdigest(), layout.columns).to_json()
    write_file(temporary / MANIFEST, [text])
    name = hashlib.sha256(text).hexdigest()
    if _is_whole(folder / name):
        shutil.rmtree(temporary)
    else:
        shutil.rmtree(folder / name, ignore_errors=True)
        publish(temporary, folder / name)
    return name


def _is_whole(path: Path) -> bool:
    try:
        open_segment(path).check_file()
    except (FileNotFoundError, IndexCorrupt):
        return False
    return True


class _Layout:
    """Counts and digests what goes by on its way to the file."""

    def __init__(self) -> None:
        self.columns: dict[str, Column] = {}
        self.n_bytes = 0
        self.sha256 = hashlib.sha256()

    def parts(self, columns: Columns) -> Iterator[bytes | memoryview]:
        """The bytes of the file, each column on a multiple of `ALIGNMENT`."""
        for name, column in columns.items():
            offset, sha256 = self.n_bytes, hashlib.sha256()
            for part in column.parts if isinstance(column, Blocks) else [column]:
                flat = _little_endian(part).data
                sha256.update(flat)
                yield self._counted(flat)
            dtype = np.dtype(column.dtype).newbyteorder("<").str
            entry = Column(dtype, tuple(column.shape), offset, sha256.hexdigest())
            if entry.end != self.n_bytes:
                raise ValueError(f"column {name} ends at {self.n_bytes} instead of {entry.end}")
            self.columns[name] = entry
            yield self._counted(memoryview(bytes(-self.n_bytes % ALIGNMENT)))

    def _counted(self, part: memoryview) -> memoryview:
        self.n_bytes += part.nbytes
        self.sha256.update(part)
        return part


def _little_endian(column: NDArray[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(column, dtype=column.dtype.newbyteorder("<"))
