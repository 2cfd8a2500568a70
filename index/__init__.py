"""Everything on disk: the catalog, immutable segments and the manifest that names them."""

from __future__ import annotations

from .rows import FileState
from .snapshot import Snapshot
from .store import Store
from .writer import Writer

__all__ = ["FileState", "Snapshot", "Store", "Writer"]
