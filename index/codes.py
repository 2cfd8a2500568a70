"""Compact codes of the vectors of one model, as they lie in the cache: what an approximate search looks at.

Columns, for n passages in the order of their lists:

    passage_ids  (n,) int64
    sums         (n,) uint32      CRC-32 of the vector that was encoded
    codes        (n, width / 4) uint8
    ends         (lists,) int64   where each list ends
    centroids    (lists, width) float32
    codebooks    (width / 2 * 16, 2) float32
    search       (4,) int64       lists to look into, candidates, vectors at the training, format
    recall       (2,) float32     wanted, and measured on held-back queries

Nothing is answered from them: they propose passages, whose scores are made from the stored vectors. A passage
whose vector has another sum than the one encoded is taken for one that has no code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .ivfpq import ENTRIES, GROUP, Quantizer
from .segment_writer import Columns

KIND = "codes"
FORMAT = 1


@dataclass(frozen=True, slots=True)
class Tuning:
    """How the codes are searched: so many lists, so many candidates; and what that was found to reach.

    `recall` is the share of the exact top 10 found, `wanted` the one that was asked for.
    """

    n_lists: int
    candidates: int
    wanted: float
    recall: float


@dataclass(frozen=True, slots=True)
class Codes:
    """The codes of n passages with everything needed to search them; see the columns above."""

    passage_ids: NDArray[np.int64]
    sums: NDArray[np.uint32]
    codes: NDArray[np.uint8]
    ends: NDArray[np.int64]
    quantizer: Quantizer
    trained_on: int
    tuning: Tuning

    def columns(self) -> Columns:
        """The columns to be written."""
        tuning = self.tuning
        return {
            "passage_ids": self.passage_ids,
            "sums": self.sums,
            "codes": self.codes,
            "ends": self.ends,
            "centroids": self.quantizer.centroids,
            "codebooks": self.quantizer.codebooks,
            "search": np.array([tuning.n_lists, tuning.candidates, self.trained_on, FORMAT], np.int64),
            "recall": np.array([tuning.wanted, tuning.recall], np.float32),
        }

    @classmethod
    def from_columns(cls, columns: Mapping[str, NDArray[Any]]) -> Codes:
        """The codes in these columns; `ValueError` for what makes no sense."""
        n_lists, candidates, trained_on, found_format = columns["search"].tolist()
        wanted, recall = columns["recall"].tolist()
        codes = cls(
            passage_ids=columns["passage_ids"],
            sums=columns["sums"],
            codes=columns["codes"],
            ends=columns["ends"],
            quantizer=Quantizer(columns["centroids"], columns["codebooks"]),
            trained_on=trained_on,
            tuning=Tuning(n_lists, candidates, wanted, recall),
        )
        if found_format != FORMAT:
            raise ValueError(f"codes of format {found_format}, this program reads {FORMAT}")
        codes._check()
        return codes

    def _check(self) -> None:
        lists, width = self.quantizer.centroids.shape
        if width % (2 * GROUP) or self.codes.shape[1] * 2 * GROUP != width:
            raise ValueError(f"codes of {self.codes.shape[1]} bytes for vectors of width {width}")
        if self.quantizer.codebooks.shape != (width // GROUP * ENTRIES, GROUP):
            raise ValueError(f"codebooks of shape {self.quantizer.codebooks.shape} for width {width}")
        if not (np.isfinite(self.quantizer.centroids).all() and np.isfinite(self.quantizer.codebooks).all()):
            raise ValueError("a centroid or codebook holds NaN or infinity")
        ends = self.ends
        if not lists or ends[-1] != len(self.codes) or ends[0] < 0 or (np.diff(ends) < 0).any():
            raise ValueError("the ends of the lists")
        if not (1 <= self.tuning.n_lists <= lists and 1 <= self.tuning.candidates <= 2**20):
            raise ValueError(f"a search of {self.tuning.n_lists} lists for {self.tuning.candidates}")
        if len(np.unique(self.passage_ids)) != len(self.passage_ids):
            raise ValueError("a passage has two codes")


def grouped(
    passage_ids: NDArray[np.int64],
    sums: NDArray[np.uint32],
    lists: NDArray[np.int64],
    codes: NDArray[np.uint8],
    quantizer: Quantizer,
    trained_on: int,
    tuning: Tuning,
) -> Codes:
    """The codes of passages in any order, brought into the order of their lists."""
    order = np.argsort(lists, kind="stable")
    ends = np.cumsum(np.bincount(lists, minlength=len(quantizer.centroids))).astype(np.int64)
    ids, sums, codes = passage_ids[order], sums[order], codes[order]
    return Codes(ids, sums, codes, ends, quantizer, trained_on, tuning)
