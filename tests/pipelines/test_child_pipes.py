"""A child ends when its parent's end of the pipe is closed: in an orderly way, or killed."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

WAIT_S = 60
ORDERLY = """
import sys, time
from spanwise.pipelines.child_pipes import interrupt_with_parent
try:
    interrupt_with_parent(sys.stdin.buffer, float(sys.argv[1]))
    print("ready", flush=True)
    time.sleep(600)
except KeyboardInterrupt:
    print("tidied")
"""
DEAF = ORDERLY + "time.sleep(600)"
BRIEF = ORDERLY.replace("time.sleep(600)", "sys.exit(3)")


@contextmanager
def child(code: str, grace_s: float) -> Iterator[subprocess.Popen[str]]:
    """A process of its own group that is set up."""
    command = [sys.executable, "-c", code, str(grace_s)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, start_new_session=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


def test_the_end_of_the_pipe_interrupts_what_runs() -> None:
    with child(ORDERLY, WAIT_S) as process:
        out, _ = process.communicate(timeout=WAIT_S)
    assert (process.returncode, out) == (0, "tidied\n")


def test_a_process_started_with_interrupts_ignored_is_interrupted_too() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with child(ORDERLY, WAIT_S) as process:
            out, _ = process.communicate(timeout=WAIT_S)
    finally:
        signal.signal(signal.SIGINT, before)
    assert (process.returncode, out) == (0, "tidied\n")


def test_what_does_not_end_in_time_is_killed() -> None:
    with child(DEAF, 0.1) as process:
        process.communicate(timeout=WAIT_S)
    assert process.returncode == -signal.SIGKILL


def test_a_process_ends_as_it_likes_while_the_pipe_is_open() -> None:
    with child(BRIEF, 0.0) as process:
        assert process.wait(WAIT_S) == 3
