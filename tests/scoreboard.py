"""The table of reliability figures, written at the end of a run; a plugin for tests/conftest.py."""

from __future__ import annotations

import re
from pathlib import Path

import pytest


class Scoreboard:
    """Rows (test, figure, value) in the order of their tests' numbers."""

    KEY: pytest.StashKey[Scoreboard] = pytest.StashKey()

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], str] = {}

    def record(self, test: str, figure: str, value: str) -> None:
        """Keep one figure; a second value for the same figure is an error in the tests."""
        if (test, figure) in self.rows:
            raise ValueError(f"{test} {figure!r} was recorded before")
        self.rows[test, figure] = value

    def table(self) -> str:
        """The rows as a Markdown table."""
        ordered = sorted(self.rows.items(), key=lambda row: (_number(row[0][0]), row[0][1]))
        lines = [f"| {test} | {figure} | {value} |" for (test, figure), value in ordered]
        return "\n".join(["| test | figure | value |", "|---|---|---|", *lines, ""])


def add_options(parser: pytest.Parser) -> None:
    """The options of a reliability run."""
    parser.addoption("--nightly", action="store_true", help="the long form of each reliability test")
    parser.addoption("--scoreboard", metavar="FILE", help="write the figures of the run as a table")


def write(config: pytest.Config) -> None:
    """Write the table when `--scoreboard` asks for it."""
    if file := config.getoption("--scoreboard"):
        Path(file).write_text(config.stash[Scoreboard.KEY].table(), encoding="utf-8")


def _number(test: str) -> int:
    return int(re.sub(r"\D", "", test) or 0)
