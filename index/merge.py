"""Merging of segments, and removal of segments that no catalog names.

Every commit adds a segment, and every deletion leaves rows that searches skip. Merging bounds both: a segment
of n live rows is on level log4(n); four on one level become one segment of the next, and a segment more than
half dead is written again. So an index of n rows has at most 3 segments for each of its log4(n) levels, and a
row is copied about once a level. (The log-structured merge of O'Neil et al., 1996, by tiers.)
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spanwise.errors import IndexCorrupt

from .catalog import Catalog, CatalogWriter
from .passage_rows import RowsSegment, merge_rows
from .postings import PostingsSegment, merge_postings
from .protocol import Ids
from .schema import SegmentEntry
from .segment import CODEBOOK, POSTINGS, Columns, is_segment_name, open_segment, write_segment

MERGE_FACTOR = 4  # segments of one level that become one of the next


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
        # The segments chosen below arrive on a level as one more, so merges cascade in one step.
        if len(here) + (merged > 0 and _level(merged) == level) >= MERGE_FACTOR:
            chosen.update(here)
            merged += sum(sizes[place].live for place in here)
    return sorted(chosen)


def _level(live: int) -> int:
    """The logarithm of the size to base 4, rounded down; 0 for nothing."""
    return max(0, live.bit_length() - 1) // 2


def merge_segments(folder: Path, catalog: CatalogWriter) -> bool:
    """Merge the segments that `choose` picks, by kind and model, in one transaction; False when all stay.

    The number of the commit stays the same, since results do. The old directories stay until
    `remove_orphans`.
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


def _merge_family(folder: Path, catalog: CatalogWriter, family: Sequence[SegmentEntry], deleted: Ids) -> bool:
    """Merge segments of one kind and model; False when all of them stay."""
    if len(family) < MERGE_FACTOR and not len(deleted):
        return False
    segments = [open_segment(folder / entry.id) for entry in family]
    dead = [int(np.isin(segment.passage_ids, deleted).sum()) for segment in segments]
    chosen = choose([Size(entry.rows, entry.rows - n) for entry, n in zip(family, dead, strict=True)])
    if not chosen:
        return False
    parts, kind, model = [segments[place] for place in chosen], family[0].kind, family[0].model
    columns: Columns
    if kind == POSTINGS:
        columns = merge_postings([PostingsSegment.open_whole(part) for part in parts], deleted)
    else:
        columns = merge_rows(kind, [RowsSegment(part) for part in parts], deleted)
    catalog.drop_segments([family[place].id for place in chosen])
    if rows := columns["passage_ids"].shape[0]:
        catalog.add_segment(SegmentEntry(write_segment(folder, kind, model, columns), kind, model, rows))
    return True


def orphans(segments: Path, catalog: Catalog) -> list[Path]:
    """The directories of segments, finished or not, that the catalog does not name."""
    if segments.is_symlink():
        raise IndexCorrupt(f"{segments} is a link: an index has its segments in its own folder")
    named = {entry.id for entry in catalog.segments()}
    found = [path for path in segments.iterdir() if is_segment_name(path.name)]
    return [path for path in found if path.name not in named]


def remove_orphans(segments: Path, catalog: Catalog) -> None:
    """Delete them, and nothing else. A reader that has one open keeps its mapped files.

    A failed commit may still stand in SQLite's log, name them, and come back after a power cut. So the caller
    makes another commit first.
    """
    for directory in orphans(segments, catalog):
        shutil.rmtree(directory, ignore_errors=True)
