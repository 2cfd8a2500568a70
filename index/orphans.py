"""Segments that no catalog names: what a kill, a merge or a dropped codebook left behind."""

from __future__ import annotations

import shutil
from pathlib import Path

from spanwise.errors import IndexCorrupt

from .catalog import Catalog
from .segment import is_segment_name


def orphans(segments: Path, catalog: Catalog) -> list[Path]:
    """The directories of segments, finished or not, that the catalog does not name."""
    if segments.is_symlink():
        raise IndexCorrupt(f"{segments} is a link: an index has its segments in its own folder")
    named = {entry.id for entry in catalog.segments()}
    found = [path for path in segments.iterdir() if is_segment_name(path.name)]
    return [path for path in found if path.name not in named]


def remove_orphans(segments: Path, catalog: Catalog) -> None:
    """Delete them, and nothing else that lies there. A reader that has one open keeps its mapped files.

    A commit that failed may still stand in SQLite's log and name them, and come back after a power cut. So
    they stay until another commit has taken its place.
    """
    for directory in orphans(segments, catalog):
        shutil.rmtree(directory, ignore_errors=True)
