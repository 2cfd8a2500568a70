"""The codebook of one model's token vectors: what turns them into few bytes, and back.

    a centroid (16 bits), a scale (16 bits) and 4 bits a number of the residual: 68 bytes for a vector of 128

Scores are defined by the decoded vectors. A codebook never changes: `extended` returns another one whose
centroids begin with these and whose tables are these, so that codes once written keep their meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .codec_residual import decode_residuals, encode_residuals, train_levels
from .kmeans import LARGEST, PER_CENTROID, kmeans, n_centroids
from .nearest import Nearest
from .packing import packed, unpacked
from .token_codes import TokenCodes

BITS = 4
_BLOCK = 8192  # tokens at a time
_DRIFT = 1.4  # times the mean squared distance of the held-back vectors of the training
_ENOUGH = 2048  # vectors that tell a drift from the ways of one passage
_FEW = 256  # vectors that may all be centroids
_RUN = 512  # vectors, of a few passages, that are held back together
_GROWTH = 4  # times the tokens it was trained for
_HIGHEST = 1000.0  # of what a scale of 16 bits still holds
_LEVELS_SAMPLE = 20_000  # vectors whose residuals make the levels


@dataclass(frozen=True, eq=False)
class Codebook:
    """`centroids` (C, width) and `levels` (16,) float32.

    `distance` is the mean squared distance to the centroids of vectors held back from the training,
    `n_tokens` the size of the collection it was made for.
    """

    centroids: NDArray[np.float32]
    levels: NDArray[np.float32]
    distance: float
    n_tokens: int
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what makes no codebook."""
        if self.centroids.ndim != 2 or not 1 <= len(self.centroids) <= LARGEST or self.width % 4:
            shape = self.centroids.shape
            raise ValueError(f"centroids of shape {shape}, expected 1 to {LARGEST} rows of a multiple of 4")
        if self.levels.shape != (2**BITS,):
            raise ValueError(f"{self.levels.shape} levels for {BITS} bits")
        if not (np.isfinite(self.centroids).all() and np.isfinite(self.levels).all()):
            raise ValueError("a centroid or level is NaN or infinite")

    @classmethod
    def train(cls, sample: NDArray[np.float32], n_tokens: int, seed: int = 0) -> Codebook:
        """The codebook of a collection of about `n_tokens` vectors like those of `sample` (S, width)."""
        sample = _checked(sample)
        if not len(sample):
            raise ValueError("no vector to train on")
        seen, unseen = _split(sample)
        if len(seen) <= _FEW:
            centroids = np.unique(seen, axis=0)
        else:
            centroids = kmeans(seen, n_centroids(n_tokens, len(seen)), seed=seed)
        residuals = unseen - centroids[Nearest.build(centroids)(unseen)]
        distance = float((residuals**2).sum(1, dtype=np.float64).mean())
        levels = train_levels(residuals[:_LEVELS_SAMPLE], BITS)
        return cls(centroids, levels, distance, n_tokens, seed)

    @property
    def width(self) -> int:
        """Numbers in a vector."""
        return int(self.centroids.shape[1])

    @property
    def n_bytes(self) -> int:
        """Bytes of a token's values; its centroid and its scale take two each besides."""
        return self.width * BITS // 8

    def nearest(self, vectors: NDArray[np.float32]) -> NDArray[np.uint16]:
        """(T,) uint16: the row of the nearest centroid of each vector (T, width)."""
        return self._finder(_checked(vectors, self.width)).astype(np.uint16)

    def encode(self, vectors: NDArray[np.float32]) -> TokenCodes:
        """The codes of vectors (T, width) float32."""
        vectors = _checked(vectors, self.width)
        centroids = self.nearest(vectors)
        values = np.empty((len(vectors), self.n_bytes), np.uint8)
        scales = np.empty(len(vectors), np.float16)
        for start in range(0, len(vectors), _BLOCK):
            at = slice(start, start + _BLOCK)
            near = self.centroids[centroids[at]]
            codes, scales[at] = encode_residuals(vectors[at].copy(), near, self.levels)
            values[at] = packed(codes, BITS)
        return TokenCodes(centroids, values, scales)

    def decode(self, codes: TokenCodes) -> NDArray[np.float32]:
        """(T, width) float32: the vectors that scores are defined by."""
        if codes.values.shape[1:] != (self.n_bytes,):
            raise ValueError(f"values of {codes.values.shape[1:]} bytes, expected {self.n_bytes}")
        if len(codes) and int(codes.centroids.max()) >= len(self.centroids):
            raise ValueError(f"centroid {codes.centroids.max()} of {len(self.centroids)}")
        residuals = decode_residuals(unpacked(codes.values, BITS), codes.scales, self.levels)
        return self.centroids[codes.centroids] + residuals

    def wants_more(self, n_tokens: int) -> bool:
        """True when the collection has grown to more than 4 times what the codebook was made for."""
        return n_tokens > _GROWTH * self.n_tokens and len(self.centroids) < LARGEST

    def is_drifting(self, vectors: NDArray[np.float32]) -> bool:
        """True when the vectors lie farther from their centroids than those of the training did.

        The rule: a mean squared distance above 1.4 times that of the training's held-back tenth. Fewer than
        2,048 vectors do not tell.
        """
        vectors = _checked(vectors, self.width)
        if len(vectors) < _ENOUGH or len(self.centroids) >= LARGEST:
            return False
        return float(self._distances(vectors).mean(dtype=np.float64)) > _DRIFT * self.distance + 1e-6

    def extended(self, sample: NDArray[np.float32], n_tokens: int) -> Codebook:
        """Another codebook with these centroids in front, unchanged, and new ones for the worst served."""
        seen, unseen = _split(_checked(sample, self.width))
        n_tokens = max(n_tokens, self.n_tokens)
        wanted = min(max(n_centroids(n_tokens, n_tokens), 2 * len(self.centroids)), LARGEST)
        more = min(wanted - len(self.centroids), -(-len(seen) // PER_CENTROID))
        if more <= 0:
            return replace(self, n_tokens=n_tokens)
        worst = np.argsort(-self._distances(seen), kind="stable")[: max(PER_CENTROID * more, len(seen) // 2)]
        added = kmeans(seen[np.sort(worst)], more, seed=self.seed)
        larger = replace(self, centroids=np.concatenate([self.centroids, added]), n_tokens=n_tokens)
        distance = float(larger._distances(unseen).mean(dtype=np.float64))
        return replace(larger, distance=max(distance, self.distance))

    def columns(self) -> dict[str, NDArray[Any]]:
        """The arrays that `from_columns` makes the same codebook of."""
        return {
            "centroids": self.centroids,
            "levels": self.levels,
            "numbers": np.array([self.n_tokens, self.seed], np.int64),
            "distance": np.array([self.distance], np.float64),
        }

    @classmethod
    def from_columns(cls, columns: Mapping[str, NDArray[Any]]) -> Codebook:
        """The codebook in these columns; `ValueError` for what makes no sense."""
        n_tokens, seed = columns["numbers"].tolist()
        (distance,) = columns["distance"].tolist()
        return cls(columns["centroids"], np.array(columns["levels"]), distance, n_tokens, seed)

    @cached_property
    def _finder(self) -> Nearest:
        return Nearest.build(self.centroids)

    def _distances(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """(T,) the squared distance of each vector to its nearest centroid."""
        residuals = vectors - self.centroids[self.nearest(vectors)]
        squares: NDArray[np.float32] = np.einsum("td,td->t", residuals, residuals)
        return squares


def _split(sample: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Nine of ten runs of vectors, which make the centroids, and every tenth, held back; few serve as both.

    The tokens of a passage are alike and follow one another: held back one by one they would not be unseen.
    """
    if len(sample) <= _FEW:
        return sample, sample
    unseen = np.arange(len(sample)) // min(_RUN, len(sample) // 10) % 10 == 9
    return sample[~unseen], sample[unseen]


def _checked(vectors: NDArray[np.float32], width: int | None = None) -> NDArray[np.float32]:
    """The vectors as float32; `ValueError` unless (T, width), finite, and of a width that can be packed."""
    vectors = np.ascontiguousarray(vectors, np.float32)
    if vectors.ndim != 2 or vectors.shape[1] == 0 or vectors.shape[1] % 4:
        raise ValueError(f"vectors of shape {vectors.shape}, expected (T, a multiple of 4)")
    if width is not None and vectors.shape[1] != width:
        raise ValueError(f"vectors of width {vectors.shape[1]}, expected {width}")
    if not np.isfinite(vectors).all():
        raise ValueError("a vector holds NaN or infinity")
    if len(vectors) and float(np.abs(vectors).max()) > _HIGHEST:
        raise ValueError(f"a vector holds {np.abs(vectors).max()}, expected at most {_HIGHEST}")
    return vectors
