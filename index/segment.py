"""An immutable segment on disk: a directory of flat arrays and the manifest that vouches for them.

    segments/<sha256 of manifest.json>/manifest.json
    segments/<sha256 of manifest.json>/<column>.bin      little-endian numbers, nothing else

A segment is named by the digest of its manifest, and the manifest holds the digest of every column, so the
name alone, kept in the catalog, proves every byte. Opening checks the manifest and the sizes; `check` reads
a column and compares its digest.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spanwise.errors import FormatTooNew, IndexCorrupt

from .atomic import publish, write_file

FORMAT = 1
_MANIFEST = "manifest.json"
_TEMPORARY = ".unfinished"


@dataclass(frozen=True, slots=True)
class Segment:
    """An open segment: `columns` are read-only arrays mapped from its files, which stay readable if those
    are deleted. `kind` says what they mean; `model` is the digest of the model that wrote them, or empty.
    """

    path: Path
    kind: str
    model: str
    columns: Mapping[str, NDArray[Any]]
    digests: Mapping[str, str]

    def check(self, *names: str) -> None:
        """Compare columns (default: all) with their digests; `IndexCorrupt` names the damaged file."""
        for name in names or self.columns:
            if _digest(self.columns[name].data) != self.digests[name]:
                raise damaged(self.path / f"{name}.bin", "its content does not match its digest")


def damaged(path: Path, how: str) -> IndexCorrupt:
    """The error for a file of a segment that is not as it was written."""
    return IndexCorrupt(f"{path} is damaged ({how}): delete the index and run `spanwise index FOLDER` again")


def write_segment(folder: Path, kind: str, model: str, columns: Mapping[str, NDArray[Any]]) -> str:
    """Write one segment durably under `folder` and return its name; equal columns give equal bytes."""
    temporary = folder / _TEMPORARY
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    entries = {name: _write_column(temporary, name, column) for name, column in columns.items()}
    manifest = {"format": FORMAT, "kind": kind, "model": model, "columns": entries}
    text = json.dumps(manifest, sort_keys=True, indent=1).encode("ascii")
    write_file(temporary / _MANIFEST, text)
    name = _digest(text)
    publish(temporary, folder / name)
    return name


def open_segment(path: Path) -> Segment:
    """Map a segment into memory. `FileNotFoundError` when the directory is gone, `IndexCorrupt` when its
    manifest is not the one it is named by or a file is missing or of the wrong size.
    """
    manifest = _manifest(path)
    entries = manifest["columns"]
    return Segment(
        path=path,
        kind=manifest["kind"],
        model=manifest["model"],
        columns={name: _map_column(path / f"{name}.bin", entry) for name, entry in entries.items()},
        digests={name: entry["sha256"] for name, entry in entries.items()},
    )


def _write_column(folder: Path, name: str, column: NDArray[Any]) -> dict[str, Any]:
    flat = np.ascontiguousarray(column, dtype=column.dtype.newbyteorder("<"))
    write_file(folder / f"{name}.bin", flat.data)
    return {
        "dtype": flat.dtype.str,
        "shape": list(flat.shape),
        "bytes": flat.nbytes,
        "sha256": _digest(flat.data),
    }


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


def _map_column(path: Path, entry: Mapping[str, Any]) -> NDArray[Any]:
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        raise damaged(path, "the file is missing") from None
    if size != entry["bytes"]:
        raise damaged(path, f"it has {size} bytes instead of {entry['bytes']}")
    dtype, shape = np.dtype(entry["dtype"]), tuple(entry["shape"])
    if size == 0:  # an empty file cannot be mapped
        return np.empty(shape, dtype)
    return np.asarray(np.memmap(path, dtype=dtype, mode="r", shape=shape))


def _digest(data: Any) -> str:
    return hashlib.sha256(data).hexdigest()
