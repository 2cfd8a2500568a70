"""Which conditions of a filter leave a document out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from spanwise.types import Filter

from ...index.snapshot import Snapshot
from ..selection import select


def conditions(where: Filter) -> Iterator[tuple[str, Filter]]:
    """Each condition of the filter, in words and as a filter of its own.

    >>> [name for name, _ in conditions(Filter(paths=("*.md", "!a/"), after="2024-01-31"))]
    ['path *.md, !a/', 'after 2024-01-31']
    """
    if where.paths:
        yield f"path {', '.join(where.paths)}", Filter(paths=where.paths)
    if where.types:
        yield f"type {', '.join(where.types)}", Filter(types=where.types)
    if where.after is not None:
        yield f"after {where.after}", Filter(after=where.after)
    if where.before is not None:
        yield f"before {where.before}", Filter(before=where.before)
    for key, value in where.metadata.items():
        yield f"{key} = {value}", Filter(metadata={key: value})


def left_out_by(snapshot: Snapshot, where: Filter, passage_ids: NDArray[np.int64]) -> list[str]:
    """The conditions that a document with these passages does not meet."""
    return [
        name
        for name, alone in conditions(where)
        if not np.isin(passage_ids, select(snapshot, alone).passage_ids).any()
    ]
