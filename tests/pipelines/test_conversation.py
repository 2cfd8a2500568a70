"""`spanwise ask` without a question: typed at a pseudo terminal, and as lines of stdin."""

from __future__ import annotations

import fcntl
import io
import json
import os
import pty
import select
import subprocess
import sys
import termios
import time

import pytest

import spanwise
from spanwise.pipelines.cli.ask import HINT

WAIT_S = 120
HEARD_S = 10  # a key that is heard has shown by then


class Terminal:
    """A `spanwise ask` at a pseudo terminal."""

    def __init__(self, *arguments: object) -> None:
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "spanwise", "ask", *map(str, arguments)],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=own_terminal,
            env={**os.environ, "TERM": "dumb", "NO_COLOR": "1"},
        )
        os.close(slave)
        self.seen = ""

    def until(self, text: str) -> str:
        """What was shown since the last call, up to and with this text."""
        if not self._comes(text, WAIT_S):
            pytest.fail(f"no {text!r} in {WAIT_S} s, only {self.seen!r}")
        shown, _, self.seen = self.seen.partition(text)
        return shown + text

    def _comes(self, text: str, within_s: float) -> bool:
        deadline = time.monotonic() + within_s
        while text not in self.seen:
            if not select.select([self.master], [], [], max(0.0, deadline - time.monotonic()))[0]:
                return False
            self.seen += self._read()
        return True

    def _read(self) -> str:
        try:
            return os.read(self.master, 4096).decode("utf-8", "replace") or pytest.fail(self.seen)
        except OSError:  # Linux's end of file at a terminal whose program is gone
            return pytest.fail(f"it ended after {self.seen!r}")

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def interrupt(self) -> None:
        """Presses Ctrl-C until there is a new prompt: readline may miss one while it takes a key."""
        for _ in range(WAIT_S // HEARD_S):
            self.type("\x03")
            if self._comes("? ", HEARD_S):
                break
        self.until("? ")

    def end(self) -> int:
        try:
            return self.process.wait(WAIT_S)
        finally:
            self.process.kill()
            os.close(self.master)


def own_terminal() -> None:
    """Makes stdin the controlling terminal, so that Ctrl-C there is a signal.

    It runs between fork and exec, where nothing may be imported: another thread may have held the lock.
    """
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.fixture
def asked(run, folder, encoder_folder, reader_folder):
    """The arguments for an index that is asked with tiny models."""
    with spanwise.open(folder, model=encoder_folder) as library:
        library.sync()
    return ("--index", folder, "--reader", reader_folder, "--threshold", 0, "--retriever", "bm25")


def test_a_prompt_answers_stays_and_ends_with_an_empty_line(asked, folder):
    terminal = Terminal(*asked)
    terminal.until(HINT)
    terminal.until("? ")
    terminal.type("Who built the mill?\n")
    assert "mill.md" in terminal.until("passages, bm25")
    terminal.until("? ")
    terminal.type("xxxxx")
    terminal.until("xxxxx")
    terminal.interrupt()  # drops what was typed
    (folder / "quay.txt").write_text("The quay was built by Lo Marsh.\n")
    with spanwise.open(folder) as library:
        library.sync()
    terminal.type("Who built the quay?\n")
    shown = terminal.until("passages, bm25")
    assert "the index was updated: 4 documents" in shown
    assert "quay.txt" in shown
    terminal.until("? ")
    terminal.type("\n")
    assert terminal.end() == 0


def test_an_error_at_the_prompt_is_one_line_and_ctrl_d_ends(run, folder):
    with spanwise.open(folder):
        pass
    terminal = Terminal("--index", folder, "--retriever", "bm25")
    terminal.until("? ")
    terminal.type("Who built the mill?\n")
    assert "holds no passages" in terminal.until("? ")
    terminal.type("\x04")
    assert terminal.end() == 0


def lines(monkeypatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))


def test_each_line_of_stdin_is_answered_in_a_line_of_json(run, asked, monkeypatch):
    lines(monkeypatch, "Who built the mill?\n\nWho opened the tram?\n")
    code, out, err = run("ask", *asked, "--json")
    assert (code, err) == (0, "")
    assert [json.loads(line)["question"] for line in out.splitlines()] == [
        "Who built the mill?",
        "Who opened the tram?",
    ]


def test_a_line_stands_above_its_answer(run, asked, monkeypatch):
    lines(monkeypatch, "Who built \x1b[31m the mill?\n")
    out = run("ask", *asked)[1]
    assert out.startswith("\n? Who built ")
    assert "\x1b" not in out


def test_no_question_at_all_is_wrong_usage(run, asked, monkeypatch):
    lines(monkeypatch, "\n \n")
    code, out, err = run("ask", *asked)
    assert (code, out) == (2, "")
    assert "no question" in err


def test_the_first_line_that_fails_ends_it(run, folder, monkeypatch):
    with spanwise.open(folder):
        pass
    lines(monkeypatch, "Who?\nWhy?\n")
    code, out, err = run("ask", "--index", folder, "--retriever", "bm25")
    assert (code, out) == (1, "\n? Who?\n")
    assert err.count("holds no passages") == 1
