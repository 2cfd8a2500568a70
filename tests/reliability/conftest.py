"""The figures of the reliability tests: each test records its row, `--scoreboard FILE` writes the table."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from scoreboard import Scoreboard


@pytest.fixture(scope="session")
def nightly(request: pytest.FixtureRequest) -> bool:
    """True when the run was asked for the long form of each test (`--nightly`)."""
    return bool(request.config.getoption("--nightly"))


@pytest.fixture
def record(request: pytest.FixtureRequest) -> Callable[[str, str, str], None]:
    """Takes (test of the table, figure, value): `record("T1", "kills survived", "100 of 100")`."""
    board: Scoreboard = request.config.stash[Scoreboard.KEY]
    return board.record
