"""Dense and token vectors in segments that lie in memory, and search over them by its definition."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spanwise.index.maxsim.codebook import Codebook
from spanwise.index.passage_rows import RowsSegment, StoredRows, sums_of
from spanwise.index.segment import TOKENS, VECTORS, Segment

Vectors = NDArray[np.float32]
NOBODY = np.empty(0, np.int64)


class MemorySegment(Segment):
    """A segment in memory, whose columns match their digests."""

    def check(self, *names: str) -> None:
        """Nothing can be damaged."""


def unit(rows: Any) -> Vectors:
    matrix = np.asarray(rows, np.float64)
    return (matrix / np.linalg.norm(matrix, axis=-1, keepdims=True)).astype(np.float32)


def random_unit(n: int, width: int, seed: int = 0) -> Vectors:
    return unit(np.random.default_rng(seed).standard_normal((n, width)))


def collection(n: int, width: int = 32, seed: int = 0) -> Vectors:
    """Vectors around a few dozen topics, all of them on one side of the origin, as those of a model are."""
    draw = np.random.default_rng(seed)
    topics = np.random.default_rng(7).standard_normal((40, width)) + 1.0
    return unit(topics[draw.integers(0, 40, n)] + 0.8 * draw.standard_normal((n, width)))


def segment_of(kind: str, first: int, lengths: Sequence[int], data: dict[str, Any]) -> RowsSegment:
    """A segment whose passages are numbered from `first`."""
    ends = np.cumsum(lengths)
    columns = {"passage_ids": np.arange(first, first + len(lengths)), **data}
    if kind == TOKENS:
        columns["ends"] = ends
    columns["sums"] = sums_of(data, ends - np.asarray(lengths, np.int64), ends)
    for column in columns.values():
        column.flags.writeable = False  # as a mapped file
    return RowsSegment(MemorySegment(Path("segment"), kind, "m", columns, {}, b""))


def vectors_in(*parts: Vectors, deleted: Sequence[int] | NDArray[np.int64] = ()) -> StoredRows:
    """The live rows of these parts, numbered from 1."""
    firsts = np.cumsum([1, *map(len, parts)]).tolist()
    segments = [
        segment_of(VECTORS, first, [1] * len(part), {"vectors": part.copy()})
        for part, first in zip(parts, firsts, strict=False)
    ]
    return StoredRows.live(segments, np.array(sorted(deleted), np.int64))


def tokens_in(
    codebook: Codebook, parts: Sequence[Sequence[Vectors]], deleted: Sequence[int] = ()
) -> StoredRows:
    """The passages of these segments, numbered from 0 on, without those deleted."""
    segments = []
    first = 0
    for passages in parts:
        codes = codebook.encode(np.concatenate(passages))
        segments.append(segment_of(TOKENS, first, list(map(len, passages)), codes))
        first += len(passages)
    return StoredRows.live(segments, np.array(sorted(deleted), np.int64))


def clustered(seed: int, n_passages: int, width: int = 32, n_topics: int = 40) -> list[Vectors]:
    """Passages of 1 to 30 unit rows, each near one of a few directions that its passage prefers."""
    random = np.random.default_rng(seed)
    topics = unit(random.standard_normal((n_topics, width)))
    passages = []
    for length in random.integers(1, 31, n_passages):
        preferred = random.integers(0, n_topics, 4)
        rows = topics[random.choice(preferred, length)]
        passages.append(unit(rows + 0.5 * random.standard_normal((length, width)) / width**0.5))
    return passages


def questions_near(seed: int, passages: Sequence[Vectors], n: int, n_rows: int = 8) -> list[Vectors]:
    """Questions of unit rows near rows of some passage."""
    random = np.random.default_rng(seed)
    questions = []
    for _ in range(n):
        passage = passages[random.integers(len(passages))]
        rows = passage[random.integers(len(passage), size=n_rows)]
        questions.append(unit(rows + 0.3 * random.standard_normal(rows.shape) / rows.shape[1] ** 0.5))
    return questions


def trained(parts: Sequence[Sequence[Vectors]]) -> Codebook:
    sample = np.concatenate([rows for passages in parts for rows in passages])
    return Codebook.train(sample, len(sample))


def decoded(stored: StoredRows, codebook: Codebook) -> list[Vectors]:
    """The token vectors of each passage, as scores are defined by them."""
    vectors = codebook.decode(stored.read(np.arange(len(stored))))
    return np.split(vectors, np.cumsum(stored.lengths)[:-1])


def maxsim_scores(stored: StoredRows, codebook: Codebook, question: Vectors) -> NDArray[np.float64]:
    """(n,) the score of each passage, from its decoded vectors, in float64."""
    rows = question.T.astype(np.float64)
    return np.array([(each @ rows).max(axis=0).sum() for each in decoded(stored, codebook)])


def places(passage_ids: Sequence[int]) -> list[tuple[str, int, int]]:
    """Places that ascend with the ids."""
    return [("d", number, number + 1) for number in passage_ids]


def exact_ids(
    vectors: Vectors, query: Vectors, k: int, allowed: NDArray[np.int64] | None = None
) -> list[int]:
    """The best k of the vectors numbered from 1, by a float64 product each."""
    scores = (vectors.astype(np.float64) * query.astype(np.float64)).sum(axis=1)
    ids = np.arange(1, len(vectors) + 1) if allowed is None else allowed
    return sorted(ids.tolist(), key=lambda number: (-scores[number - 1], number))[:k]
