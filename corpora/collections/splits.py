"""Which of several sets of queries and judgements is meant: the test set, unless another is named."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

DEFAULT = "test"


def choose(folder: Path, found: Mapping[str, Path], split: str | None) -> str:
    """The split named; without a name "test" or the only one there is. `ValueError` lists what there is.

    >>> choose(Path("scifact"), {"train": Path("train.tsv"), "test": Path("test.tsv")}, None)
    'test'
    """
    name = split or (DEFAULT if DEFAULT in found or len(found) != 1 else next(iter(found)))
    if name not in found:
        there = ", ".join(sorted(found)) or "none"
        raise ValueError(f"split {name!r}: {folder} has no such judgements, there are: {there}")
    return name


def refuse(folder: Path, split: str | None) -> None:
    """`ValueError` when a split is asked of a collection that has only one set of queries."""
    if split is not None:
        raise ValueError(f"split {split!r}: the collection in {folder} has no splits, leave it away")
