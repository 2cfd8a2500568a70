"""The codebook of one model's token vectors, and their codes: a centroid, a scale and 4 bits per number.

    x  ~  centroid + scale * levels[code_j]  for each number j      68 bytes for a vector of 128 numbers

`levels` are the 16 numbers that quantise the residuals of the training sample with the smallest mean squared
error, after each residual is divided by its root mean square. Then the codes, one at a time, and the scale of
a token are changed in turn, to minimise

    |e|^2 + ALONG_WEIGHT * <e, x>^2,   e = x - decoded

because the question vector that matches x points along x more than in any other direction.

Scores are defined by the decoded vectors. A codebook never changes: `extended` returns another one whose
centroids begin with these, so written codes keep their meaning.

Source: Santhanam et al., "ColBERTv2", NAACL 2022, section 3.3, for centroid and residual; Lloyd (1982) and
Max, "Quantizing for minimum distortion", 1960, for k-means and the levels; Guo et al., "Accelerating
large-scale inference with anisotropic vector quantization", ICML 2020, for the weight along x; Sivic and
Zisserman, "Video Google", ICCV 2003, for the groups of centroids.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from spanwise.postponed import PostponedImport, is_installed

from ..protocol import Array, Doubles, Floats, Ids, Shorts
from ..segment import Segment

if TYPE_CHECKING:
    import torch

BITS = 4
ALONG_WEIGHT = 4.0
MAX_CENTROIDS = 65_536  # a code is 16 bits
PER_CENTROID = 4  # vectors of the sample for each centroid, at least
_BLOCK = 8192  # tokens at a time
_MAX_UNTRAINED = 256  # vectors that become centroids without k-means
_HELD_BACK_RUN = 512  # consecutive vectors, of a few passages, that are held back together
_MAX_NUMBER = 1000.0  # in a vector, so that a float16 scale does not overflow
_LEVELS_SAMPLE = 20_000  # vectors whose residuals give the levels
_LEVELS_ENOUGH = 2048  # numbers that are enough to fit levels
_LEVELS_ROUNDS = 50
_KMEANS_ROUNDS = 6
_SMALLEST = 1e-6
_PROBES = 8  # groups of centroids that a vector is compared with
_MAX_UNGROUPED = 1024  # centroids that are compared without groups
_NEAREST_BLOCK = 16_384  # vectors at a time
NUMBA = PostponedImport("numba", budget=1_000_000)  # tokens, decoded and compared in numpy

Finder = Callable[[Floats], Ids]
Codes = Mapping[str, Array]
"""The codes of T tokens, as the columns of a segment:

centroids  (T,) uint16                     the nearest centroid
values     (T, width / 2) uint8            two codes per byte, the first in its lowest bits
scales     (T,) float16                    the factor of the levels
"""


@dataclass(frozen=True, eq=False)
class Codebook:
    """Centroids and levels that encode token vectors.

    centroids: (C, width) float32
    levels: (16,) float32, ascending
    distance: the mean squared distance of held-back vectors to their nearest centroids
    n_tokens: the size of the collection it was made for
    seed: of the training
    """

    centroids: Floats
    levels: Floats
    distance: float
    n_tokens: int
    seed: int = 0

    def __post_init__(self) -> None:
        """Raise `ValueError` for arrays that make no codebook."""
        if self.centroids.ndim != 2 or not 1 <= len(self.centroids) <= MAX_CENTROIDS or self.width % 4:
            shape = self.centroids.shape
            raise ValueError(
                f"centroids of shape {shape}, expected 1 to {MAX_CENTROIDS} rows of a multiple of 4"
            )
        if self.levels.shape != (2**BITS,):
            raise ValueError(f"{self.levels.shape} levels for {BITS} bits")
        if not (np.isfinite(self.centroids).all() and np.isfinite(self.levels).all()):
            raise ValueError("a centroid or level is NaN or infinite")

    @classmethod
    def train(cls, sample: Floats, n_tokens: int, seed: int = 0) -> Codebook:
        """The codebook of a collection of about `n_tokens` vectors like those of `sample` (S, width)."""
        sample = _checked(sample)
        if not len(sample):
            raise ValueError("no vector to train on")
        seen, unseen = _split(sample)
        if len(seen) <= _MAX_UNTRAINED:
            centroids = np.unique(seen, axis=0)
        else:
            centroids = lloyd(seen, n_centroids(n_tokens, len(seen)), seed, Nearest.build)[0]
        residuals = unseen - centroids[Nearest.build(centroids)(unseen)]
        distance = float((residuals**2).sum(1, dtype=np.float64).mean())
        levels = _levels(residuals[:_LEVELS_SAMPLE])
        return cls(centroids, levels, distance, n_tokens, seed)

    @property
    def width(self) -> int:
        """The dimension of the vectors."""
        return int(self.centroids.shape[1])

    @property
    def n_bytes(self) -> int:
        """Bytes of a token's values; its centroid and its scale take two more each."""
        return self.width * BITS // 8

    def nearest(self, vectors: Floats) -> Shorts:
        """(T,) uint16: the row of the nearest centroid of each vector (T, width)."""
        return self._finder(_checked(vectors, self.width)).astype(np.uint16)

    def encode(self, vectors: Floats) -> Codes:
        """The codes of vectors (T, width) float32."""
        vectors = _checked(vectors, self.width)
        centroids = self.nearest(vectors)
        from .kernels import encode

        codes = np.empty(vectors.shape, np.uint8)
        scales = np.empty(len(vectors), np.float32)
        for start in range(0, len(vectors), _BLOCK):
            block = slice(start, start + _BLOCK)
            residuals = vectors[block] - self.centroids[centroids[block]]
            encode(
                vectors[block].copy(),
                residuals,
                self.levels,
                codes[block],
                scales[block],
                np.float32(ALONG_WEIGHT),
            )
        values = codes[:, ::2] | np.left_shift(codes[:, 1::2], np.uint8(BITS))
        return {"centroids": centroids, "values": values, "scales": scales.astype(np.float16)}

    def decode(self, codes: Codes) -> Floats:
        """(T, width) float32: the vectors that define the scores."""
        values = codes["values"]
        centroids = codes["centroids"]
        if values.shape[1:] != (self.n_bytes,):
            raise ValueError(f"values of {values.shape[1:]} bytes, expected {self.n_bytes}")
        if int(centroids.max(initial=0)) >= len(self.centroids):
            raise ValueError(f"centroid {centroids.max()} of {len(self.centroids)}")
        pairs = self.levels[np.arange(256)[:, np.newaxis] >> (0, BITS) & 15]  # (256, 2), the levels of a byte
        table = pairs.view(np.uint64)[:, 0]
        factors = codes["scales"].astype(np.float32)
        if not NUMBA.is_worth(len(values)):
            vectors: Floats = table[values].view(np.float32)
            vectors *= factors[:, np.newaxis]
            vectors += self.centroids[centroids]
            return vectors
        from .kernels import add_centroids, look_up

        vectors = np.empty((len(values), self.width), np.float32)
        look_up(values, table, vectors.view(np.uint64))
        add_centroids(self.centroids, centroids, factors, vectors)
        return vectors

    def extended(self, sample: Floats, n_tokens: int) -> Codebook:
        """Another codebook with these centroids first, unchanged, and new ones for distant vectors."""
        seen, _ = _split(_checked(sample, self.width))
        n_tokens = max(n_tokens, self.n_tokens)
        wanted = min(max(n_centroids(n_tokens, n_tokens), 2 * len(self.centroids)), MAX_CENTROIDS)
        more = min(wanted - len(self.centroids), -(-len(seen) // PER_CENTROID))
        if more <= 0:
            return replace(self, n_tokens=n_tokens)
        residuals = seen - self.centroids[self.nearest(seen)]
        distances = np.einsum("td,td->t", residuals, residuals)
        worst = np.argsort(-distances, kind="stable")[: max(PER_CENTROID * more, len(seen) // 2)]
        added = lloyd(seen[np.sort(worst)], more, self.seed, Nearest.build)[0]
        return replace(self, centroids=np.concatenate([self.centroids, added]), n_tokens=n_tokens)

    def columns(self) -> dict[str, Array]:
        """The columns of its segment."""
        return {
            "centroids": self.centroids,
            "levels": self.levels,
            "numbers": np.array([self.n_tokens, self.seed], np.int64),
            "distance": np.array([self.distance], np.float64),
        }

    @classmethod
    def from_segment(cls, segment: Segment) -> Codebook:
        """A copy of a stored codebook, every byte checked. Raise `IndexCorrupt` for a damaged one."""
        segment.check_file()
        columns = {name: column.copy() for name, column in segment.columns.items()}
        n_tokens, seed = columns["numbers"].tolist()
        try:
            return cls(columns["centroids"], columns["levels"], float(columns["distance"][0]), n_tokens, seed)
        except ValueError as error:
            raise segment.corruption(str(error)) from error

    @cached_property
    def _finder(self) -> Nearest:
        return Nearest.build(self.centroids)


def _split(sample: Floats) -> tuple[Floats, Floats]:
    """Nine of ten runs of vectors, for training, and every tenth, held back; few vectors serve as both.

    The tokens of a passage are similar and consecutive. So runs are held back, not single vectors.
    """
    if len(sample) <= _MAX_UNTRAINED:
        return sample, sample
    unseen = np.arange(len(sample)) // min(_HELD_BACK_RUN, len(sample) // 10) % 10 == 9
    return sample[~unseen], sample[unseen]


def _checked(vectors: Floats, width: int | None = None) -> Floats:
    """The vectors as float32. Raise `ValueError` unless they are (T, width), finite, and can be packed."""
    vectors = np.ascontiguousarray(vectors, np.float32)
    if vectors.ndim != 2 or vectors.shape[1] == 0 or vectors.shape[1] % 4:
        raise ValueError(f"vectors of shape {vectors.shape}, expected (T, a multiple of 4)")
    if width is not None and vectors.shape[1] != width:
        raise ValueError(f"vectors of width {vectors.shape[1]}, expected {width}")
    if not np.isfinite(vectors).all():
        raise ValueError("a vector holds NaN or infinity")
    if len(vectors) and float(np.abs(vectors).max()) > _MAX_NUMBER:
        raise ValueError(f"a vector holds {np.abs(vectors).max()}, expected at most {_MAX_NUMBER}")
    return vectors


def _levels(residuals: Floats) -> Floats:
    """(16,) float32, ascending: the Lloyd-Max levels of the normalised residuals (S, width).

    If these are too few, or too many are equal, the levels of the normal distribution, which is similar.
    """
    length = np.sqrt((residuals**2).mean(1))
    numbers = np.sort((residuals[length > _SMALLEST] / length[length > _SMALLEST, None]).ravel())
    if len(numbers) >= _LEVELS_ENOUGH:
        levels = _lloyd_max(numbers.astype(np.float64))
        if (levels[1:] > levels[:-1]).all():
            return levels
    normal = NormalDist()
    return _lloyd_max(np.array([normal.inv_cdf((n + 0.5) / _LEVELS_ENOUGH) for n in range(_LEVELS_ENOUGH)]))


def _lloyd_max(numbers: Doubles) -> Floats:
    """The levels of these numbers, which ascend."""
    sums = np.concatenate([[0.0], np.cumsum(numbers)])
    levels = np.quantile(numbers, (np.arange(2**BITS) + 0.5) / 2**BITS)
    for _ in range(_LEVELS_ROUNDS):
        edges = np.searchsorted(numbers, (levels[1:] + levels[:-1]) / 2)
        starts = np.append(0, edges)
        ends = np.append(edges, len(numbers))
        filled = ends > starts
        levels[filled] = ((sums[ends] - sums[starts]) / (ends - starts).clip(min=1))[filled]
    return np.sort(levels).astype(np.float32)


def n_centroids(n_tokens: int, n_sample: int) -> int:
    """The number of centroids for a collection: 2 ** floor(log2(16 * sqrt(n_tokens))), if the sample allows.

    At most a quarter of the sample and 65,536; at least 1.

    Source: Santhanam et al., "PLAID", CIKM 2022 (the rule of its published code).

    >>> n_centroids(3_000_000, 200_000)
    16384
    """
    wanted = 2 ** math.floor(math.log2(16 * math.sqrt(max(n_tokens, 1))))
    return max(1, min(int(wanted), n_sample // PER_CENTROID, MAX_CENTROIDS))


def lloyd(
    sample: Floats, k: int, seed: int, finder: Callable[[Floats], Finder] | None = None
) -> tuple[Floats, Ids]:
    """k centroids (k, width) float32 by k-means, and the row of each vector's nearest centroid, (S,).

    It starts from k different rows of the sample. A centroid that is nearest to no vector stays unchanged.
    `finder` builds a function that finds nearest centroids. Requires 1 <= k <= len(sample).
    """
    random = np.random.default_rng(seed)
    centroids = sample[np.sort(random.choice(len(sample), k, replace=False))].astype(np.float32)
    find = finder or _all
    for _ in range(_KMEANS_ROUNDS if k > 1 else 1):
        places = find(centroids)(sample)
        centroids = _means(sample, places, centroids)
    return centroids, find(centroids)(sample)


def _all(centroids: Floats) -> Finder:
    """A function that compares vectors with all centroids, block by block."""
    halves = (centroids * centroids).sum(1) / 2

    def find(vectors: Floats) -> Ids:
        blocks = [vectors[start : start + _BLOCK] for start in range(0, len(vectors), _BLOCK)]
        places = [(block @ centroids.T - halves).argmax(1) for block in blocks]
        return np.concatenate([np.empty(0, np.int64), *places])

    return find


def _means(sample: Floats, places: Ids, centroids: Floats) -> Floats:
    """The mean of the vectors at each place; the old centroid where there are none."""
    counts = np.bincount(places, minlength=len(centroids))
    used = counts > 0
    starts = (np.cumsum(counts) - counts)[used]
    sums = np.add.reduceat(sample[np.argsort(places, kind="stable")], starts, axis=0)
    means = centroids.copy()
    means[used] = sums / counts[used, None].astype(np.float32)
    return means


@dataclass(frozen=True, slots=True)
class Nearest:
    """Finds the nearest centroid of vectors. Built once per codebook, used for many batches.

    Up to 1,024 centroids are all compared. More are put into sqrt(C) groups by k-means over the centroids,
    and a vector is compared with the members of the 8 groups whose means are nearest. At 16,384 centroids
    this does 1/14 of the comparisons and finds the true nearest in 96 %; the mean squared distance is 1.5 %
    larger.

    centroids: (C, width) float32
    rows: (C,) the rows of the centroids, group by group
    ends: (G,) the end of each group in `rows`
    middles: (G, width) the mean of each group
    """

    centroids: Floats
    rows: Ids
    ends: Ids
    middles: Floats

    @classmethod
    def build(cls, centroids: Floats) -> Nearest:
        """The finder for these centroids."""
        groups = 1 if len(centroids) <= _MAX_UNGROUPED else 2 ** round(math.log2(len(centroids)) / 2)
        middles, places = lloyd(centroids, groups, 0)
        rows = np.argsort(places, kind="stable")
        return cls(centroids, rows, np.cumsum(np.bincount(places, minlength=groups)), middles)

    def __call__(self, vectors: Floats) -> Ids:
        """(T,) the row of the nearest centroid of each of the (T, width) vectors.

        argmin_c |x - c|^2 = argmax_c <x, c> - |c|^2 / 2, over the groups searched; all without torch.
        """
        if not is_installed("torch"):
            return _all(self.centroids)(vectors)
        import torch

        members = torch.from_numpy(self.centroids[self.rows])
        middles = torch.from_numpy(self.middles)
        tables = (members, _half_squares(members), middles, _half_squares(middles))
        nearest = np.empty(len(vectors), np.int64)
        for start in range(0, len(vectors), _NEAREST_BLOCK):
            block = torch.from_numpy(np.array(vectors[start : start + _NEAREST_BLOCK], np.float32))
            nearest[start : start + _NEAREST_BLOCK] = self.rows[self._block(block, *tables).numpy()]
        return nearest

    def _block(self, block: torch.Tensor, members: Any, halves: Any, middles: Any, far: Any) -> torch.Tensor:
        """(n,) the places in `rows`; one product per group with the vectors that search it."""
        import torch

        n = len(block)
        probes = min(_PROBES, len(middles))
        groups = torch.addmm(-far, block, middles.T).topk(probes, dim=1).indices.flatten()
        order = torch.argsort(groups, stable=True)  # (n * probes,) by group
        until = torch.bincount(groups, minlength=len(middles)).cumsum(0).tolist()
        best = torch.full((n * probes,), -math.inf)
        place = torch.zeros(n * probes, dtype=torch.int64)
        start = first = 0
        for end, last in zip(until, self.ends.tolist(), strict=True):
            if end > start and last > first:
                pairs = order[start:end]
                scores = torch.addmm(-halves[first:last], block[pairs // probes], members[first:last].T)
                highest = scores.max(1)
                best[pairs] = highest.values
                place[pairs] = highest.indices + first
            start = end
            first = last
        chosen = best.view(n, probes).argmax(1, keepdim=True)
        return place.view(n, probes).gather(1, chosen)[:, 0]


def _half_squares(rows: torch.Tensor) -> torch.Tensor:
    """Half the squared length of each row."""
    return (rows * rows).sum(1) / 2
