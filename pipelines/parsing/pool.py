"""Files parsed in child processes, so that a crash, a hang or a zip bomb costs one file and never a folder.

A child is started for the first file and replaced after many, so that leaks end with it. A file on which a
used child dies is tried again in a fresh one. A hostile file that takes a child over can make up its own text
and nothing else: id and digest are the parent's, passages are cut from the stored text, every offset is
checked.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from array import array
from collections import UserList, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import chain, pairwise
from pathlib import Path
from queue import LifoQueue
from typing import Any, BinaryIO, Self, TypeVar, cast

from spanwise.errors import DocumentRejected, SpanwiseError
from spanwise.types import Document, Passage

from ...corpora.folder import FoundFile
from ...corpora.passages import passages_at
from ...corpora.readers.pdf_page import Box
from ...corpora.reading import SkippedFile
from ...index.analysis import Analyzer
from ...index.schema import document_from_row, document_structure
from .worker import BrokenMessage, Limits, Message, receive, send

T = TypeVar("T")

START = (
    "import json, sys; start = json.loads(sys.argv[1]); sys.path[:] = start.pop('path'); "
    "from spanwise.pipelines.parsing.worker import main; main(**start)"
)
# The environment of a child; passwords and keys in the rest are not its business.
KEPT = frozenset(
    "PATH HOME LANG LANGUAGE LC_ALL LC_CTYPE TZ TMPDIR TEMP TMP SYSTEMROOT LD_LIBRARY_PATH "
    "PYTHONHOME PYTHONPATH PYTHONHASHSEED PYTHONUTF8".split()
)
# Libraries reserve address space for every core, which counts as memory.
LEAN = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MALLOC_ARENA_MAX"), "1")
FILES_PER_CHILD = 1_000
BYTES_PER_CHILD = 256 * 2**20
AHEAD_FILES = 64
AHEAD_BYTES = 32 * 2**20
MAX_REASON = 500  # characters
MAX_LEVEL = 1_000  # of a heading
MAX_OVERLAP = 4  # times that a text may occur in its passages
NONSENSE = "its parser gave an answer that makes no sense"


class ChildDied(Exception):
    """No answer; the message is the reason to reject the file. `late`: killed by the clock."""

    def __init__(self, reason: str, late: bool = False) -> None:
        super().__init__(reason)
        self.late = late


class Stopped(Exception):
    """The worker was stopped while it parsed a file."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A document ready to be stored: its passages, and the index terms of each."""

    document: Document
    passages: Sequence[Passage]
    terms: Sequence[Sequence[str]]


class TermLines(UserList[str]):
    """The terms of each passage, split on access: as lists they take ten times the memory."""

    def __getitem__(self, place: Any) -> Any:
        """The terms of one passage."""
        return self.data[place].split()


class Child:
    """One child process: started, asked, killed when it is late."""

    def __init__(self, limits: Limits, analyzer: Mapping[str, str]) -> None:
        self._limits, self._late = limits, False
        self.n_files = self.n_bytes = 0
        path = [str(Path(entry).absolute()) for entry in sys.path]
        start = json.dumps({"path": path, "limits": asdict(limits), "analyzer": dict(analyzer)})
        self._stderr = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115, `close` closes it
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", START, start],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                env={name: value for name, value in os.environ.items() if name in KEPT} | LEAN,
                start_new_session=True,  # Ctrl-C is for the parent, which ends its children
            )
        except OSError as error:
            self._stderr.close()
            raise SpanwiseError(f"no process can be started to read files: {error.strerror}") from error

    def ask(self, header: Mapping[str, object] | None, data: bytes = b"") -> Message:
        """The answer to a request, with None the message that the child is ready; `ChildDied` without one."""
        self.n_files += header is not None
        self.n_bytes += len(data)
        seconds = self._limits.wall_s + 2 * (len(data) // 1_000_000)
        clock = threading.Timer(seconds, self._stop_late)
        clock.start()
        answer = None
        try:
            if header is not None:
                send(cast(BinaryIO, self._process.stdin), header, data)
            answer = receive(cast(BinaryIO, self._process.stdout))
        except (OSError, BrokenMessage):
            pass  # `_death` finds the reason
        finally:
            clock.cancel()
        if answer is None:
            raise self._death(seconds)
        return answer

    def kill(self) -> None:
        """Ends the child and what it started; whoever waits for its answer gets `ChildDied`."""
        if sys.platform == "win32":
            self._process.kill()
        elif self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def close(self) -> None:
        """Ends the child and releases its pipes."""
        self.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._stderr):
            with suppress(OSError):  # what was not yet written has no reader any more
                cast(BinaryIO, pipe).close()

    def _stop_late(self) -> None:
        self._late = True
        self.kill()

    def _death(self, seconds: float) -> ChildDied:
        if self._late:
            return ChildDied(f"its parser took more than {seconds:g} s", late=True)
        try:
            status = self._process.wait(2.0)
        except subprocess.TimeoutExpired:
            return ChildDied(NONSENSE)
        if sys.platform != "win32" and -status == signal.SIGXCPU:
            return ChildDied(f"its parser took more than {self._limits.cpu_s} s of CPU time")
        if sys.platform != "win32" and -status == signal.SIGKILL:
            return ChildDied("its parser was killed, perhaps because the machine ran out of memory")
        self._stderr.seek(0)
        last = self._stderr.read(1 << 20).decode("utf-8", "replace").strip().splitlines()[-1:]
        how = f"crashed (signal {-status})" if status < 0 else f"ended its process (exit status {status})"
        return ChildDied(": ".join([f"its parser {how}", *(line[:200] for line in last)]))


class ParseWorker:
    """One child at most. `parse`, `split` and `ask` are for one thread at a time, `stop` for any."""

    def __init__(self, analyzer: Mapping[str, str], limits: Limits | None = None) -> None:
        self._analyzer, self._limits = analyzer, limits or Limits()
        self._child: Child | None = None
        self._changing = threading.Lock()
        self._stopped = False

    def parse(
        self, data: bytes, document_id: str, sha256: str, stored: Mapping[str, object] | None = None
    ) -> Parsed | SkippedFile:
        """The document in the bytes of a file; `DocumentRejected` says why there is none.

        With the structure of a `stored` document, `data` is its text.
        """
        answer, blocks = self.ask({"id": document_id, "stored": stored}, data)
        if "skipped" in answer:
            return SkippedFile(document_id, _one_line(answer["skipped"]))
        try:
            text, spans, terms = blocks
            row = {**answer, "id": document_id, "sha256": sha256, "text": text.decode()}
            document = document_from_row(row)
            _check(document)
            return _with_passages(document, spans, terms)
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
            self._replace()
            raise DocumentRejected(f"{NONSENSE}: {error}") from error

    def split(self, document: Document) -> Parsed | SkippedFile:
        """The passages and terms of a document that is parsed already."""
        return self.parse(document.text.encode(), document.id, document.sha256, document_structure(document))

    def ask(self, header: Mapping[str, object], data: bytes) -> Message:
        """The child's answer to a request; `DocumentRejected` when it has none."""
        while True:
            child = self._ready(len(data))
            was_used = child.n_files > 0
            try:
                answer, blocks = child.ask(header, data)
                if "out_of_memory" in answer:
                    limit = self._limits.memory_bytes / 2**30
                    raise ChildDied(f"its parser needed more than {limit:g} GB of memory")
                if "rejected" in answer:
                    raise DocumentRejected(_one_line(answer["rejected"]))
                return answer, blocks
            except ChildDied as death:
                if self._stopped:
                    raise Stopped from None
                self._replace()
                if death.late or not was_used:
                    raise DocumentRejected(str(death)) from None

    def stop(self) -> None:
        """Ends the child for good; whoever waits for an answer gets `Stopped`."""
        with self._changing:
            self._stopped = True
            if self._child is not None:
                self._child.kill()

    def close(self) -> None:
        """Ends the child and releases it; nobody may be waiting for an answer."""
        self.stop()
        self._replace()

    def _ready(self, n_bytes: int) -> Child:
        """The child, started where there is none and where this one has read enough."""
        child = self._child
        if child and (child.n_files >= FILES_PER_CHILD or child.n_bytes + n_bytes > BYTES_PER_CHILD):
            self._replace()
        if self._child is not None:
            return self._child
        with self._changing:
            if self._stopped:
                raise Stopped
            child = self._child = Child(self._limits, self._analyzer)
        try:
            child.ask(None)
        except ChildDied as death:
            if self._stopped:
                raise Stopped from None
            # Not the fault of a file: rejecting it, and all others, would empty the index.
            raise SpanwiseError(f"the process that reads files does not start: {death}") from None
        return child

    def _replace(self) -> None:
        with self._changing:
            child, self._child = self._child, None
        if child is not None:
            child.close()


def _one_line(reason: object) -> str:
    return " ".join(str(reason).split())[:MAX_REASON]


def _check(document: Document) -> None:
    """Raises `TypeError` or `ValueError` for what no document can be."""
    words = [document.media_type, document.title, *document.metadata.keys(), *document.metadata.values()]
    words += [one.text for one in document.headings] + [one.text for one in document.labels]
    "".join(words).encode()
    starts = [one.start for one in document.headings], [one.start for one in document.labels]
    for offsets in (list(document.page_starts), sorted(starts[0]), starts[1]):
        _check_ascending(offsets, len(document.text))
    if not all(type(one.level) is int and 1 <= one.level <= MAX_LEVEL for one in document.headings):
        raise ValueError(f"a heading has no level from 1 to {MAX_LEVEL}")


def _check_ascending(offsets: Sequence[Any], end: int) -> None:
    if not all(type(offset) is int and 0 <= offset <= end for offset in offsets):
        raise ValueError("an offset is outside of the text")
    if not all(a <= b for a, b in pairwise(offsets)):
        raise ValueError("offsets are out of order")


def _with_passages(document: Document, spans: bytes, terms: bytes) -> Parsed:
    offsets = array("q")
    offsets.frombytes(spans)
    starts, ends = offsets[::2].tolist(), offsets[1::2].tolist()
    for column in (starts, ends):
        _check_ascending(column, len(document.text))
    if not all(start < end for start, end in zip(starts, ends, strict=True)):
        raise ValueError("a passage is empty")
    if sum(ends) - sum(starts) > MAX_OVERLAP * len(document.text):
        raise ValueError("passages hold the text many times over")
    lines = terms.decode().split("\n") if starts else []
    if len(lines) != len(starts):
        raise ValueError(f"{len(starts)} passages with {len(lines)} lines of terms")
    return Parsed(document, passages_at(document, list(zip(starts, ends, strict=True))), TermLines(lines))


class ParsePool:
    """`workers` workers, none of which starts a child before it is needed; leaving the context ends them.

    By default one worker a core, four at most: one process stores their results.
    """

    def __init__(self, analyzer: Mapping[str, str], workers: int | None = None) -> None:
        if workers is not None and workers < 1:
            raise ValueError(f"workers is {workers}, expected at least 1")
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self._workers = [ParseWorker(analyzer) for _ in range(workers or min(4, cores))]
        self._idle: LifoQueue[ParseWorker] = LifoQueue()  # the last one used likely has a child
        for worker in self._workers:
            self._idle.put(worker)
        self._threads = ThreadPoolExecutor(len(self._workers), "spanwise-parser")

    def __enter__(self) -> Self:
        """The pool itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """Ends all children at once, and the threads that wait for them."""
        for worker in self._workers:
            worker.stop()
        self._threads.shutdown(cancel_futures=True)
        for worker in self._workers:
            worker.close()

    def map(self, work: Callable[[ParseWorker, FoundFile], T], files: Iterable[FoundFile]) -> Iterator[T]:
        """The results of `work` in the order of the files; an error comes out in its turn.

        Only so many results are ready ahead that memory does not grow with the folder.
        """
        waiting: deque[tuple[Future[T], int]] = deque()
        ahead = 0
        for file in files:
            while waiting and (ahead + file.size > AHEAD_BYTES or len(waiting) >= AHEAD_FILES):
                future, size = waiting.popleft()
                ahead -= size
                yield future.result()
            waiting.append((self._threads.submit(self._run, work, file), file.size))
            ahead += file.size
        while waiting:
            yield waiting.popleft()[0].result()

    def _run(self, work: Callable[[ParseWorker, FoundFile], T], file: FoundFile) -> T:
        worker = self._idle.get()
        try:
            return work(worker, file)
        finally:
            self._idle.put(worker)


class PageDrawer:
    """Draws pages of PDFs in a child process with tight limits; for any number of threads, one at a time."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._worker = ParseWorker(Analyzer().settings(), limits or Limits(cpu_s=10, wall_s=15.0))
        self._asking = threading.Lock()

    def png(self, data: bytes, page: int, width: int) -> bytes:
        """Page `page`, from 1, as PNG of `width` pixels at most; `DocumentRejected` when there is none."""
        with self._asking:
            _, blocks = self._worker.ask({"page": page, "width": width}, data)
        if len(blocks) != 1 or not blocks[0].startswith(b"\x89PNG\r\n\x1a\n"):
            raise DocumentRejected(NONSENSE)
        return blocks[0]

    def boxes(
        self, data: bytes, page: int, words: str, before: str, after: str
    ) -> tuple[int, float, float, list[Box]]:
        """Pages, width, height, and boxes around words; see `corpora.readers.pdf_page.page_boxes`."""
        request = {"page": page, "words": words, "before": before, "after": after}
        with self._asking:
            answer, _ = self._worker.ask(request, data)
        try:
            n_pages, width, height, boxes = answer["boxes"]
            found = [(float(x), float(y), float(w), float(h)) for x, y, w, h in boxes]
            if not all(abs(float(number)) < 1e6 for number in (n_pages, width, height, *chain(*found))):
                raise ValueError("a number is too large")
            return int(n_pages), float(width), float(height), found
        except (KeyError, TypeError, ValueError) as error:
            raise DocumentRejected(NONSENSE) from error

    def close(self) -> None:
        """Ends the child."""
        with self._asking:
            self._worker.close()
