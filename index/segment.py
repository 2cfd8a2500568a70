"""Immutable segments: a file of flat arrays, and a manifest with the digest of every column.

    segments/<sha256 of manifest.json>/manifest.json
    segments/<sha256 of manifest.json>/columns.bin      little-endian numbers, each column on a multiple of 64

A segment is named by the digest of its manifest, and the catalog keeps the name. So every byte can be
verified. Opening checks the manifest and the size; `check` reads columns and compares their digests.

Manifests are untrusted input: damaged or crafted. Their values are checked before a file is mapped. No column
reaches beyond its file or into another column. Columns of a known kind have the types and sizes that their
readers rely on.
"""

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

from .files import FORMAT, OLDEST, corruption, publish, sha256_of, write_file
from .protocol import Array, Ids

MANIFEST = "manifest.json"
COLUMNS = "columns.bin"
UNFINISHED = ".unfinished"
MAX_MANIFEST_BYTES = 2**20  # ours have about 2,000
ALIGNMENT = 64  # bytes; the length of a cache line
POSTINGS = "postings"
VECTORS = "vectors"
TOKENS = "tokens"
CODEBOOK = "codebook"
ANN = "ann"

_DIGEST = re.compile(r"[0-9a-f]{64}")
# The columns of each kind: the allowed dtypes, and the names of the dimensions. Equal names mean equal sizes.
_LAYOUTS: dict[str, dict[str, str]] = {
    POSTINGS: {
        "passage_ids": "<i8: n",
        "lengths": "<u4: n",
        "terms": "|u1: bytes",
        "term_ends": "<u8: t + 1",
        "starts": "<u8: t + 1",
        "rows": "<u4: p",
        "counts": "<u2 or <u4: p",
        "sums": "<u4: t",
    },
    VECTORS: {
        "passage_ids": "<i8: n",
        "vectors": "<f4: n, width",
        "sums": "<u4: n",
    },
    TOKENS: {
        "passage_ids": "<i8: n",
        "ends": "<i8: n",
        "centroids": "<u2: tokens",
        "values": "|u1: tokens, bytes",
        "scales": "<f2: tokens",
        "sums": "<u4: n",
    },
    CODEBOOK: {
        "centroids": "<f4: centroids, width",
        "levels": "<f4: levels",
        "numbers": "<i8: two",
        "distance": "<f8: one",
    },
    ANN: {
        "passage_ids": "<i8: n",
        "sums": "<u4: n",
        "faiss": "|u1: bytes",
        "search": "<i8: three",
        "recall": "<f4: two",
    },
}
_DTYPES = {"|u1", "<u2", "<u4", "<u8", "<i8", "<f2", "<f4", "<f8"}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a file.

    dtype: numpy's name of its type, little-endian
    shape: its dimensions
    offset: of its first byte in the file
    sha256: of its bytes
    """

    dtype: str
    shape: tuple[int, ...]
    offset: int
    sha256: str

    @property
    def end(self) -> int:
        """The offset after its last byte."""
        return self.offset + prod(self.shape) * np.dtype(self.dtype).itemsize


@dataclass(frozen=True, slots=True)
class Manifest:
    """The contents of one segment.

    kind: one of postings, vectors, tokens, codebook, ann
    model: the digest of the model that made the data, or empty
    n_bytes: the size of its file
    sha256: the digest of its file
    columns: by name
    """

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
    """An open segment.

    path: its directory
    kind, model: see `Manifest`
    columns: read-only arrays mapped from its file; they stay readable after the file is deleted
    digests: of each column, and of the whole file under `COLUMNS`
    data: the mapped file
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
        """Compare columns with their digests. `IndexCorrupt` names the file and the column."""
        for name in names:
            if sha256_of(self.columns[name].data) != self.digests[name]:
                raise self.corruption(f"column {name} does not match its digest")

    def check_file(self) -> None:
        """Compare the whole file with its digest, including the bytes between columns."""
        if sha256_of(self.data) != self.digests[COLUMNS]:
            self.check(*self.columns)
            raise self.corruption("a byte between its columns changed")

    def corruption(self, reason: str) -> IndexCorrupt:
        """The error for a file that differs from what was written."""
        return corruption(self.path / COLUMNS, reason)

    def release(self) -> None:
        """Free the memory of pages that were read; they are read again when needed."""
        if isinstance(self.data, mmap.mmap):
            self.data.madvise(mmap.MADV_DONTNEED)


def is_digest(text: object) -> bool:
    """True if this is a SHA-256 in lowercase hexadecimal."""
    return isinstance(text, str) and _DIGEST.fullmatch(text) is not None


def is_segment_name(name: str) -> bool:
    """True if a directory of that name is a segment, finished or not."""
    return name == UNFINISHED or is_digest(name)


def open_segment(path: Path) -> Segment:
    """Map a segment into memory.

    Raise `FileNotFoundError` when the directory is gone. Raise `IndexCorrupt` when the manifest does not
    match its name, or the file is missing or has the wrong size.
    """
    manifest = _manifest(path)
    data = _map(path / COLUMNS, manifest.n_bytes)
    columns = {}
    digests = {COLUMNS: manifest.sha256}
    for name, column in manifest.columns.items():
        flat = np.frombuffer(data, np.dtype(column.dtype), prod(column.shape), column.offset)
        columns[name] = flat.reshape(column.shape)
        digests[name] = column.sha256
    return Segment(path, manifest.kind, manifest.model, columns, digests, data)


def _manifest(path: Path) -> Manifest:
    if not path.is_dir():
        raise FileNotFoundError(f"{path} is missing")
    try:
        with (path / MANIFEST).open("rb") as file:
            text = file.read(MAX_MANIFEST_BYTES)
    except FileNotFoundError:
        raise corruption(path / MANIFEST, "the file is missing") from None
    if sha256_of(text) != path.name:
        raise corruption(path / MANIFEST, "it does not match the name of the segment")
    return parse_manifest(text, path / MANIFEST)


def _map(path: Path, size: int) -> mmap.mmap | bytes:
    try:
        with path.open("rb") as file:
            actual_size = file.seek(0, 2)
            if actual_size != size:
                raise corruption(path, f"it has {actual_size} bytes instead of {size}")
            return mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) if size else b""
    except FileNotFoundError:
        raise corruption(path, "the file is missing") from None


def parse_manifest(text: bytes, path: Path) -> Manifest:
    """The manifest in these bytes of the file `path`. Raise `FormatTooNew` or `IndexCorrupt`."""
    try:
        raw = json.loads(text)
        if raw["format"] > FORMAT:
            raise FormatTooNew(
                f"{path.parent} has format {raw['format']}, this program reads format {FORMAT}: "
                "install a newer spanwise"
            )
        columns = {name: _column(entry) for name, entry in raw["columns"].items()}
        manifest = Manifest(raw["kind"], raw["model"], raw["bytes"], raw["sha256"], columns)
        if type(raw["format"]) is not int or raw["format"] < OLDEST:
            raise ValueError(f"format {raw['format']!r}, expected {OLDEST} to {FORMAT}")
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
    end = 0
    for column in sorted(manifest.columns.values(), key=lambda column: (column.offset, column.end)):
        if column.offset < end or column.offset % ALIGNMENT:
            raise ValueError(f"a column at {column.offset}, another one ends at {end}")
        end = column.end
    if end > manifest.n_bytes:
        raise ValueError(f"columns up to {end} in a file of {manifest.n_bytes} bytes")
    sizes: dict[str, int] = {}
    for name, layout in _LAYOUTS.get(manifest.kind, {}).items():
        column = manifest.columns[name]
        dtypes, _, names = layout.partition(": ")
        dimensions = names.split(", ")
        if column.dtype not in dtypes.split(" or ") or len(column.shape) != len(dimensions):
            raise ValueError(f"column {name} of {column.dtype} {column.shape}")
        for dimension, size in zip(dimensions, column.shape, strict=True):
            variable, _, addend = dimension.partition(" + ")
            value = size - int(addend or 0)
            if sizes.setdefault(variable, value) != value:
                raise ValueError(f"column {name} has {size} rows, {variable} is {sizes[variable]}")
    if min(sizes.get("t", 0), sizes.get("width", 1) - 1) < 0:
        raise ValueError("a column without rows that needs one")


@dataclass(frozen=True, slots=True)
class Blocks:
    """A column that is made while it is written.

    dtype, shape: of the whole column
    parts: the arrays that make up the column, in order
    """

    dtype: str
    shape: tuple[int, ...]
    parts: Iterable[Array]


Columns = Mapping[str, Array | Blocks]


def write_segment(folder: Path, kind: str, model: str, columns: Columns) -> str:
    """Durably write one segment under `folder` and return its name. Equal columns give equal bytes.

    An existing segment of the same name stays, unless it is damaged.
    """
    temporary = folder / UNFINISHED
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    layout = _Layout()
    write_file(temporary / COLUMNS, layout.parts(columns))
    text = Manifest(kind, model, layout.n_bytes, layout.sha256.hexdigest(), layout.columns).to_json()
    write_file(temporary / MANIFEST, [text])
    name = sha256_of(text)
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
            offset = self.n_bytes
            sha256 = hashlib.sha256()
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
