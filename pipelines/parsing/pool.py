"""Files parsed in child processes, so that a crash, a hang or a zip bomb costs one file and never a folder.

A child is started for the first file and replaced after many files, which ends leaks. A file on which a used
child dies is tried again in a new one. A hostile file that takes over a child can only invent its own
document: id and digest are the parent's, passages take their text from the document, all offsets and places
are checked.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections import UserList, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from itertools import chain, pairwise
from pathlib import Path
from queue import LifoQueue
from typing import Any, BinaryIO, Protocol, Self, TypeVar, cast

from spanwise.errors import DocumentRejected, SpanwiseError
from spanwise.types import Document, Passage, within

from ...corpora.passages import line_ends
from ...corpora.readers.pdf import Box
from ...corpora.reading import SkippedFile
from ...index.analysis import Analyzer
from ...index.pages import Recognised
from ...index.schema import document_from_row, document_structure
from .worker import MAX_HEADER, BrokenMessage, Limits, Message, receive, send

T = TypeVar("T")


class Sized(Protocol):
    """A piece of work of a size in bytes, such as a file."""

    @property
    def size(self) -> int:
        """The bytes."""


Item = TypeVar("Item", bound=Sized)

START = (
    "import json, sys; start = json.loads(sys.argv[1]); sys.path[:] = start.pop('path'); "
    "from spanwise.pipelines.parsing.worker import main; main(**start)"
)
# The environment of a child: pass on only these variables; others may hold secrets.
PASSED_ON = frozenset(
    "PATH HOME LANG LANGUAGE LC_ALL LC_CTYPE TZ TMPDIR TEMP TMP SYSTEMROOT LD_LIBRARY_PATH TESSDATA_PREFIX "
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
    """A child ended without an answer. The message is the reason to reject the file; `late`: by timeout."""

    def __init__(self, reason: str, late: bool = False) -> None:
        super().__init__(reason)
        self.late = late


class Stopped(Exception):
    """The worker was stopped while it parsed a file."""


@dataclass(frozen=True, slots=True)
class ParsedDocument:
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
    """One child process."""

    def __init__(self, limits: Limits, analyzer: Mapping[str, str]) -> None:
        self._limits = limits
        self._late = False
        self.n_files = 0
        self.n_bytes = 0
        path = [str(Path(entry).absolute()) for entry in sys.path]
        start = json.dumps({"path": path, "limits": asdict(limits), "analyzer": dict(analyzer)})
        self._stderr = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115, `close` closes it
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", START, start],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                env={name: value for name, value in os.environ.items() if name in PASSED_ON} | LEAN,
                start_new_session=True,  # Ctrl-C is for the parent, which ends its children
            )
        except OSError as error:
            self._stderr.close()
            raise SpanwiseError(f"no process can be started to read files: {error.strerror}") from error

    def ask(self, header: Mapping[str, object] | None, data: bytes = b"") -> Message:
        """The answer to a request; for None the message that the child is ready. `ChildDied` without one."""
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
        """Ends the child and its own children; a thread that waits for its answer gets `ChildDied`."""
        if self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def close(self) -> None:
        """Ends the child and releases its pipes."""
        self.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._stderr):
            with suppress(OSError):  # unwritten bytes have no reader any more
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
        if -status == signal.SIGXCPU:
            return ChildDied(f"its parser took more than {self._limits.cpu_s} s of CPU time")
        if -status == signal.SIGKILL:
            return ChildDied("its parser was killed, perhaps because the machine ran out of memory")
        self._stderr.seek(0)
        last = self._stderr.read(1 << 20).decode("utf-8", "replace").strip().splitlines()[-1:]
        end = f"crashed (signal {-status})" if status < 0 else f"ended its process (exit status {status})"
        return ChildDied(": ".join([f"its parser {end}", *(line[:200] for line in last)]))


class ParseWorker:
    """At most one child. One thread at a time may call `parse`, `split` and `ask`; any thread `stop`."""

    def __init__(self, analyzer: Mapping[str, str], limits: Limits | None = None) -> None:
        self._analyzer = analyzer
        self._limits = limits or Limits()
        self._child: Child | None = None
        self._changing = threading.Lock()
        self._stopped = False

    def parse(
        self,
        data: bytes,
        document_id: str,
        sha256: str,
        stored: Mapping[str, object] | None = None,
        recognised: Mapping[int, Recognised] | None = None,
    ) -> ParsedDocument | SkippedFile:
        """The document in the bytes of a file; `DocumentRejected` says why there is none.

        With the structure of a `stored` document, `data` is its text. `recognised` are pages of pictures.
        """
        request = {"id": document_id, "stored": stored, "recognised": recognised}
        answer, blocks = self.ask(request, data)
        if "skipped" in answer:
            return SkippedFile(document_id, _one_line(answer["skipped"]))
        try:
            text, places, terms = blocks
            row = {**answer, "id": document_id, "sha256": sha256, "text": text.decode()}
            document = document_from_row(row)
            _check(document)
            if len(places) > MAX_HEADER:
                raise ValueError(f"the places of passages take {len(places):,} bytes")
            passages = _checked_passages(document, json.loads(places))
            return ParsedDocument(document, passages, _checked_terms(terms, len(passages)))
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
            self._replace()
            raise DocumentRejected(f"{NONSENSE}: {error}") from error

    def split(self, document: Document) -> ParsedDocument | SkippedFile:
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
        """Ends the child for good; a thread that waits for an answer gets `Stopped`."""
        with self._changing:
            self._stopped = True
            if self._child is not None:
                self._child.kill()

    def close(self) -> None:
        """Ends the child and releases it; no thread may be waiting for an answer."""
        self.stop()
        self._replace()

    def _ready(self, n_bytes: int) -> Child:
        """The child: a new one if there is none, or if it has read its share of files."""
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
            # No file is at fault: rejecting this one, and all others, would empty the index.
            raise SpanwiseError(f"the process that reads files does not start: {death}") from None
        return child

    def _replace(self) -> None:
        with self._changing:
            child = self._child
            self._child = None
        if child is not None:
            child.close()


def _one_line(reason: object) -> str:
    return " ".join(str(reason).split())[:MAX_REASON]


def _check(document: Document) -> None:
    """`TypeError` or `ValueError` for values that no document can have."""
    words = [document.media_type, document.title, *document.metadata.keys(), *document.metadata.values()]
    words += [heading.text for heading in document.headings]
    words += [label.text for label in document.labels]
    "".join(words).encode()
    _check_ascending(document.page_starts, 0, len(document.text))
    _check_ascending(sorted(heading.start for heading in document.headings), 0, len(document.text))
    _check_ascending([label.start for label in document.labels], 0, len(document.text))
    _check_ascending([place for bounds in document.left_out for place in bounds], 0, len(document.text))
    levels = [heading.level for heading in document.headings]
    if not all(type(level) is int and 1 <= level <= MAX_LEVEL for level in levels):
        raise ValueError(f"a heading has no level from 1 to {MAX_LEVEL}")


def _check_ascending(numbers: Sequence[Any], least: int, most: int) -> None:
    """`ValueError` unless these are integers in rising order within the limits."""
    if not all(type(number) is int and least <= number <= most for number in numbers):
        raise ValueError("an offset or a place is outside of the text")
    if not all(a <= b for a, b in pairwise(numbers)):
        raise ValueError("offsets or places are out of order")


def _checked_passages(document: Document, rows: Sequence[Sequence[Any]]) -> list[Passage]:
    """The passages at a child's `places_of`, with the text of the document.

    `ValueError` for places that the document does not have.
    """
    n_characters = len(document.text)
    starts, ends, pages, lines, headings, labels = map(list, zip(*rows, strict=True)) if rows else [[]] * 6
    _check_ascending(starts, 0, n_characters)
    _check_ascending(ends, 0, n_characters)
    _check_ascending(lines, 1, line_ends(document.text, 0, n_characters) + 1)
    if document.page_starts:
        _check_ascending(pages, 1, len(document.page_starts))
    elif any(page is not None for page in pages):
        raise ValueError("a passage has a page in a document without pages")
    if not all(start < end for start, end in zip(starts, ends, strict=True)):
        raise ValueError("a passage is empty")
    if sum(ends) - sum(starts) > MAX_OVERLAP * n_characters:
        raise ValueError("passages hold the text many times over")
    titles = {document.title, *(heading.text for heading in document.headings)}
    if not titles.issuperset(chain.from_iterable(headings)):
        raise ValueError("a passage has a heading that the document has not")
    if not {"", *(label.text for label in document.labels)}.issuperset(labels):
        raise ValueError("a passage has a label that the document has not")
    passages = (
        Passage(0, document.id, start, end, document.text[start:end], page, line, tuple(heading), label)
        for start, end, page, line, heading, label in rows
    )
    return [replace(each, left_out=within(document.left_out, each.start, each.end)) for each in passages]


def _checked_terms(terms: bytes, n_passages: int) -> TermLines:
    lines = terms.decode().split("\n") if n_passages else []
    if len(lines) != n_passages:
        raise ValueError(f"{n_passages} passages with {len(lines)} lines of terms")
    return TermLines(lines)


def default_workers() -> int:
    """The number of workers where none is named: one for each core, at most four."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(4, cores)


class ParsePool:
    """`workers` workers, each of which starts a child when it is needed. Leaving the context ends them.

    One process stores their results, so more than `default_workers` are rarely faster.
    """

    def __init__(
        self, analyzer: Mapping[str, str], workers: int | None = None, limits: Limits | None = None
    ) -> None:
        if workers is not None and workers < 1:
            raise ValueError(f"workers is {workers}, expected at least 1")
        self._workers = [ParseWorker(analyzer, limits) for _ in range(workers or default_workers())]
        self._idle: LifoQueue[ParseWorker] = LifoQueue()  # the last one used likely has a child
        for worker in self._workers:
            self._idle.put(worker)
        self._threads = ThreadPoolExecutor(len(self._workers), "spanwise-parser")

    def __enter__(self) -> Self:
        """The pool itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """Ends all children, and the threads that wait for them."""
        for worker in self._workers:
            worker.stop()
        self._threads.shutdown(cancel_futures=True)
        for worker in self._workers:
            worker.close()

    def map(self, work: Callable[[ParseWorker, Item], T], files: Iterable[Item]) -> Iterator[T]:
        """The results of `work` in the order of the files; an error comes out in its turn.

        The number of results computed ahead is limited, so memory does not grow with the folder.
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

    def _run(self, work: Callable[[ParseWorker, Item], T], file: Item) -> T:
        worker = self._idle.get()
        try:
            return work(worker, file)
        finally:
            self._idle.put(worker)


class PageDrawer:
    """Draws pages of PDFs in a child process with tight limits; for any number of threads, one at a time."""

    def __init__(self) -> None:
        self._worker = ParseWorker(Analyzer().settings(), Limits(cpu_s=10, wall_s=15.0))
        self._asking = threading.Lock()

    def png(self, data: bytes, page: int, width: int) -> bytes:
        """Page `page`, from 1, as PNG at most `width` pixels wide; `DocumentRejected` without such a page."""
        with self._asking:
            _, blocks = self._worker.ask({"page": page, "width": width}, data)
        if len(blocks) != 1 or not blocks[0].startswith(b"\x89PNG\r\n\x1a\n"):
            raise DocumentRejected(NONSENSE)
        return blocks[0]

    def boxes(
        self,
        data: bytes,
        page: int,
        words: str,
        before: str,
        after: str,
        recognised: Recognised | None = None,
    ) -> tuple[int, float, float, list[Box]]:
        """Pages, width, height, and boxes around words; see `corpora.readers.pdf.page_boxes`."""
        request: dict[str, object] = {"page": page, "words": words, "before": before, "after": after}
        request["recognised"] = recognised
        with self._asking:
            answer, _ = self._worker.ask(request, data)
        try:
            n_pages, width, height, boxes = answer["boxes"]
            checked = [(float(x), float(y), float(w), float(h)) for x, y, w, h in boxes]
            numbers = [n_pages, width, height, *chain.from_iterable(checked)]
            if not all(abs(float(number)) < 1e6 for number in numbers):
                raise ValueError("a number is too large")
            return int(n_pages), float(width), float(height), checked
        except (KeyError, TypeError, ValueError) as error:
            raise DocumentRejected(NONSENSE) from error

    def close(self) -> None:
        """Ends the child."""
        with self._asking:
            self._worker.close()
