"""One bad file costs itself alone: whatever it does to the child, it is rejected and the next one is read."""

import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from helpers import hostile_child
from helpers.files import pdf_of

import spanwise
from spanwise.corpora.passages import split
from spanwise.corpora.reading import SkippedFile, parse
from spanwise.errors import DocumentRejected, SpanwiseError
from spanwise.index.analysis import Analyzer
from spanwise.index.schema import indexed_text
from spanwise.pipelines.parsing import pool as parse_pool
from spanwise.pipelines.parsing.pool import ChildDied, PageDrawer, ParsePool, ParseWorker
from spanwise.pipelines.parsing.worker import Limits

GOOD = b"# The mill\n\nThe mill was built in 1811 by Ada Rook.\n\n## Rules\n\nKeep off the stones.\n"
LIMITS = Limits(memory_bytes=400 * 2**20, cpu_s=1, wall_s=20.0, written_bytes=1_000_000)
SETTINGS = Analyzer().settings()


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[ParseWorker]:
    monkeypatch.setattr(parse_pool, "START", hostile_child.START)
    worker = ParseWorker(SETTINGS, LIMITS)
    yield worker
    worker.close()


def reason(worker: ParseWorker, deed: bytes) -> str:
    with pytest.raises(DocumentRejected) as rejected:
        worker.parse(deed + b"\n", "bad.txt", "x")
    return str(rejected.value)


def test_a_child_returns_document_passages_and_terms_of_its_file(worker: ParseWorker) -> None:
    document = parse(GOOD, "sub/mill.md")
    parsed = worker.parse(GOOD, "sub/mill.md", document.sha256)
    assert parsed.document == document
    assert list(parsed.passages) == split(document)
    assert list(parsed.terms) == [Analyzer().terms(indexed_text(passage)) for passage in split(document)]
    assert list(worker.split(document).passages) == split(document)
    assert worker.parse(b"\x89PNG\r\n\0\0", "a.png", "x") == SkippedFile("a.png", "unsupported format .png")


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
def test_a_harmful_file_is_rejected_and_the_next_is_read(worker, deed, why, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert reason(worker, deed) == why
    assert worker.parse(GOOD, "mill.md", "x").document.text == GOOD.decode()


def test_a_file_that_does_nothing_is_rejected_by_the_clock(worker: ParseWorker) -> None:
    worker._limits = Limits(memory_bytes=400 * 2**20, wall_s=3.0)
    assert reason(worker, b"sleep") == "its parser took more than 3 s"


@pytest.mark.parametrize("deed", [b"chatter", b"listen", b"secret"])
def test_a_file_is_kept_from_pipes_and_secrets(worker, deed, monkeypatch) -> None:
    monkeypatch.setenv("SPANWISE_SECRET", "s3cret")
    assert worker.parse(deed + b"\n", "a.txt", "x").document.text == deed.decode() + "\n"


@pytest.mark.parametrize("lie", hostile_child.LIES)
def test_an_answer_that_cannot_be_true_is_rejected(worker: ParseWorker, lie: bytes) -> None:
    assert "its parser" in reason(worker, lie) or "cannot be indexed" in reason(worker, lie)


@pytest.mark.parametrize("lie", hostile_child.FALSE_PLACES)
def test_a_passage_at_a_place_that_the_document_has_not_is_rejected(worker: ParseWorker, lie: bytes) -> None:
    assert "its parser gave an answer that makes no sense" in reason(worker, lie)
    assert worker.parse(GOOD, "mill.md", "x").document.text == GOOD.decode()


def test_a_file_pays_for_itself_only(worker: ParseWorker, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    ask = parse_pool.Child.ask

    def dies_when_used(self: parse_pool.Child, header: dict[str, object] | None, data: bytes = b"") -> object:
        if header is not None:
            asked.append(header["id"])
            if len(asked) == 2:
                raise ChildDied("something that an earlier file broke")
        return ask(self, header, data)

    monkeypatch.setattr(parse_pool.Child, "ask", dies_when_used)
    assert [worker.parse(GOOD, name, "x").document.id for name in ("a.md", "b.md")] == ["a.md", "b.md"]
    assert asked == ["a.md", "b.md", "b.md"]


def test_a_child_that_does_not_start_is_not_the_fault_of_the_file(worker, monkeypatch) -> None:
    monkeypatch.setattr(parse_pool, "START", "raise SystemExit('spanwise is not installed')")
    with pytest.raises(SpanwiseError, match=r"does not start.*spanwise is not installed") as error:
        worker.parse(GOOD, "mill.md", "x")
    assert not isinstance(error.value, DocumentRejected)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_children_end_with_their_parent(tmp_path: Path) -> None:
    code = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
import os, threading
from helpers import hostile_child
from spanwise.pipelines.parsing import pool as parse_pool
from spanwise.index.analysis import Analyzer
parse_pool.START = hostile_child.START
worker = parse_pool.ParseWorker(Analyzer().settings())
worker.parse(b"hello\\n", "a.txt", "x")
open({str(tmp_path / "pid")!r}, "w").write(str(worker._child._process.pid))
threading.Timer(0.3, os._exit, (9,)).start()
worker.parse(b"sleep\\n", "a.txt", "x")
"""
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 9
    pid = int((tmp_path / "pid").read_text())
    for _ in range(100):
        state = Path(f"/proc/{pid}/stat")
        if not state.exists() or ") Z " in state.read_text():
            return
        time.sleep(0.05)
    pytest.fail("the child is still there")


@dataclass
class Item:
    number: int
    size: int = 1


def test_results_keep_the_order_of_the_items() -> None:
    def uneven(worker: ParseWorker, item: Item) -> int:
        time.sleep(0.002 * (item.number % 5))
        if item.number == 30:
            raise ZeroDivisionError
        return item.number

    with ParsePool(SETTINGS, 3) as pool:
        results = pool.map(uneven, [Item(n) for n in range(40)])
        assert [next(results) for _ in range(30)] == list(range(30))
        with pytest.raises(ZeroDivisionError):
            next(results)


@pytest.mark.parametrize(("limit", "value", "size"), [("AHEAD_FILES", 4, 1), ("AHEAD_BYTES", 40, 10)])
def test_only_so_much_is_read_ahead(monkeypatch, limit, value, size) -> None:
    monkeypatch.setattr(parse_pool, limit, value)
    taken: list[int] = []
    with ParsePool(SETTINGS, 2) as pool:
        items = (taken.append(n) or Item(n, size) for n in range(30))
        assert max(len(taken) - done for done, _ in enumerate(pool.map(lambda _, item: item, items))) <= 5


def test_pages_are_drawn_in_a_child() -> None:
    drawer = PageDrawer()
    try:
        data = pdf_of([["The mill is old."]])
        assert drawer.png(data, 1, 200).startswith(b"\x89PNG")
        assert len(drawer.boxes(data, 1, "mill", "The ", " is")[3]) == 1
        with pytest.raises(DocumentRejected, match="no page 2"):
            drawer.png(data, 2, 200)
        with pytest.raises(DocumentRejected, match="damaged PDF"):
            drawer.boxes(b"%PDF-1.7", 1, "mill", "", "")
    finally:
        drawer.close()


def test_a_document_named_like_a_module_is_not_run(tmp_path, monkeypatch):
    (tmp_path / "json.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH")  # what closes the network imports the module first
    with spanwise.open(tmp_path, tmp_path / ".index") as library:
        assert library.sync(vectors=False, workers=1).added == ("json.py",)
    assert not (tmp_path / "ran").exists()
