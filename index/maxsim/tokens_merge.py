"""One segment of tokens from several, or from what was staged, copied in blocks: memory for one block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..segment_writer import Blocks, Columns
from .tokens import TokenRows, spans_of, token_places

_BLOCK = 65_536  # tokens, or those of one passage that has more


def merge_tokens(parts: Sequence[TokenRows], deleted: NDArray[np.int64]) -> Columns:
    """The columns of one segment that holds the live passages of several; each is compared with its sum."""
    ids = np.concatenate([part.passage_ids for part in parts])
    order = np.argsort(ids)
    order = order[np.isin(ids[order], deleted, invert=True)]
    sums = np.concatenate([part.sums for part in parts])[order]  # reading them vouches for the ends
    ends = np.cumsum(np.concatenate([np.diff(part.ends, prepend=0) for part in parts])[order])
    tokens = {
        name: Blocks(dtype, (int(ends[-1]) if len(ends) else 0, *shape), _blocks(parts, order, ends, name))
        for name, dtype, shape in (
            ("centroids", "<u2", ()),  # the first, since it is written first: there the sums are compared
            ("values", "|u1", parts[0].codes.values.shape[1:]),
            ("scales", "<f2", ()),
        )
    }
    covered = np.concatenate([part.covered for part in parts])[order]
    return {"passage_ids": ids[order], "ends": ends, **tokens, "sums": sums, "covered": covered}


def _blocks(
    parts: Sequence[TokenRows], order: NDArray[np.int64], ends: NDArray[np.int64], name: str
) -> Iterator[NDArray[Any]]:
    """One column for the passages at these places of all parts taken as one; their tokens end at `ends`."""
    lasts = np.cumsum([len(part.passage_ids) for part in parts])
    starts, _ = spans_of(ends, np.arange(len(ends)))
    for block in _cut(starts, ends):
        places, at = order[block], starts[block] - starts[block.start]
        lengths = ends[block] - starts[block]
        source = np.searchsorted(lasts, places, side="right")
        column = getattr(parts[0].codes, name)
        copied = np.empty((int(lengths.sum()), *column.shape[1:]), column.dtype)
        for number in np.unique(source).tolist():
            part, here = parts[number], source == number
            rows = places[here] - (lasts[number] - len(part.passage_ids))
            if name == "centroids":
                part.check_rows(rows)
            wanted = token_places(spans_of(part.ends, rows)[0], lengths[here])
            copied[token_places(at[here], lengths[here])] = getattr(part.codes, name)[wanted]
            part.release()
        yield copied


def _cut(starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Iterator[slice]:
    """Runs of passages that have as many tokens together as fit into a block, at least one passage each."""
    row = 0
    while row < len(ends):
        last = max(row + 1, int(np.searchsorted(ends, starts[row] + _BLOCK, side="right")))
        yield slice(row, last)
        row = last
