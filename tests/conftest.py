"""Settings of the whole run: no network, no downloads, reproducible Hypothesis, the data folder."""

import gc
import os
import random
import shutil
import signal
import tempfile
from collections.abc import Generator
from pathlib import Path

import no_network
import pytest
from helpers import scoreboard, shared_parsers
from hypothesis import settings

from spanwise.pipelines.parsing import pool as parse_pool

OFFLINE = Path(__file__).parent / "offline"
RELIABILITY = Path(__file__).parent / "reliability"
MEMORY = Path("/dev/shm")

settings.register_profile("default", max_examples=50, deadline=None, derandomize=True, print_blob=True)
settings.register_profile("reliability", max_examples=5000, deadline=None, print_blob=True)
settings.load_profile("default")


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of a reliability run."""
    scoreboard.add_options(parser)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Close the network for this process and its children, and choose a seed unless one is set.

    Temporary files are in memory where the system has room for that: disk syncs prove nothing more.
    """
    if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > 4 << 30:
        os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)
    os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["LANGSMITH_TRACING"] = "false"
    os.environ["SPANWISE_READER"] = "fast"
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # threads of torch are slow on busy cores
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(OFFLINE), os.environ.get("PYTHONPATH")]))
    handle, os.environ[no_network.LOG] = tempfile.mkstemp(prefix="spanwise-network-")
    os.close(handle)
    no_network.install()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell ignores it for background jobs
        signal.signal(signal.SIGINT, signal.default_int_handler)  # tests interrupt child processes
    board = scoreboard.Scoreboard(config.getoption("--scoreboard"))
    config.stash[scoreboard.Scoreboard.KEY] = board
    config.pluginmanager.register(board)
    profile = config.option.hypothesis_profile or "default"
    if config.option.hypothesis_seed is None and not settings.get_profile(profile).derandomize:
        config.option.hypothesis_seed = str(random.SystemRandom().randrange(2**32))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of tests/reliability `reliability`, except those marked `smoke`.

    The search that takes longest to compile comes first, so that the second process finds it compiled, then
    the files of whole commands: a long file at the end would leave the other process idle.
    """
    tests = RELIABILITY.parent
    items.sort(key=lambda item: (item.path.name != "test_maxscore.py", item.path.parent != tests))
    for item in items:
        if RELIABILITY in item.path.parents and not item.get_closest_marker("smoke"):
            item.add_marker("reliability")


def pytest_collection_finish() -> None:
    """Leave the modules and tests that stay to the end out of every later garbage collection."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """Remove the record of refused attempts."""
    Path(os.environ.pop(no_network.LOG)).unlink(missing_ok=True)


@pytest.fixture(scope="session", autouse=True)
def _parsers() -> Generator[None, None, None]:
    """Share the processes that read files, and tell them where to record refused attempts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parse_pool, "PASSED_ON", parse_pool.PASSED_ON | {no_network.LOG})
        patch.setattr(parse_pool, "Child", shared_parsers.SharedChild)
        yield
    shared_parsers.end_all()


def pytest_report_header(config: pytest.Config) -> str:
    """The seeds that reproduce this run."""
    seed = config.option.hypothesis_seed
    profile = config.option.hypothesis_profile or "default"
    draws = "derandomized" if seed is None else f"--hypothesis-seed={seed}"
    hashes = os.environ.get("PYTHONHASHSEED", "random")
    return f"seeds: PYTHONHASHSEED={hashes}, hypothesis {profile} {draws}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail a test that tried to leave this machine, even if the code under test hid the refusal."""
    report = yield
    if attempts := no_network.attempts():
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} tried to leave this machine: {'; '.join(attempts)}"
    return report


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of public data sets that SPANWISE_DATA names; without it the test is skipped."""
    folder = os.environ.get("SPANWISE_DATA")
    if not folder:
        pytest.skip("SPANWISE_DATA is not set; CONTRIBUTING.md says what it holds")
    if not Path(folder).is_dir():
        pytest.fail(f"SPANWISE_DATA names {folder}, which is not a folder")
    return Path(folder)


@pytest.fixture(scope="module")
def float32() -> Generator[None, None, None]:
    """Float32 products on every processor, for tests that compare closely."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPANWISE_PRECISION", "float32")
        yield


@pytest.fixture(scope="module")
def without_int8(request: pytest.FixtureRequest) -> None:
    """Float32 products on processors that would use 8 bits; bf16 products stay."""
    from spanwise.models.precision import has_int8, pick_device

    if has_int8(pick_device("cpu")):
        request.getfixturevalue("float32")
