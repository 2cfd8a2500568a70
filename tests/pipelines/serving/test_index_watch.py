"""The process that keeps an index current, as its server sees it; here it is a line of Python."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from spanwise.pipelines.serving.index_watch import LONGEST_LINE, IndexWatch

WAIT_S = 120
UNTIL_TOLD = "sys.stdin.read()"
NO_PAUSES = (0.0, 0.0)


class Watched(IndexWatch):
    """A watch of some Python, with what it said."""

    def __init__(self, code: str, *arguments: object) -> None:
        self.said: list[str] = []
        command = [sys.executable, "-S", "-c", f"import os, sys, time; {code}", *map(str, arguments)]
        super().__init__(command, os.environ, self.said.append, NO_PAUSES)

    def until(self, holds: Callable[[], bool]) -> None:
        deadline = time.monotonic() + WAIT_S
        while not holds():
            assert time.monotonic() < deadline, (str(self.state), self.said)
            time.sleep(0.01)

    def until_given_up(self) -> None:
        self._thread.join(WAIT_S)
        assert not self._thread.is_alive(), (str(self.state), self.said)


@pytest.fixture
def watched() -> Iterator[Callable[..., Watched]]:
    """Starts a watch of some Python and closes it in the end."""
    with ExitStack() as stack:

        def made(code: str, *arguments: object) -> Watched:
            watch = Watched(code, *arguments)
            watch.start()
            stack.callback(watch.close)
            return watch

        yield made


@pytest.mark.parametrize("code", ["sys.exit(1)", "os.kill(os.getpid(), 9)"])
def test_one_that_fails_is_started_again_and_then_given_up(watched, tmp_path: Path, code: str) -> None:
    watch = watched(f"open(sys.argv[1], 'a').write('x'); {code}", tmp_path / "runs")
    watch.until_given_up()
    assert (tmp_path / "runs").read_text() == "x" * (1 + len(NO_PAUSES))
    assert ["started again" in line for line in watch.said] == [True, True, False]


def test_the_signal_that_killed_it_is_named(watched) -> None:
    watch = watched("os.kill(os.getpid(), 9)")
    watch.until_given_up()
    assert str(watch.state) == "ended: killed by signal 9"


@pytest.mark.parametrize("code", [0, 2, 130])
def test_wrong_usage_and_somebodys_wish_are_no_reason_to_start_again(watched, code: int) -> None:
    watch = watched(f"sys.exit({code})")
    watch.until_given_up()
    assert str(watch.state) == f"ended: exit code {code}, the server's log says why"
    assert len(watch.said) == 1


def test_a_failed_sync_is_shown_until_one_succeeds(watched, tmp_path: Path) -> None:
    healed = "print('StorageFull', flush=True)\nwhile not os.path.exists(sys.argv[1]): time.sleep(0.01)\n"
    watch = watched(healed + f"print(flush=True); {UNTIL_TOLD}", tmp_path / "room")
    watch.until(lambda: str(watch.state) == "failing: the disk is full")
    (tmp_path / "room").touch()
    watch.until(lambda: str(watch.state) == "running")


def test_one_that_is_started_again_is_no_better_until_a_sync_succeeds(watched, tmp_path: Path) -> None:
    first = "if not os.path.exists(sys.argv[1]): open(sys.argv[1], 'w'); sys.exit(1)\n"
    waits = "while not os.path.exists(sys.argv[2]): time.sleep(0.01)\n"
    started = "print('again', file=sys.stderr, flush=True)\n"
    again = f"\n{first}{started}{waits}print(flush=True); {UNTIL_TOLD}"
    watch = watched(again, tmp_path / "once", tmp_path / "sound")
    watch.until(lambda: "again" in watch.said)
    assert str(watch.state) == "failing: exit code 1, the server's log says why"
    (tmp_path / "sound").touch()
    watch.until(lambda: str(watch.state) == "running")


def test_what_a_sync_failed_by_is_why_it_ended(watched) -> None:
    watch = watched("print('IndexLocked'); sys.exit('spanwise: /notes is being written')")
    watch.until_given_up()
    assert str(watch.state) == "ended: another process is writing to the index"
    assert watch.said[0] == "spanwise: /notes is being written"


def test_an_error_that_is_not_known_is_not_quoted(watched) -> None:
    watch = watched(f"print('/a/path', flush=True); {UNTIL_TOLD}")
    watch.until(lambda: str(watch.state) == "failing: the server's log says why")


def test_a_program_that_is_not_there_is_told() -> None:
    said: list[str] = []
    watch = IndexWatch(["/no/such/program"], os.environ, said.append, pauses_s=())
    watch.start()
    watch._thread.join(WAIT_S)
    watch.close()
    assert said[0] == "no process can be started: No such file or directory"
    assert str(watch.state) == "ended: no process can be started"


def test_one_that_is_told_to_end_is_not_started_again(watched, tmp_path: Path) -> None:
    watch = watched(f"open(sys.argv[1], 'a').write('x'); {UNTIL_TOLD}; sys.exit(1)", tmp_path / "runs")
    watch.until((tmp_path / "runs").exists)
    watch.stop()
    watch.stop()
    watch.close()
    assert ((tmp_path / "runs").read_text(), watch.said) == ("x", [])


def test_one_that_waits_to_be_started_again_ends_at_once() -> None:
    said: list[str] = []
    command = [sys.executable, "-S", "-c", "raise SystemExit(1)"]
    watch = IndexWatch(command, os.environ, said.append, pauses_s=(86400.0,))
    watch.start()
    while not said:
        time.sleep(0.01)
    watch.close(WAIT_S)
    assert not watch._thread.is_alive()


@pytest.mark.parametrize("end", ["time.sleep(600)", "sys.exit(0)"])
def test_one_that_does_not_end_is_killed_with_what_it_started(watched, end: str) -> None:
    started = "subprocess.Popen([sys.executable, '-S', '-c', 'import time; time.sleep(600)'])"
    watch = watched(f"import subprocess; {started}; print('ready', file=sys.stderr, flush=True); {end}")
    watch.until(lambda: watch.said == ["ready"])
    watch.close(0.1)
    assert not watch._thread.is_alive()  # it waits for the end of a pipe that both hold


def test_talk_that_nobody_reads_holds_nothing_up() -> None:
    def broken(line: str) -> None:
        raise BrokenPipeError

    watch = Watched("print('x\\n' * 500_000, file=sys.stderr)")
    watch._say = broken
    watch.start()
    watch.until_given_up()
    watch.close()
    assert watch.state.name == "ended"


def test_an_endless_line_comes_in_pieces(watched) -> None:
    watch = watched(f"print('x' * {LONGEST_LINE + 1}, file=sys.stderr)")
    watch.until_given_up()
    assert [len(line) for line in watch.said[:2]] == [LONGEST_LINE, 1]
