"""Every byte of an index against what was written: what `spanwise verify` tells."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..index.store import Store
from .disk_usage import bytes_below
from .locations import resolve_index


@dataclass(frozen=True, slots=True)
class Verification:
    """The index, a line for each thing that is wrong, and how much was looked at: 0 where something is."""

    index: Path
    problems: tuple[str, ...]
    documents: int = 0
    passages: int = 0
    bytes: int = 0


def verify(index: str | Path) -> Verification:
    """What is wrong in an index, named by its directory or by the folder that holds it; reads all of it."""
    path = resolve_index(Path(index))
    with Store.open(path) as store:
        problems = store.verify()
        if problems:
            return Verification(path, tuple(problems))
        with store.snapshot() as snapshot:
            return Verification(path, (), snapshot.n_documents, snapshot.n_passages, bytes_below(path))
