"""Several systems side by side: a row a figure, a column a system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..terminal import visible

Figures = Mapping[str, Mapping[str, Any]]

COUNTS = ("right_top1", "right_top3", "false_answers", "wrongly_declined", "rightly_declined")
SHARES = ("answer_recall@1", "answer_recall@5", "answer_recall@20")
TIMES = ("ms_retrieve", "ms")
SIZE = "index_bytes"


def choice_rows(figures: Figures) -> list[list[str]]:
    """The table, its head first; a figure that no system has makes no row.

    >>> choice_rows({"bm25": {"questions": 4, "right_top1": 1, "ms": 7.25, "index_bytes": 2_500_000}})
    [['of 4 questions', 'bm25'], ['right_top1', '1'], ['ms', '7'], ['index MB', '2.5']]
    """
    questions = max((each["questions"] for each in figures.values()), default=0)
    rows = [[f"of {questions} questions", *map(visible, figures)]]
    for name in (*COUNTS, *SHARES, *TIMES, SIZE):
        cells = [_cell(name, each.get(name)) for each in figures.values()]
        if any(cells):
            rows.append(["index MB" if name == SIZE else name, *cells])
    return rows


def print_choice(figures: Figures) -> None:
    """Prints it; columns are aligned and never cut."""
    rows = choice_rows(figures)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print(_aligned(row, widths))


def _aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = row
    cells = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
    return "  ".join([first.ljust(widths[0]), *cells])


def _cell(name: str, value: float | None) -> str:
    if value is None:
        return ""
    if name == SIZE:
        return f"{value / 1e6:.1f}"
    return f"{value:.2f}" if name in SHARES else f"{value:.0f}"
