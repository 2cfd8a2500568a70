"""What holds for the whole run: no network, no downloads, reproducible Hypothesis, the data folder."""

from __future__ import annotations

import os
import random
import signal
import tempfile
from collections.abc import Generator
from pathlib import Path

import no_network
import pytest
import scoreboard
from hypothesis import settings

from spanwise.pipelines.parsing import pool as parse_pool

OFFLINE = Path(__file__).parent / "offline"
RELIABILITY = Path(__file__).parent / "reliability"

settings.register_profile("default", max_examples=50, deadline=None, derandomize=True, print_blob=True)
settings.register_profile("reliability", max_examples=5000, deadline=None, print_blob=True)
settings.load_profile("default")


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of a reliability run."""
    scoreboard.add_options(parser)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Close the network for this process and its children, and choose the seed where one is free."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # threads of torch that wait for a busy core wait long
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(OFFLINE), os.environ.get("PYTHONPATH")]))
    handle, os.environ[no_network.LOG] = tempfile.mkstemp(prefix="spanwise-network-")
    os.close(handle)
    no_network.install()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell starts what runs in the background
        signal.signal(signal.SIGINT, signal.default_int_handler)  # and its children, which tests interrupt
    board = scoreboard.Scoreboard(config.getoption("--scoreboard"))
    config.stash[scoreboard.Scoreboard.KEY] = board
    config.pluginmanager.register(board)
    profile = config.option.hypothesis_profile or "default"
    if config.option.hypothesis_seed is None and not settings.get_profile(profile).derandomize:
        config.option.hypothesis_seed = str(random.SystemRandom().randrange(2**32))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of tests/reliability, but for those marked `smoke`, as tests of `make reliability`."""
    for item in items:
        if RELIABILITY in item.path.parents and not item.get_closest_marker("smoke"):
            item.add_marker("reliability")


def pytest_unconfigure() -> None:
    """Remove the record of refused attempts."""
    Path(os.environ.pop(no_network.LOG)).unlink(missing_ok=True)


@pytest.fixture(scope="session", autouse=True)
def _parsers_record_too() -> Generator[None, None, None]:
    """Let the processes that read files know where a refused attempt is recorded."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parse_pool, "PASSED_ON", parse_pool.PASSED_ON | {no_network.LOG})
        yield


def pytest_report_header(config: pytest.Config) -> str:
    """What it takes to see the same run again."""
    seed = config.option.hypothesis_seed
    profile = config.option.hypothesis_profile or "default"
    chosen = "derandomized" if seed is None else f"--hypothesis-seed={seed}"
    return (
        f"seeds: PYTHONHASHSEED={os.environ.get('PYTHONHASHSEED', 'random')}, hypothesis {profile} {chosen}"
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail the test that tried to leave this machine, even when the code under test hid the refusal."""
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
    """Products in float32 whatever the processor has, for tests that compare closely."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPANWISE_PRECISION", "float32")
        yield


@pytest.fixture(scope="module")
def without_int8(request: pytest.FixtureRequest) -> None:
    """Products in float32 where they would be in 8 bits; bf16 where the processor has it."""
    from spanwise.models.precision import has_int8, pick_device

    if has_int8(pick_device("cpu")):
        request.getfixturevalue("float32")
