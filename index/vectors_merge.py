"""One segment of vectors from several, copied in blocks: memory for one block, however many there are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from .segment_writer import Blocks, Columns
from .vectors import VectorSegment

_BLOCK = 4096  # rows


def merge_vectors(segments: Sequence[VectorSegment], deleted: NDArray[np.int64]) -> Columns:
    """The columns of one segment that holds the live vectors of several; each is compared with its sum."""
    ids = np.concatenate([segment.passage_ids for segment in segments])
    order = np.argsort(ids)
    order = order[np.isin(ids[order], deleted, invert=True)]
    return {
        "passage_ids": ids[order],
        "vectors": Blocks("<f4", (len(order), segments[0].width), _blocks(segments, order)),
        "covered": np.concatenate([segment.covered for segment in segments])[order],
        "sums": np.concatenate([segment.sums for segment in segments])[order],
    }


def _blocks(segments: Sequence[VectorSegment], order: NDArray[np.int64]) -> Iterator[NDArray[np.float32]]:
    """The rows at these places of all segments taken as one."""
    ends = np.cumsum([len(segment.passage_ids) for segment in segments])
    for at in range(0, len(order), _BLOCK):
        places = order[at : at + _BLOCK]
        source = np.searchsorted(ends, places, side="right")
        block = np.empty((len(places), segments[0].width), np.float32)
        for number, segment in enumerate(segments):
            here = source == number
            block[here] = segment.read(places[here] - (ends[number] - len(segment.passage_ids)))
            segment.release()
        yield block
