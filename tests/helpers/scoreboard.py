"""The table of reliability: how each numbered promise was tested, and the result.

A plugin for tests/conftest.py. The tests of a promise are those of tests/reliability/test_tNN_*.py and those
marked `promise("TNN")` anywhere. With `--scoreboard FILE` only these and tests marked `reliability` run.
Tests add figures by the fixture `record`.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest


class Scoreboard:
    """Figures by (promise, name), and the passed and failed tests of each promise."""

    KEY: pytest.StashKey[Scoreboard] = pytest.StashKey()

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._figures: dict[tuple[str, str], str] = {}
        self._promises: dict[str, str] = {}  # by the id of the test
        self._passed: Counter[str] = Counter()
        self._failed: Counter[str] = Counter()

    def record(self, promise: str, figure: str, value: str) -> None:
        """Keep a figure; the long form of a test replaces the figure of its quick form."""
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
        """Count a test that passed or failed."""
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
            passed = self._passed[promise]
            failed = self._failed[promise]
            rows[promise, "tests passed"] = f"{passed} of {passed + failed}"
        ordered = sorted(rows.items(), key=lambda row: (int(row[0][0][1:]), row[0][1]))
        lines = [f"| {promise} | {figure} | {value} |" for (promise, figure), value in ordered]
        return "\n".join(["| promise | figure | value |", "|---|---|---|", *lines, ""])


def promise_of(item: pytest.Item) -> str | None:
    """The number of the promise that a test belongs to, such as "T15"."""
    if marker := item.get_closest_marker("promise"):
        return str(marker.args[0])
    match = re.match(r"test_t(\d+)_", item.path.name)
    return f"T{int(match[1])}" if match and item.path.parent.name == "reliability" else None


def add_options(parser: pytest.Parser) -> None:
    """The options of a reliability run."""
    parser.addoption("--nightly", action="store_true", help="the long form of each reliability test")
    parser.addoption(
        "--scoreboard", metavar="FILE", type=Path, help="run the tests of promises, write their table to FILE"
    )
