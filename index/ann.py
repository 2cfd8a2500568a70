"""Approximate dense search of large collections: FAISS proposes candidates, exact scores rank them.

The FAISS index (inverted lists, product quantization with 4-bit codes, fast scan) is a cache that can be
rebuilt from the stored vectors: <index>/cache/<sha256 of its manifest>/, written like a segment. Every byte
is compared with its digest before FAISS reads it. A damaged, foreign or old cache is ignored, and searches
then compare every vector. Passages without a code are searched exactly; only the proposal is approximate.

    x  ~  centroid + (codebook_0[code_0], codebook_1[code_1], ...)    one code of 4 bits per 2 numbers of x

Source: Jégou, Douze and Schmid, "Product Quantization for Nearest Neighbor Search", 2011; André, Kermarrec
and Le Scouarnec, "Cache locality is not enough", VLDB 2015.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from spanwise.errors import SpanwiseError
from spanwise.options import ProgressCallback, no_progress

from .dense import MANY_QUERIES, FaissScan, VectorIndex, bitmap, faiss, one_thread, width_of
from .files import make_folder
from .passage_rows import StoredRows
from .protocol import Array, Floats, Ids, Mask, Places, Uints
from .segment import ANN, UNFINISHED, Segment, is_segment_name, open_segment, write_segment

CACHE = "cache"  # the folder in an index
MIN_VECTORS = 200_000  # live vectors from which an exact scan takes longer than encoding the question
RECALL = 0.98  # of the exact top 10
_TUNED_K = 10  # the depth at which recall is measured
_MAX_LACKING = 0.05  # fraction of vectors without a code
_MAX_GONE = 0.25  # fraction of codes of deleted passages
_NUMBERS_PER_CODE = 2
_VALUES_PER_CODE = 16  # 4 bits
_VECTORS_PER_CENTROID = 40  # of the training sample
_KMEANS_ROUNDS = 8
_BLOCK = 16_384  # vectors that are added together
_CANDIDATES_PER_PASSAGE = 4  # additional candidates per result beyond `_TUNED_K`
_MAX_SCORED_DIRECTLY = 4096  # vectors that pass a filter and are scored without a search
_CANDIDATES = (20, 30, 50, 75, 100, 150, 200, 300, 400, 600, 800)
_N_QUERIES = 300
_DISTANCE = 1.5
_READING_COST = 7  # of a byte of a stored vector on the disk, in bytes of codes scanned


@dataclass(frozen=True, slots=True)
class Tuning:
    """The parameters of an approximate search.

    n_lists: the number of lists that are searched
    candidates: the number of candidates that are proposed
    recall: the measured recall of the exact top 10
    """

    n_lists: int
    candidates: int
    recall: float


@dataclass(frozen=True, slots=True)
class IvfCodes:
    """A FAISS index over the vectors of some passages.

    passage_ids: (n,) the passage of each row of the index
    sums: (n,) the CRC-32 of each vector
    index: the FAISS index
    tuning: the parameters of a search
    """

    passage_ids: Ids
    sums: Uints
    index: Any
    tuning: Tuning

    def columns(self) -> dict[str, Array]:
        """The columns of the cache file."""
        tuning = self.tuning
        return {
            "passage_ids": self.passage_ids,
            "sums": self.sums,
            "faiss": faiss().serialize_index(self.index),
            "search": np.array([tuning.n_lists, tuning.candidates, len(self.passage_ids)], np.int64),
            "recall": np.array([RECALL, tuning.recall], np.float32),
        }

    @classmethod
    def from_segment(cls, segment: Segment) -> IvfCodes:
        """The codes in a segment of the cache, after every byte is compared with its digest.

        Raise `ValueError` for codes that do not fit together.
        """
        segment.check_file()
        if segment.kind != ANN:
            raise ValueError(f"it holds {segment.kind}")
        columns = {name: column.copy() for name, column in segment.columns.items()}
        n_lists, candidates, _ = columns["search"].tolist()
        tuning = Tuning(n_lists, candidates, float(columns["recall"][1]))
        try:
            index = faiss().deserialize_index(columns["faiss"])
        except RuntimeError as error:
            raise ValueError(f"FAISS cannot read it: {error}") from None
        ids = columns["passage_ids"]
        if not (isinstance(index, faiss().IndexIVFPQFastScan) and index.ntotal == len(ids)):
            raise ValueError(f"a FAISS index of another kind or size, expected {len(ids)} vectors")
        if not (1 <= n_lists <= index.nlist and 1 <= candidates <= 2**20) or len(np.unique(ids)) != len(ids):
            raise ValueError("the search or the passages")
        return cls(ids, columns["sums"], index, tuning)

    def rows(self, stored: StoredRows) -> Ids:
        """(n,) the stored row of each code; -1 where the passage is gone or has another vector."""
        rows = stored.rows_of(self.passage_ids)
        is_live = rows >= 0
        rows[is_live] = np.where(stored.sums[rows[is_live]] == self.sums[is_live], rows[is_live], -1)
        return rows

    def search(self, queries: Floats, n_lists: int, n: int, among: CodeSelection | None = None) -> list[Ids]:
        """At most n places of codes for each query (Q, width), best first, from its nearest `n_lists` lists.

        With `among` more lists are searched, because only a fraction of each list is selected.
        """
        params = faiss().SearchParametersIVF(nprobe=n_lists)
        if among is not None:
            if not among.share:
                return [np.empty(0, np.int64)] * len(queries)
            wider = min(self.index.nlist, ceil(n_lists / among.share))
            params = faiss().SearchParametersIVF(nprobe=wider, sel=among.selector)
        with one_thread() if len(queries) < MANY_QUERIES else nullcontext():
            _, results = self.index.search(np.ascontiguousarray(queries), n, params=params)
        return [places[places >= 0] for places in results]


@dataclass(frozen=True, slots=True)
class CodeSelection:
    """The codes that a search may return.

    selector: a FAISS selector of them
    share: the fraction of all codes
    """

    selector: Any
    share: float

    @classmethod
    def of(cls, chosen: Mask) -> CodeSelection | None:
        """The selection of these codes; None for all of them."""
        return None if chosen.all() else cls(bitmap(chosen), float(chosen.mean()))


class ApproximateIndex(VectorIndex):
    """Ranks live passages for unit vectors with the recall of its tuning."""

    def __init__(self, stored: StoredRows, codes: IvfCodes, places: Places) -> None:
        super().__init__(stored, places)
        self._codes = codes
        self._rows = codes.rows(stored)
        self._live = CodeSelection.of(self._rows >= 0)
        lacking = np.ones(len(stored), np.bool_)
        lacking[self._rows[self._rows >= 0]] = False
        self._others = VectorIndex(stored.only(lacking), places)

    def _proposed(self, queries: Floats, k: int, chosen: Mask | None) -> list[Ids]:
        """For each query, rows that are likely to include its best k of those `chosen`."""
        if chosen is not None and chosen.sum() <= max(_MAX_SCORED_DIRECTLY, k):
            return [np.flatnonzero(chosen)] * len(queries)
        allowed = self._live
        if chosen is not None:
            allowed = CodeSelection.of(chosen[self._rows] & (self._rows >= 0))
        tuning = self._codes.tuning
        n = tuning.candidates + _CANDIDATES_PER_PASSAGE * max(0, k - _TUNED_K)
        coded = [self._rows[places] for places in self._codes.search(queries, tuning.n_lists, n, allowed)]
        if not len(self._others):
            return coded
        among = None if chosen is None else np.sort(self._stored.passage_ids[chosen])
        exact = self._others.search(queries, k, among)
        others = [self._stored.rows_of(ranking.passage_ids) for ranking in exact]
        return [np.concatenate(pair) for pair in zip(coded, others, strict=True)]


def renewed(
    stored: StoredRows,
    old: IvfCodes | None = None,
    on_progress: ProgressCallback = no_progress,
) -> IvfCodes | None:
    """New codes for these vectors; None if the old ones are good enough.

    The old ones are good enough until 5 % of the vectors have no code, or 25 % of the codes have no vector.
    None as well for fewer than 16 vectors, or a width that is not a multiple of 4.
    """
    if width_of(stored) % (2 * _NUMBERS_PER_CODE) or len(stored) < _VALUES_PER_CODE:
        return None
    if old is not None and _fits(old, stored):
        return None
    index = _trained(stored)
    for start in range(0, len(stored), _BLOCK):
        rows = np.arange(start, min(start + _BLOCK, len(stored)))
        index.add(stored.read(rows)["vectors"])
        on_progress("approximate", start + len(rows), len(stored))
    stored.release()
    untuned = IvfCodes(stored.passage_ids, stored.sums, index, Tuning(1, 1, 0.0))
    return replace(untuned, tuning=tuned(stored, untuned))


def _fits(codes: IvfCodes, stored: StoredRows) -> bool:
    """True if few vectors have no code, and few codes have no vector."""
    if codes.index.d != width_of(stored):
        return False
    n_codes = len(codes.passage_ids)
    n_known = int((codes.rows(stored) >= 0).sum())
    return len(stored) - n_known <= _MAX_LACKING * len(stored) and n_codes - n_known <= _MAX_GONE * n_codes


def list_count(n_vectors: int) -> int:
    """The number of lists for a collection: the smallest power of two that is at least 2 * sqrt(n_vectors).

    >>> list_count(200_000), list_count(1_000_000)
    (1024, 2048)
    """
    return 1 << (int(2 * n_vectors**0.5) - 1).bit_length()


def _trained(stored: StoredRows) -> Any:
    """An empty FAISS index trained on a sample of these vectors; the same for the same rows."""
    n_lists = list_count(len(stored))
    width = width_of(stored)
    n = min(len(stored), max(_VECTORS_PER_CENTROID * n_lists, 4096))
    sample = np.random.default_rng(1).choice(len(stored), n, replace=False)
    vectors = stored.read(np.sort(sample))["vectors"]
    stored.release()
    library = faiss()
    factory = f"IVF{min(n_lists, n)},PQ{width // _NUMBERS_PER_CODE}x4fs"
    index = library.index_factory(width, factory, library.METRIC_INNER_PRODUCT)
    index.by_residual = True
    index.cp.niter = _KMEANS_ROUNDS
    index.cp.spherical = True
    index.cp.seed = 1
    index.cp.min_points_per_centroid = index.pq.cp.min_points_per_centroid = 1  # no warning for small samples
    index.train(vectors)
    return index


def held_back(stored: StoredRows) -> Floats:
    """Queries (n, width) made from the collection, rows of length 1. Equal collections give equal queries.

        q = unit(x + DISTANCE * unit(y - z))       x, y, z drawn from the collection

    No question is known at indexing time. y - z is a direction in which vectors of the collection differ. The
    cosine of q and x is about 1 / sqrt(1 + DISTANCE^2) = 0.55, which is typical of a question and its
    passage. Smaller distances overestimate the recall: on real questions a search tuned to 98 % at distance 1
    found 97.6 %, one tuned at 1.5 found 98.5 %.
    """
    draw = np.random.default_rng(3)
    x, y, z = (stored.read(draw.integers(0, len(stored), _N_QUERIES))["vectors"] for _ in range(3))
    difference = y - z
    lengths = np.linalg.norm(difference, axis=1, keepdims=True)
    moved = x + _DISTANCE * difference / np.where(lengths > 0, lengths, 1)
    lengths = np.linalg.norm(moved, axis=1, keepdims=True)
    queries: Floats = np.where(lengths > 1e-3, moved / np.maximum(lengths, 1e-3), x)
    return queries


def tuned(stored: StoredRows, codes: IvfCodes) -> Tuning:
    """The cheapest search with RECALL of the exact top 10 and a margin of a quarter of the rest.

    If no search reaches that, all lists are searched; `recall` is the recall of that search.
    """
    queries = held_back(stored)
    n_lists = int(codes.index.nlist)
    truth = FaissScan(stored).nearest(queries, min(_TUNED_K, len(stored))).rows
    rows = codes.rows(stored)
    aim = RECALL + (1 - RECALL) / 4
    live = CodeSelection.of(rows >= 0)
    list_bytes = len(stored) / n_lists * width_of(stored) / (2 * _NUMBERS_PER_CODE)
    vector_bytes = width_of(stored) * 4 * _READING_COST
    best = None
    recall = 0.0
    steps = {n for power in range(n_lists.bit_length()) for n in (2**power, 3 * 2**power) if n < n_lists}
    for n_searched in [*sorted(steps), n_lists]:
        if best is not None and best[0] <= n_searched * list_bytes + _CANDIDATES[0] * vector_bytes:
            break  # every wider search costs more than the best
        results = codes.search(queries, n_searched, _CANDIDATES[-1], live)
        hits = [np.isin(rows[places], right) for places, right in zip(results, truth, strict=True)]
        for n in _CANDIDATES:
            recall = sum(int(hit[:n].sum()) for hit in hits) / truth.size
            cost = n_searched * list_bytes + n * vector_bytes
            if recall >= aim and (best is None or cost < best[0]):
                best = cost, Tuning(n_searched, n, recall)
    return best[1] if best else Tuning(n_lists, _CANDIDATES[-1], recall)


def read_codes(folder: Path, model: str) -> IvfCodes | None:
    """The codes of a model; None without intact ones."""
    for path in _entries(folder):
        segment = _open(path)
        if segment is not None and (segment.kind, segment.model) == (ANN, model):
            try:
                return IvfCodes.from_segment(segment)
            except (SpanwiseError, ValueError):
                continue
    return None


def write_codes(folder: Path, model: str, codes: IvfCodes) -> None:
    """Replace the codes of a model; only the writer of the index may.

    The old ones are deleted first, since they may be a damaged copy of the new ones with the same name.
    """
    make_folder(folder)
    remove_codes(folder, lambda other: other == model)
    write_segment(folder, ANN, model, codes.columns())


def remove_codes(folder: Path, is_unwanted: Callable[[str], bool]) -> None:
    """Delete unfinished and unreadable codes, and those of unwanted models."""
    for path in _entries(folder):
        segment = _open(path)
        if segment is None or is_unwanted(segment.model):
            shutil.rmtree(path, ignore_errors=True)


def code_problems(folder: Path) -> Iterator[str]:
    """One line for each damaged directory of codes."""
    for path in _entries(folder):
        if path.name == UNFINISHED:
            continue
        try:
            IvfCodes.from_segment(open_segment(path))
        except (SpanwiseError, ValueError, OSError) as error:
            reason = str(error).partition(": delete the index")[0]
            yield f"{reason}: searches work without it; delete {path}, `spanwise index FOLDER` rebuilds it"


def _entries(folder: Path) -> list[Path]:
    """The directories of codes, without links: a link may lead out of the index."""
    if folder.is_symlink() or not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if is_segment_name(path.name) and not path.is_symlink())


def _open(path: Path) -> Segment | None:
    try:
        return open_segment(path)
    except (SpanwiseError, OSError):
        return None
