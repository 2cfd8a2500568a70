"""What an engine is: something that makes passages searchable and searches them, ours or another's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Protocol

from .corpus import Corpus


class Engine(Protocol):
    """One program, set up as its own manual says, with the work that it can be compared in.

    A module of `engines` that names its engines in a tuple `ENGINES` has registered them. The work of a class
    need not be the same in all comparisons: another class, with the same `name`, may do the others.
    """

    name: ClassVar[str]
    """As it is shown: "bm25s (numba)"; ours is "spanwise"."""
    comparisons: ClassVar[tuple[str, ...]]
    """The names of the comparisons that it takes part in."""
    needs: ClassVar[tuple[str, ...]]
    """The distributions that must be installed; their versions are recorded."""

    def prepare(self, corpus: Corpus, folder: Path) -> None:
        """Import and load what comes before any work, untimed; `folder` is empty and its own."""

    def build(self, corpus: Corpus) -> None:
        """Make the passages of a corpus, the prepared one or its beginning, searchable from nothing."""

    def search(self, question: str, k: int) -> Sequence[int]:
        """The numbers of the best k passages, or fewer, best first."""
