"""Which segments are written anew as one, and how.

Every commit adds a segment, and every deletion leaves rows that are only skipped. Merging keeps both in
bounds: a segment of n live rows stands on level log4(n); four on one level become one segment of the next,
and a segment more than half dead is written anew. So an index of n rows has at most 3 segments for each of
its log4(n) levels, and a row is copied about once a level. (The log-structured merge of O'Neil et al., 1996,
by tiers.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from . import postings
from .catalog_writer import CatalogWriter
from .maxsim import tokens
from .maxsim.stored_codebook import KIND as CODEBOOK
from .maxsim.tokens import TokenSegment
from .maxsim.tokens_merge import merge_tokens
from .postings import PostingsSegment
from .postings_merge import merge_postings
from .segment import Segment, open_segment
from .segment_writer import Columns, write_segment
from .state import SegmentEntry
from .vectors import VectorSegment
from .vectors_merge import merge_vectors

FAN = 4  # segments of one level that become one of the next


@dataclass(frozen=True, slots=True)
class Size:
    """Rows of a segment, and how many of them are live."""

    rows: int
    live: int


def choose(sizes: Sequence[Size]) -> list[int]:
    """Places in `sizes` of the segments to merge into one; empty when all may stay.

    >>> choose([Size(1000, 1000), Size(10, 4)])
    [1]
    >>> choose([Size(100, 100), Size(1, 1), Size(1, 1), Size(1, 1), Size(1, 1)])
    [1, 2, 3, 4]
    """
    chosen = {place for place, size in enumerate(sizes) if size.live * 2 < size.rows}
    merged = sum(sizes[place].live for place in chosen)
    for level in range(1 + max((_level(size.live) for size in sizes), default=0)):
        here = [
            place for place, size in enumerate(sizes) if place not in chosen and _level(size.live) == level
        ]
        # What was chosen below arrives on a level as one more segment, so that merges cascade in one step.
        if len(here) + (merged > 0 and _level(merged) == level) >= FAN:
            chosen.update(here)
            merged += sum(sizes[place].live for place in here)
    return sorted(chosen)


def _level(live: int) -> int:
    """The logarithm of the size to base 4, rounded down; 0 for nothing."""
    return max(0, live.bit_length() - 1) // 2


def merge_segments(folder: Path, catalog: CatalogWriter) -> bool:
    """Merge what `choose` picks, kind by kind and model by model, in one transaction; False when all stay.

    The generation stays the same, since what is found does. The old directories stay until the writer removes
    them.
    """
    deleted = catalog.deleted()
    families: dict[tuple[str, str], list[SegmentEntry]] = {}
    for entry in catalog.segments():
        if entry.kind != CODEBOOK:  # there is one for each model
            families.setdefault((entry.kind, entry.model), []).append(entry)
    merged = [_merge_family(folder, catalog, family, deleted) for family in families.values()]
    if not any(merged):
        return False
    if len(deleted):
        kept = [open_segment(folder / entry.id).passage_ids for entry in catalog.segments()]
        gone = np.isin(deleted, np.concatenate([np.empty(0, np.int64), *kept]), invert=True)
        catalog.forget_deleted(deleted[gone])
    catalog.commit_merge()
    return True


def _merge_family(
    folder: Path, catalog: CatalogWriter, family: Sequence[SegmentEntry], deleted: NDArray[np.int64]
) -> bool:
    """Merge segments of one kind and model; False when all of them stay."""
    if len(family) < FAN and not len(deleted):
        return False
    segments = [open_segment(folder / entry.id) for entry in family]
    dead = [int(np.isin(segment.passage_ids, deleted).sum()) for segment in segments]
    chosen = choose([Size(entry.rows, entry.rows - n) for entry, n in zip(family, dead, strict=True)])
    if not chosen:
        return False
    columns = _merged([segments[place] for place in chosen], deleted)
    catalog.drop_segments([family[place].id for place in chosen])
    if rows := columns["passage_ids"].shape[0]:
        kind, model = family[0].kind, family[0].model
        catalog.add_segment(SegmentEntry(write_segment(folder, kind, model, columns), kind, model, rows))
    return True


def _merged(segments: Sequence[Segment], deleted: NDArray[np.int64]) -> Columns:
    if segments[0].kind == postings.KIND:
        return merge_postings([PostingsSegment.open_whole(segment) for segment in segments], deleted)
    if segments[0].kind == tokens.KIND:
        return merge_tokens([TokenSegment(segment) for segment in segments], deleted)
    return merge_vectors([VectorSegment(segment) for segment in segments], deleted)
