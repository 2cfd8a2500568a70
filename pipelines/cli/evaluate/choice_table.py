"""Several systems side by side: a row a figure, a column a system; what sets each apart from the first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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


def apart_lines(figures: Figures) -> Iterator[str]:
    """What sets each system apart from the first, a line a measure."""
    for system, each in figures.items():
        for name, measures in each.items():
            if name.startswith("against_"):
                first = name.removeprefix("against_")
                for measure, found in measures.items():
                    yield visible(f"{system} against {first}, {measure}: {_difference(found)}")


def print_choice(figures: Figures) -> None:
    """Prints both; columns are aligned and never cut."""
    rows = choice_rows(figures)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print(_aligned(row, widths))
    for line in apart_lines(figures):
        print(line)


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


def _difference(found: Mapping[str, Any]) -> str:
    interval = f"{found['difference']:+.3f} ({found['low']:+.3f} to {found['high']:+.3f})"
    return f"{interval}, p {found['p']:.4f}, Holm {found['p_holm']:.4f}"
