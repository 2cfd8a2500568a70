"""The manifest of a segment: what its file holds and where, and the digests that vouch for it.

A manifest is trusted only as far as it makes sense: it may come from a damaged disk or from a stranger. So
its values are checked before anything is mapped by them: no column reaches beyond its file or into another,
and those of a known kind have the types and sizes that its readers rely on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from spanwise.errors import FormatTooNew, IndexCorrupt

FORMAT = 2
MOST_BYTES = 2**20  # of a manifest; ours have about 2,000
ALIGNMENT = 64  # bytes; the length of a cache line
_DIGEST = re.compile(r"[0-9a-f]{64}")

# Of each kind its columns, with the dtypes they may have and their sizes; equal names are equal sizes.
_LAYOUTS: dict[str, dict[str, tuple[set[str], tuple[str, ...]]]] = {
    "postings": {
        "passage_ids": ({"<i8"}, ("n",)),
        "lengths": ({"<u4"}, ("n",)),
        "terms": ({"|u1"}, ("bytes",)),
        "term_ends": ({"<u8"}, ("t + 1",)),
        "starts": ({"<u8"}, ("t + 1",)),
        "rows": ({"<u4"}, ("p",)),
        "counts": ({"<u2", "<u4"}, ("p",)),
        "sums": ({"<u4"}, ("t",)),
    },
    "vectors": {
        "passage_ids": ({"<i8"}, ("n",)),
        "vectors": ({"<f4"}, ("n", "width")),
        "covered": ({"<i4"}, ("n",)),
        "sums": ({"<u4"}, ("n",)),
    },
    "tokens": {
        "passage_ids": ({"<i8"}, ("n",)),
        "ends": ({"<i8"}, ("n",)),
        "centroids": ({"<u2"}, ("tokens",)),
        "values": ({"|u1"}, ("tokens", "bytes")),
        "scales": ({"<f2"}, ("tokens",)),
        "sums": ({"<u4"}, ("n",)),
        "covered": ({"<i4"}, ("n",)),
    },
    "codebook": {
        "centroids": ({"<f4"}, ("centroids", "width")),
        "levels": ({"<f4"}, ("levels",)),
        "numbers": ({"<i8"}, ("two",)),
        "distance": ({"<f8"}, ("one",)),
    },
    "codes": {
        "passage_ids": ({"<i8"}, ("n",)),
        "sums": ({"<u4"}, ("n",)),
        "codes": ({"|u1"}, ("n", "bytes")),
        "ends": ({"<i8"}, ("lists",)),
        "centroids": ({"<f4"}, ("lists", "width")),
        "codebooks": ({"<f4"}, ("entries", "group")),
        "search": ({"<i8"}, ("four",)),
        "recall": ({"<f4"}, ("two",)),
    },
}
_SINCE_FORMAT_2 = {("vectors", "covered"), ("vectors", "sums")}


@dataclass(frozen=True, slots=True)
class Column:
    """Where a column stands in the file, how it is read, and its digest."""

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
    """What one segment holds: `n_bytes` is the size of its file, `sha256` the digest of it."""

    format: int
    kind: str
    model: str
    n_bytes: int
    sha256: str
    columns: Mapping[str, Column]

    def to_json(self) -> bytes:
        """The bytes of `manifest.json`; equal manifests give equal bytes."""
        columns = {
            name: {"dtype": c.dtype, "shape": list(c.shape), "offset": c.offset, "sha256": c.sha256}
            for name, c in self.columns.items()
        }
        head = {"format": self.format, "kind": self.kind, "model": self.model}
        body = {"bytes": self.n_bytes, "sha256": self.sha256, "columns": columns}
        return json.dumps(head | body, sort_keys=True, indent=1).encode("ascii")


def damaged(path: Path, how: str) -> IndexCorrupt:
    """The error for a file of a segment that is not as it was written."""
    return IndexCorrupt(f"{path} is damaged ({how}): delete the index and run `spanwise index FOLDER` again")


def is_digest(text: object) -> bool:
    """Whether this is a SHA-256 as we write it."""
    return isinstance(text, str) and _DIGEST.fullmatch(text) is not None


def parse_manifest(text: bytes, path: Path) -> Manifest:
    """The manifest in these bytes of the file `path`: `FormatTooNew`, or `IndexCorrupt` for what makes no
    sense.
    """
    try:
        raw = json.loads(text)
        if raw["format"] > FORMAT:
            raise FormatTooNew(
                f"{path.parent} has format {raw['format']}, this program reads up to {FORMAT}: "
                "install a newer spanwise"
            )
        columns = {name: _column(entry) for name, entry in raw["columns"].items()}
        manifest = Manifest(raw["format"], raw["kind"], raw["model"], raw["bytes"], raw["sha256"], columns)
        _check(manifest)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise damaged(path, f"it makes no sense: {error!r}") from error
    return manifest


def _column(entry: Mapping[str, Any]) -> Column:
    column = Column(entry["dtype"], tuple(entry["shape"]), entry["offset"], entry["sha256"])
    sizes = (*column.shape, column.offset)
    if not all(type(size) is int and 0 <= size < 2**48 for size in sizes) or len(sizes) > 3:
        raise ValueError(f"the place of a column is {sizes}")
    if column.dtype not in {"<i8", "<u8", "<f4", "<f8", "<i4", "<u4", "<f2", "<u2", "|u1"}:
        raise ValueError(f"a column of {column.dtype!r}")
    if not is_digest(column.sha256):
        raise ValueError("a column without a digest")
    return column


def _check(manifest: Manifest) -> None:
    """Raise `ValueError` unless the columns stand behind one another, within the file, as their kind says."""
    if not (isinstance(manifest.kind, str) and isinstance(manifest.model, str)):
        raise ValueError("kind and model are texts")
    if type(manifest.format) is not int or manifest.format < 1:
        raise ValueError("the format is a number from 1")
    if type(manifest.n_bytes) is not int or manifest.n_bytes < 0 or not is_digest(manifest.sha256):
        raise ValueError("the size or digest of its file")
    at = 0
    for column in sorted(manifest.columns.values(), key=lambda column: (column.offset, column.end)):
        if column.offset < at or column.offset % ALIGNMENT:
            raise ValueError(f"a column at {column.offset}, where another one ends at {at}")
        at = column.end
    if at > manifest.n_bytes:
        raise ValueError(f"columns up to {at} in a file of {manifest.n_bytes} bytes")
    _check_layout(manifest)


def _check_layout(manifest: Manifest) -> None:
    sizes: dict[str, int] = {}
    for name, (dtypes, dimensions) in _LAYOUTS.get(manifest.kind, {}).items():
        if manifest.format < 2 and (manifest.kind, name) in _SINCE_FORMAT_2:
            continue
        column = manifest.columns[name]
        if column.dtype not in dtypes or len(column.shape) != len(dimensions):
            raise ValueError(f"column {name} of {column.dtype} {column.shape}")
        for dimension, size in zip(dimensions, column.shape, strict=True):
            variable, _, more = dimension.partition(" + ")
            if sizes.setdefault(variable, size - int(more or 0)) != size - int(more or 0):
                raise ValueError(f"column {name} has {size} rows, {variable} is {sizes[variable]}")
    if min(sizes.get("t", 0), sizes.get("width", 1) - 1) < 0:
        raise ValueError("a column without rows that needs one")
