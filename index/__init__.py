"""Everything on disk: the catalog, immutable segments, and the indexes that search them."""

from __future__ import annotations

from .schema import Description, FileState, UnreadFile, indexed_text
from .snapshot import Snapshot
from .store import Store
from .writer import Writer

__all__ = ["Description", "FileState", "Snapshot", "Store", "UnreadFile", "Writer", "indexed_text"]
