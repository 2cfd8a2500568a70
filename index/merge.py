"""Merging of segments, and removal of segments that the catalog does not list.

Every commit adds a segment, and every deletion leaves rows that searches skip. Merging bounds both. A segment
of n live rows is on level log4(n). Four segments on one level become one segment of the next level, and a
segment that is more than half dead is rewritten. So an index of n rows has at most 3 segments on each of its
log4(n) levels, and a row is copied about once per level.

Source: O'Neil et al., "The log-structured merge-tree", 1996; here by tiers.
"""

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
    """The number of rows of a segment, and of its live rows."""

    rows: int
    live: int


def choose(sizes: Sequence[Size]) -> list[int]:
    """The places in `sizes` of the segments to merge into one; empty if all may stay.

    >>> choose([Size(1000, 1000), Size(10, 4)])
    [1]
    >>> choose([Size(100, 100), Size(1, 1), Size(1, 1), Size(1, 1), Size(1, 1)])
    [1, 2, 3, 4]
    """
    chosen = {place for place, size in enumerate(sizes) if size.live * 2 < size.rows}
    merged = sum(sizes[place].live for place in chosen)
    levels = [_level(size.live) for size in sizes]
    for level in range(1 + max(levels, default=0)):
        here = [place for place in range(len(sizes)) if place not in chosen and levels[place] == level]
        # The segments chosen so far count as one more segment on their level, so merges cascade in one step.
        if len(here) + (merged > 0 and _level(merged) == level) >= MERGE_FACTOR:
            chosen.update(here)
            merged += sum(sizes[place].live for place in here)
    return sorted(chosen)


def _level(live: int) -> int:
    """The base-4 logarithm of the size, rounded down; 0 for size 0."""
    return max(0, live.bit_length() - 1) // 2


def merge_segments(folder: Path, catalog: CatalogWriter) -> bool:
    """Merge the segments that `choose` picks, by kind and model, in one transaction; False if all stay.

    Results stay the same, and so does the number of the commit. The old directories stay until
    `remove_orphans`.
    """
    deleted = catalog.deleted()
    families: dict[tuple[str, str], list[SegmentEntry]] = {}
    for entry in catalog.segments():
        if entry.kind != CODEBOOK:  # each model has exactly one
            families.setdefault((entry.kind, entry.model), []).append(entry)
    merged = [_merge_family(folder, catalog, family, deleted) for family in families.values()]
    if not any(merged):
        return False
    if len(deleted):
        held = [open_segment(folder / entry.id).passage_ids for entry in catalog.segments()]
        catalog.forget_deleted(np.setdiff1d(deleted, np.concatenate([deleted[:0], *held])))
    catalog.commit_merge()
    return True


def _merge_family(folder: Path, catalog: CatalogWriter, family: Sequence[SegmentEntry], deleted: Ids) -> bool:
    """Merge segments of one kind and model; False if all of them stay."""
    if len(family) < MERGE_FACTOR and not len(deleted):
        return False
    segments = [open_segment(folder / entry.id) for entry in family]
    dead = [int(np.isin(segment.passage_ids, deleted).sum()) for segment in segments]
    chosen = choose([Size(entry.rows, entry.rows - n) for entry, n in zip(family, dead, strict=True)])
    if not chosen:
        return False
    parts = [segments[place] for place in chosen]
    kind = family[0].kind
    model = family[0].model
    columns: Columns
    if kind == POSTINGS:
        columns = merge_postings([PostingsSegment.open_whole(part) for part in parts], deleted)
    else:
        columns = merge_rows(kind, [RowsSegment(part) for part in parts], deleted)
    catalog.drop_segments([family[place].id for place in chosen])
    n_rows = columns["passage_ids"].shape[0]
    if n_rows:
        name = write_segment(folder, kind, model, columns)
        catalog.add_segment(SegmentEntry(name, kind, model, n_rows))
    return True


def orphans(segments: Path, catalog: Catalog) -> list[Path]:
    """The directories of segments, finished or not, that the catalog does not list."""
    if segments.is_symlink():
        raise IndexCorrupt(f"{segments} is a link: put the segments into the folder of the index")
    listed = {entry.id for entry in catalog.segments()}
    names = [path for path in segments.iterdir() if is_segment_name(path.name)]
    return [path for path in names if path.name not in listed]


def remove_orphans(segments: Path, catalog: Catalog) -> None:
    """Delete exactly the directories of `orphans`. A reader that has one open keeps its mapped files.

    The log of SQLite may still hold a failed commit that lists them, and a power cut may bring it back. So
    the caller makes another commit first.
    """
    for directory in orphans(segments, catalog):
        shutil.rmtree(directory, ignore_errors=True)
