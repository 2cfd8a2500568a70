"""The two forms of each reliability test, their figures, and folders in memory.

`@pytest.mark.times(quick, long, nightly)` gives a test the argument `times`: a quick form of it runs in
`make test`, the long one in `make reliability`, the third in `make reliability-nightly`.
"""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from helpers.scoreboard import Scoreboard


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make the quick form and the long form of a test."""
    if marker := metafunc.definition.get_closest_marker("times"):
        quick, *long = marker.args
        chosen = long[-1] if metafunc.config.getoption("--nightly") else long[0]
        smoke = pytest.param(quick, marks=pytest.mark.smoke, id="quick")
        metafunc.parametrize("times", [smoke, pytest.param(chosen, id="long")])


@pytest.fixture(scope="session", autouse=True)
def children_find_the_tests() -> Iterator[None]:
    """The server that children are forked from imports test modules by name, as this process does."""
    if sys.platform != "linux":
        pytest.skip("these tests look into /proc, which this system does not have")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
        yield


@pytest.fixture(scope="session")
def nightly(request: pytest.FixtureRequest) -> bool:
    """True with `--nightly`."""
    return bool(request.config.getoption("--nightly"))


@pytest.fixture
def record(request: pytest.FixtureRequest) -> Callable[[str, str, str], None]:
    """Takes a promise, a figure and its value: `record("T1", "kills survived", "100 of 100")`."""
    return request.config.stash[Scoreboard.KEY].record


@pytest.fixture
def memory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty folder, in memory where the system has room for that."""
    return tmp_path_factory.mktemp("memory")


@pytest.fixture(scope="module")
def module_memory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Such a folder for all tests of a module."""
    return tmp_path_factory.mktemp("module")
