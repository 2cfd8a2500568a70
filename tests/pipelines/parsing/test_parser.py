"""One bad file costs itself alone: whatever it does to the child, it is rejected and the next one is read."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import hostile_child
import pytest

from spanwise.corpora.passages import split
from spanwise.corpora.reading import Skipped, parse
from spanwise.errors import DocumentRejected, SpanwiseError
from spanwise.index.analysis import Analyzer
from spanwise.index.schema import indexed_text
from spanwise.pipelines.parsing import parser as parsing
from spanwise.pipelines.parsing import process
from spanwise.pipelines.parsing.limits import Limits
from spanwise.pipelines.parsing.parser import Parser, Stopped

GOOD = b"# The mill\n\nThe mill was built in 1811 by Ada Rook.\n\n## Rules\n\nKeep off the stones.\n"
LIMITS = Limits(memory_bytes=400 * 2**20, cpu_s=1, written_bytes=1_000_000)


@pytest.fixture
def parser(monkeypatch):
    monkeypatch.setattr(process, "START", hostile_child.START)
    monkeypatch.setattr(process, "TICK_S", 0.05)
    parser = Parser(Analyzer().settings(), limits=LIMITS)
    yield parser
    parser.close()


def reason(parser: Parser, deed: bytes) -> str:
    with pytest.raises(DocumentRejected) as rejected:
        parser.parse(deed + b"\n", "bad.txt", "x")
    return str(rejected.value)


def test_what_a_child_returns_is_what_the_parent_would_have_made(parser):
    parsed = parser.parse(GOOD, "sub/mill.md", parse(GOOD, "sub/mill.md").sha256)
    document = parse(GOOD, "sub/mill.md")
    assert parsed.document == document
    assert list(parsed.passages) == split(document)
    assert list(parsed.terms) == [Analyzer().terms(indexed_text(passage)) for passage in split(document)]


def test_a_stored_document_is_split_as_it_was(parser):
    document = parse(GOOD, "mill.md")
    assert list(parser.split(document).passages) == split(document)


def test_a_format_that_no_reader_knows_is_passed_over(parser):
    assert parser.parse(b"\x89PNG\r\n\0\0", "a.png", "x") == Skipped("a.png", "unsupported format .png")


@pytest.mark.parametrize(
    ("deed", "why"),
    [
        (b"crash", "its parser crashed (signal 11)"),
        (b"last words", "its parser crashed (signal 6): free(): invalid pointer"),
        (b"exit", "its parser ended its process (exit status 3)"),
        (b"spin", "its parser took more than 1 s of CPU time"),
        (b"eat", "its parser needed more than 0.390625 GB of memory"),
        (b"nonsense", "its parser gave an answer that makes no sense"),
        (b"fill", "its text cannot be indexed: OSError: [Errno 27] File too large"),
        (b"unlimit", "its text cannot be indexed: ValueError: not allowed to raise maximum limit"),
    ],
)
def test_a_file_that_does_harm_is_rejected_and_the_next_is_read(parser, deed, why, monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert reason(parser, deed) == why
    assert parser.parse(GOOD, "mill.md", "x").document.text == GOOD.decode()


def test_a_file_that_does_nothing_at_all_is_rejected_by_the_clock(parser):
    parser._limits = dataclasses.replace(LIMITS, wall_s=3.0)
    assert reason(parser, b"sleep") == "its parser took more than 3 s"


@pytest.mark.parametrize("deed", [b"chatter", b"listen", b"secret"])
def test_a_file_is_kept_from_pipes_and_secrets(parser, deed, monkeypatch):
    monkeypatch.setenv("SPANWISE_SECRET", "s3cret")
    assert parser.parse(deed + b"\n", "a.txt", "x").document.text == deed.decode() + "\n"


@pytest.mark.parametrize("lie", hostile_child.LIES)
def test_an_answer_that_cannot_be_true_is_rejected(parser, lie):
    assert "its parser" in reason(parser, lie)


def test_a_file_pays_for_itself_only(parser, monkeypatch):
    asked = []

    def dies_when_used(self, header, data):
        asked.append(header["id"])
        if len(asked) == 2:
            raise process.ChildDied("something that an earlier file broke")
        return ask(self, header, data)

    ask = process.ChildProcess.ask
    monkeypatch.setattr(process.ChildProcess, "ask", dies_when_used)
    assert [parser.parse(GOOD, name, "x").document.id for name in ("a.md", "b.md")] == ["a.md", "b.md"]
    assert asked == ["a.md", "b.md", "b.md"]


def test_a_child_is_replaced_after_many_files(parser, monkeypatch):
    monkeypatch.setattr(parsing, "FILES_PER_CHILD", 2)
    children = []
    for name in ("a.md", "b.md", "c.md"):
        parser.parse(GOOD, name, "x")
        children.append(parser._child)
    assert children[0] is children[1] is not children[2]


def test_a_child_that_cannot_start_is_no_fault_of_the_file(parser, monkeypatch):
    monkeypatch.setattr(process, "START", "raise SystemExit('spanwise is not installed')")
    with pytest.raises(SpanwiseError, match=r"does not start.*spanwise is not installed") as error:
        parser.parse(GOOD, "mill.md", "x")
    assert not isinstance(error.value, DocumentRejected)


def test_stopping_ends_the_wait_and_the_child(parser):
    threading.Timer(0.5, parser.stop).start()
    with pytest.raises(Stopped):
        parser.parse(b"sleep\n", "bad.txt", "x")


def test_children_end_with_their_parent(tmp_path):
    """A parent that is killed while its child is busy leaves no child."""
    pid_file = tmp_path / "pid"
    code = f"""
import sys
sys.path[:0] = {[str(Path(__file__).parents[3]), str(Path(__file__).parents[2])]!r}
import hostile_child, os, threading
from spanwise.pipelines.parsing import process
from spanwise.pipelines.parsing.parser import Parser
from spanwise.index.analysis import Analyzer
process.START = hostile_child.START
parser = Parser(Analyzer().settings())
parser.parse(b"hello\\n", "a.txt", "x")
open({str(pid_file)!r}, "w").write(str(parser._child._process.pid))
threading.Timer(0.3, os._exit, (9,)).start()
parser.parse(b"sleep\\n", "a.txt", "x")
"""
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 9
    for _ in range(100):
        if not is_running(int(pid_file.read_text())):
            return
        time.sleep(0.05)
    pytest.fail("the child is still there")


def is_running(pid: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text() and os.kill(pid, 0) is None
    except (FileNotFoundError, ProcessLookupError):
        return False
