"""The figures of the reliability tests: each test records its row, `--scoreboard FILE` writes the table."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from scoreboard import Scoreboard


@pytest.fixture(scope="session", autouse=True)
def children_find_the_tests() -> Iterator[None]:
    """The server that children are forked from loads what they need by name, as this process does."""
    if sys.platform != "linux":
        pytest.skip("these tests look into /proc, which this system does not have")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
        yield


@pytest.fixture(scope="session")
def nightly(request: pytest.FixtureRequest) -> bool:
    """True when the run was asked for the long form of each test (`--nightly`)."""
    return bool(request.config.getoption("--nightly"))


@pytest.fixture
def record(request: pytest.FixtureRequest) -> Callable[[str, str, str], None]:
    """Takes (test of the table, figure, value): `record("T1", "kills survived", "100 of 100")`."""
    board: Scoreboard = request.config.stash[Scoreboard.KEY]
    return board.record


@contextmanager
def folder_in_memory() -> Iterator[Path]:
    """An empty folder, in memory where there is one: thousands of syncs of a disk prove nothing more."""
    shared = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=shared if shared.is_dir() else None) as folder:
        yield Path(folder)


@pytest.fixture
def memory() -> Iterator[Path]:
    """An empty folder in memory."""
    with folder_in_memory() as folder:
        yield folder


@pytest.fixture(scope="module")
def module_memory() -> Iterator[Path]:
    """An empty folder in memory for what the tests of a module share."""
    with folder_in_memory() as folder:
        yield folder
