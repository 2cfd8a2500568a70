"""Collections of vectors with near and far neighbours, in segments that lie in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spanwise.index.segment import Segment
from spanwise.index.stored_vectors import StoredVectors
from spanwise.index.vectors import VectorSegment, sums

NOBODY = np.empty(0, np.int64)


def unit(rows: NDArray[np.floating]) -> NDArray[np.float32]:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def collection(n: int, width: int = 32, seed: int = 0) -> NDArray[np.float32]:
    """Vectors around a few dozen topics, all of them on one side of the origin, as those of a model are."""
    draw = np.random.default_rng(seed)
    topics = np.random.default_rng(7).standard_normal((40, width)) + 1.0
    return unit(topics[draw.integers(0, 40, n)] + 0.8 * draw.standard_normal((n, width)))


def segment_of(vectors: NDArray[np.float32], first: int = 1) -> VectorSegment:
    """A segment whose passages are numbered from `first`."""
    ids = np.arange(first, first + len(vectors))
    columns = {"passage_ids": ids, "vectors": vectors, "sums": sums(vectors)}
    segment = VectorSegment(Segment(Path("x"), "vectors", "m", columns, {}, b""))
    segment.__dict__["sums"] = columns["sums"]  # what a digest vouches for on the disk
    return segment


def stored_of(
    *parts: NDArray[np.float32], deleted: NDArray[np.int64] = NOBODY, checked: bool = True
) -> StoredVectors:
    """The live rows of these parts, numbered from 1."""
    firsts = np.cumsum([1, *map(len, parts)])
    segments = [segment_of(part, int(first)) for part, first in zip(parts, firsts, strict=False)]
    return StoredVectors.live(segments, deleted, checked)


def places(ids: list[int]) -> list[tuple[str, int, int]]:
    """A passage stands where its number says."""
    return [("d", number, 0) for number in ids]


def exact_ids(
    vectors: NDArray[np.float32], query: NDArray[np.float32], k: int, allowed: NDArray[np.int64] | None = None
) -> list[int]:
    """The best k of the vectors numbered from 1, by a float64 product each."""
    scores = (vectors.astype(np.float64) * query.astype(np.float64)).sum(axis=1)
    ids = np.arange(1, len(vectors) + 1) if allowed is None else allowed
    return sorted(ids.tolist(), key=lambda number: (-scores[number - 1], number))[:k]
