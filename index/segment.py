"""Immutable segments: a file of flat arrays, and a manifest with the digest of every column.

    segments/<sha256 of manifest.json>/manifest.json
    segments/<sha256 of manifest.json>/columns.bin      little-endian numbers, each column on a multiple of 64

A segment is named by the digest of its manifest, so its name, kept in the catalog, proves every byte. Opening
checks the manifest and the size; `check` reads columns and compares their digests.

A manifest may come from a damaged disk or from a stranger. Its values are checked before a file is mapped: no
column reaches beyond its file or into another, and columns of a known kind have the types and sizes that
their readers rely on.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from spanwise.errors import FormatTooNew, IndexCorrupt

from .files import corruption, publish, write_file
from .protocol import Array, Ids

FORMAT = 4  # of the whole index: catalog and segments
MANIFEST = "manifest.json"
COLUMNS = "columns.bin"
UNFINISHED = ".unfinished"
MAX_MANIFEST_BYTES = 2**20  # ours have about 2,000
ALIGNMENT = 64  # bytes; the length of a cache line
POSTINGS, VECTORS, TOKENS, CODEBOOK, ANN = "postings", "vectors", "tokens", "codebook", "ann"

_DIGEST = re.compile(r"[0-9a-f]{64}")
# The columns of each kind, with the dtypes they may have and their sizes; equal names are equal sizes.
_LAYOUTS: dict[str, dict[str, tuple[set[str], tuple[str, ...]]]] = {
    POSTINGS: {
        "passage_ids": ({"<i8"}, ("n",)),
        "lengths": ({"<u4"}, ("n",)),
        "terms": ({"|u1"}, ("bytes",)),
        "term_ends": ({"<u8"}, ("t + 1",)),
        "starts": ({"<u8"}, ("t + 1",)),
        "rows": ({"<u4"}, ("p",)),
        "counts": ({"<u2", "<u4"}, ("p",)),
        "sums": ({"<u4"}, ("t",)),
    },
    VECTORS: {
        "passage_ids": ({"<i8"}, ("n",)),
        "vectors": ({"<f4"}, ("n", "width")),
        "sums": ({"<u4"}, ("n",)),
    },
    TOKENS: {
        "passage_ids": ({"<i8"}, ("n",)),
        "ends": ({"<i8"}, ("n",)),
        "centroids": ({"<u2"}, ("tokens",)),
        "values": ({"|u1"}, ("tokens", "bytes")),
        "scales": ({"<f2"}, ("tokens",)),
        "sums": ({"<u4"}, ("n",)),
    },
    CODEBOOK: {
        "centroids": ({"<f4"}, ("centroids", "width")),
        "levels": ({"<f4"}, ("levels",)),
        "numbers": ({"<i8"}, ("two",)),
        "distance": ({"<f8"}, ("one",)),
    },
    ANN: {
        "passage_ids": ({"<i8"}, ("n",)),
        "sums": ({"<u4"}, ("n",)),
        "faiss": ({"|u1"}, ("bytes",)),
        "search": ({"<i8"}, ("three",)),
        "recall": ({"<f4"}, ("two",)),
    },
}
_DTYPES = {dtype for layout in _LAYOUTS.values() for dtypes, _ in layout.values() for dtype in dtypes}


@dataclass(frozen=True, slots=True)
class Column:
    """The place of a column in its file, its type, and its digest."""

    dtype: str
    shape: tuple[int, ...]
    offset: int
    sha256: str

    @property
    def end(self) -> int:
        """The offset behind its last byte."""
        return self.offset + prod(self.shape) * np.dtype(self.dtype).itemsize


@dataclass(frozen=True, slots=True)
class Manifest:
    """The contents of one segment: `n_bytes` is the size of its file, `sha256` its digest."""

    kind: str
    model: str
    n_bytes: int
    sha256: str
    columns: Mapping[str, Column]

    def to_json(self) -> bytes:
        """The bytes of `manifest.json`; equal manifests give equal bytes."""
        columns = {name: asdict(column) for name, column in self.columns.items()}
        head = {"format": FORMAT, "kind": self.kind, "model": self.model}
        body = {"bytes": self.n_bytes, "sha256": self.sha256, "columns": columns}
        return json.dumps(head | body, sort_keys=True, indent=1).encode("ascii")


@dataclass(frozen=True, slots=True)
class Segment:
    """An open segment. `columns` are read-only arrays mapped from its file; they stay readable after the file
    is deleted. `model` is the digest of the model that made them, or empty.
    """

    path: Path
    kind: str
    model: str
    columns: Mapping[str, Array]
    digests: Mapping[str, str]
    data: mmap.mmap | bytes

    @property
    def passage_ids(self) -> Ids:
        """(n,) the passages of its rows; empty for a codebook."""
        return self.columns.get("passage_ids", np.empty(0, np.int64))

    def check(self, *names: str) -> None:
        """Compare columns with their digests; `IndexCorrupt` names the file and the column."""
        for name in names:
            if hashlib.sha256(self.columns[name].data).hexdigest() != self.digests[name]:
                raise self.corruption(f"column {name} does not match its digest")

    def check_file(self) -> None:
        """Compare the whole file with its digest, including the bytes between columns."""
        if hashlib.sha256(self.data).hexdigest() != self.digests[COLUMNS]:
            self.check(*self.columns)
            raise self.corruption("a byte between its columns changed")

    def corruption(self, how: str) -> IndexCorrupt:
        """The error for a file that differs from what was written."""
        return corruption(self.path / COLUMNS, how)

    def release(self) -> None:
        """Give back the memory of pages that were read; they are read again when needed."""
        if isinstance(self.data, mmap.mmap):
            self.data.madvise(mmap.MADV_DONTNEED)


def is_digest(text: object) -> bool:
    """Whether this is a SHA-256 in lowercase hexadecimal."""
    return isinstance(text, str) and _DIGEST.fullmatch(text) is not None


def is_segment_name(name: str) -> bool:
    """Whether a directory of that name is a segment, finished or not."""
    return name == UNFINISHED or is_digest(name)


def open_segment(path: Path) -> Segment:
    """Map a segment into memory. `FileNotFoundError` when the directory is gone, `IndexCorrupt` when its
    manifest does not match its name or its file is missing or has the wrong size.
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
    if not path.is_dir():
        raise FileNotFoundError(f"{path} is missing")
    try:
        with (path / MANIFEST).open("rb") as file:
            text = file.read(MAX_MANIFEST_BYTES)
    except FileNotFoundError:
        raise corruption(path / MANIFEST, "the file is missing") from None
    if hashlib.sha256(text).hexdigest() != path.name:
        raise corruption(path / MANIFEST, "it does not match the name of the segment")
    return parse_manifest(text, path / MANIFEST)


def _map(path: Path, size: int) -> mmap.mmap | bytes:
    try:
        with path.open("rb") as file:
            found = file.seek(0, 2)
            if found != size:
                raise corruption(path, f"it has {found} bytes instead of {size}")
            return mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) if size else b""
    except FileNotFoundError:
        raise corruption(path, "the file is missing") from None


def _array(data: mmap.mmap | bytes, column: Column) -> Array:
    flat = np.frombuffer(data, np.dtype(column.dtype), prod(column.shape), column.offset)
    return flat.reshape(column.shape)


def parse_manifest(text: bytes, path: Path) -> Manifest:
    """The manifest in these bytes of the file `path`; `FormatTooNew`, or `IndexCorrupt` for bad values."""
    try:
        raw = json.loads(text)
        if raw["format"] > FORMAT:
            raise FormatTooNew(
                f"{path.parent} has format {raw['format']}, this program reads format {FORMAT}: "
                "install a newer spanwise"
            )
        columns = {name: _column(entry) for name, entry in raw["columns"].items()}
        manifest = Manifest(raw["kind"], raw["model"], raw["bytes"], raw["sha256"], columns)
        if type(raw["format"]) is not int or raw["format"] != FORMAT:
            raise ValueError(f"format {raw['format']!r}, expected {FORMAT}")
        _check(manifest)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise corruption(path, f"invalid manifest: {error!r}") from error
    return manifest


def _column(entry: Mapping[str, Any]) -> Column:
    column = Column(entry["dtype"], tuple(entry["shape"]), entry["offset"], entry["sha256"])
    sizes = (*column.shape, column.offset)
    if not all(type(size) is int and 0 <= size < 2**48 for size in sizes) or len(sizes) > 3:
        raise ValueError(f"the place of a column is {sizes}")
    if column.dtype not in _DTYPES:
        raise ValueError(f"a column of {column.dtype!r}")
    if not is_digest(column.sha256):
        raise ValueError("a column without a digest")
    return column


def _check(manifest: Manifest) -> None:
    """Raise `ValueError` unless the columns follow one another within the file and fit their kind."""
    if not (isinstance(manifest.kind, str) and isinstance(manifest.model, str)):
        raise ValueError("kind and model must be text")
    if type(manifest.n_bytes) is not int or manifest.n_bytes < 0 or not is_digest(manifest.sha256):
        raise ValueError("the size or digest of the file")
    at = 0
    for column in sorted(manifest.columns.values(), key=lambda column: (column.offset, column.end)):
        if column.offset < at or column.offset % ALIGNMENT:
            raise ValueError(f"a column at {column.offset}, another one ends at {at}")
        at = column.end
    if at > manifest.n_bytes:
        raise ValueError(f"columns up to {at} in a file of {manifest.n_bytes} bytes")
    sizes: dict[str, int] = {}
    for name, (dtypes, dimensions) in _LAYOUTS.get(manifest.kind, {}).items():
        column = manifest.columns[name]
        if column.dtype not in dtypes or len(column.shape) != len(dimensions):
            raise ValueError(f"column {name} of {column.dtype} {column.shape}")
        for dimension, size in zip(dimensions, column.shape, strict=True):
            variable, _, more = dimension.partition(" + ")
            if sizes.setdefault(variable, size - int(more or 0)) != size - int(more or 0):
                raise ValueError(f"column {name} has {size} rows, {variable} is {sizes[variable]}")
    if min(sizes.get("t", 0), sizes.get("width", 1) - 1) < 0:
        raise ValueError("a column without rows that needs one")


@dataclass(frozen=True, slots=True)
class Blocks:
    """A column that is made while it is written: arrays that together have this dtype and shape."""

    dtype: str
    shape: tuple[int, ...]
    parts: Iterable[Array]


Columns = Mapping[str, Array | Blocks]


def write_segment(folder: Path, kind: str, model: str, columns: Columns) -> str:
    """Write one segment durably under `folder` and return its name; equal columns give equal bytes.

    An existing segment of the same name stays, unless it is damaged.
    """
    temporary = folder / UNFINISHED
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    layout = _Layout()
    write_file(temporary / COLUMNS, layout.parts(columns))
    text = Manifest(kind, model, layout.n_bytes, layout.sha256.hexdigest(), layout.columns).to_json()
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
    """Counts and digests the bytes of a file while they are written."""

    def __init__(self) -> None:
        self.columns: dict[str, Column] = {}
        self.n_bytes = 0
        self.sha256 = hashlib.sha256()

    def parts(self, columns: Columns) -> Iterator[bytes | memoryview]:
        """The bytes of the file, each column on a multiple of `ALIGNMENT`."""
        for name, column in columns.items():
            offset, sha256 = self.n_bytes, hashlib.sha256()
            for part in column.parts if isinstance(column, Blocks) else [column]:
                flat = np.ascontiguousarray(part, dtype=part.dtype.newbyteorder("<")).data
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
