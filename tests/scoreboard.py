"""The table of reliability: what each numbered promise was tested with, and what came of it.

A plugin for tests/conftest.py. The tests of a promise are those of tests/reliability/test_tNN_*.py and,
anywhere, those marked `promise("TNN")`; with `--scoreboard FILE` no others run. Tests add figures by the
fixture `record`.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest


class Scoreboard:
    """Figures by (promise, name), and how the tests of each promise ended."""

    KEY: pytest.StashKey[Scoreboard] = pytest.StashKey()

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._figures: dict[tuple[str, str], str] = {}
        self._promises: dict[str, str] = {}  # of each test, by its id
        self._passed, self._failed = Counter[str](), Counter[str]()

    def record(self, promise: str, figure: str, value: str) -> None:
        """Keep one figure; the long form of a test replaces that of its quick form."""
        self._figures[promise, figure] = value

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """For the table, leave out tests without a promise, unless they are marked `reliability`."""
        for item in items:
            promise = promise_of(item)
            if promise:
                self._promises[item.nodeid] = promise
        if self._file:
            chosen = [
                item
                for item in items
                if item.nodeid in self._promises or item.get_closest_marker("reliability")
            ]
            config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
            items[:] = chosen

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count the end of a test."""
        if promise := self._promises.get(report.nodeid):
            self._failed[promise] += report.failed
            self._passed[promise] += report.passed and report.when == "call"

    def pytest_sessionfinish(self) -> None:
        """Write the table when it is wanted."""
        if self._file:
            self._file.write_text(self.table(), encoding="utf-8")

    def table(self) -> str:
        """The rows as a Markdown table, in the order of the promises."""
        rows = dict(self._figures)
        for promise in self._passed | self._failed:
            passed, failed = self._passed[promise], self._failed[promise]
            rows[promise, "tests passed"] = f"{passed} of {passed + failed}"
        ordered = sorted(rows.items(), key=lambda row: (int(row[0][0][1:]), row[0][1]))
        lines = [f"| {promise} | {figure} | {value} |" for (promise, figure), value in ordered]
        return "\n".join(["| promise | figure | value |", "|---|---|---|", *lines, ""])


def promise_of(item: pytest.Item) -> str | None:
    """The number of the promise that a test is of, such as "T15"."""
    if marker := item.get_closest_marker("promise"):
        return str(marker.args[0])
    found = re.match(r"test_t(\d+)_", item.path.name)
    return f"T{int(found[1])}" if found and item.path.parent.name == "reliability" else None


def add_options(parser: pytest.Parser) -> None:
    """The options of a reliability run."""
    parser.addoption("--nightly", action="store_true", help="the long form of each reliability test")
    parser.addoption(
        "--scoreboard", metavar="FILE", type=Path, help="run the tests of promises, write their table to FILE"
    )
