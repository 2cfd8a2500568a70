"""Everything on disk: the catalog, immutable segments and the manifest that names them."""

from __future__ import annotations

from .rows import Description, FileState, Refusal, indexed_text
from .snapshot import Snapshot
from .store import Store
from .vectors import Coverage
from .writer import Writer

__all__ = [
    "Coverage",
    "Description",
    "FileState",
    "Refusal",
    "Snapshot",
    "Store",
    "Writer",
    "indexed_text",
]
