"""The child process: parses one file per request, or draws a page of it, within limits that it cannot lift.

Parent and child exchange a line of JSON and blocks of bytes, so no message can run code. The child ends when
its parent does. macOS has no limit on memory: there the other limits end a child that takes too much.
"""

import json
import math
import os
import resource
import select
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, BinaryIO

from spanwise.errors import DocumentRejected
from spanwise.types import Passage

from ...corpora.passages import split
from ...corpora.readers.pdf import page_boxes, page_picture, waiting_pages
from ...corpora.readers.scan import Engine, RecognisedPage, recognise
from ...corpora.reading import SkippedFile, parse
from ...index.analysis import Analyzer
from ...index.languages import stored_terms
from ...index.schema import document_from_row, document_structure

MAX_HEADER = 64 * 2**20  # bytes
MAX_BLOCK = 256 * 2**20
Message = tuple[dict[str, Any], list[bytes]]


class BrokenMessage(ValueError):
    """The bytes from the pipe are not a message, or a message is too large to send."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a child. Each million bytes of a file adds a second of CPU time and two of wall time.

    Attributes:
        memory_bytes: address space.
        cpu_s: seconds of CPU time per file.
        wall_s: seconds of wall time per file.
        written_bytes: size of a file that it writes.
    """

    memory_bytes: int = 2**30
    cpu_s: int = 30
    wall_s: float = 60.0
    written_bytes: int = 100_000_000

    def confine(self) -> None:
        """Limits this process to its memory, to small files, and to no core dump."""
        _lower(resource.RLIMIT_CORE, 0)
        _lower(resource.RLIMIT_FSIZE, self.written_bytes)
        if sys.platform != "darwin":  # which refuses the limit
            _lower(resource.RLIMIT_AS, self.memory_bytes)

    def allow_file(self, n_bytes: int) -> None:
        """Gives this process its CPU seconds for a file; then the system ends it by SIGXCPU."""
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        allowed = math.ceil(time.process_time()) + self.cpu_s + n_bytes // 1_000_000
        soft = allowed if hard == resource.RLIM_INFINITY else min(allowed, hard)
        resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def _lower(which: int, most: int) -> None:
    soft, hard = resource.getrlimit(which)
    limit = min([most, *(each for each in (soft, hard) if each != resource.RLIM_INFINITY)])
    resource.setrlimit(which, (limit, limit))


def send(stream: BinaryIO, header: Mapping[str, object], *blocks: bytes) -> None:
    """Writes one message. A message over the limits raises `BrokenMessage` and is not written."""
    line = json.dumps({**header, "blocks": [len(block) for block in blocks]}, ensure_ascii=False).encode()
    if len(line) >= MAX_HEADER or max(map(len, blocks), default=0) > MAX_BLOCK:
        raise BrokenMessage(f"a message of {len(line) + sum(map(len, blocks)):,} bytes is over the limits")
    stream.write(line + b"\n")
    for block in blocks:
        stream.write(block)
    stream.flush()


def receive(stream: BinaryIO) -> Message | None:
    """The next message, None at the end of the stream; `BrokenMessage` when it is not one."""
    line = stream.readline(MAX_HEADER + 1)
    if not line:
        return None
    try:
        header = json.loads(line)
        lengths = header.pop("blocks")
        if not all(type(length) is int and 0 <= length <= MAX_BLOCK for length in lengths):
            raise ValueError("a block is too large")
        blocks = [stream.read(length) for length in lengths]
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError) as error:
        raise BrokenMessage(f"not a message: {error}") from error
    if [len(block) for block in blocks] != lengths:
        raise BrokenMessage("the stream ends inside a message")
    return header, blocks


def main(limits: Mapping[str, Any], analyzer: Mapping[str, str]) -> None:
    """Answers requests until the parent closes the pipe."""
    requests, answers = own_pipes()
    own_limits = Limits(**limits)
    terms_of = Analyzer.from_settings(analyzer)
    own_limits.confine()
    end_with_parent(requests)
    send(answers, {"ready": True})
    while (request := receive(requests)) is not None:
        header, (data,) = request
        own_limits.allow_file(len(data))
        try:
            answer = _answer(header, data, terms_of)
            del request, data
            send(answers, *answer)
        except DocumentRejected as error:
            send(answers, {"rejected": str(error).encode("utf-8", "replace").decode()})
        except MemoryError:
            send(answers, {"out_of_memory": True})
        except Exception as error:  # an error in the code after the parser rejects this file only
            reason = f"its text cannot be indexed: {type(error).__name__}: {error}"
            send(answers, {"rejected": reason.encode("utf-8", "replace").decode()})


def _answer(header: Mapping[str, Any], data: bytes, analyzer: Analyzer) -> tuple[Any, ...]:
    """The header and the blocks of an answer: a document with its passages and terms, or a page."""
    if "page" in header:
        return _page(header, data)
    if "engine" in header:
        return (asdict(recognise(Engine(**header["engine"]), data)),)
    if "waiting" in header:
        return ({"waiting": waiting_pages(data)},)
    if header["stored"]:
        row = {**header["stored"], "id": header["id"], "sha256": "", "text": data.decode()}
        document = document_from_row(row)
    else:
        parsed = parse(data, header["id"], recognised=_recognised(header.get("recognised") or {}))
        if isinstance(parsed, SkippedFile):
            return ({"skipped": parsed.reason},)
        document = parsed
    passages = split(document)
    terms = "\n".join(" ".join(words) for words in stored_terms(document, passages, analyzer))
    places = json.dumps(places_of(passages)).encode()
    return document_structure(document), document.text.encode(), places, terms.encode()


def _page(header: Mapping[str, Any], data: bytes) -> tuple[Any, ...]:
    """A picture of a page, or the boxes of words on it."""
    number = header["page"]
    if "words" not in header:
        return {}, page_picture(data, number, header.get("width"))
    recognised = header["recognised"] and RecognisedPage(**header["recognised"])
    return (
        {"boxes": page_boxes(data, number, header["words"], header["before"], header["after"], recognised)},
    )


def _recognised(records: Mapping[str, Any]) -> dict[int, RecognisedPage]:
    return {int(number): RecognisedPage(**record) for number, record in records.items()}


def places_of(passages: Sequence[Passage]) -> list[tuple[Any, ...]]:
    """Start, end, page, line, heading path and label of each passage."""
    return [
        (passage.start, passage.end, passage.page, passage.line, passage.heading, passage.label)
        for passage in passages
    ]


def own_pipes() -> tuple[BinaryIO, BinaryIO]:
    """The pipes from and to the parent, moved to other descriptors than the standard ones."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, answers


def end_with_parent(requests: BinaryIO) -> None:
    """End this process at once when the other end of the pipe is closed, even while it works."""
    hung_up = select.poll()
    hung_up.register(requests, 0)  # no events but the end

    def wait() -> None:
        hung_up.poll()
        os.killpg(0, signal.SIGKILL)  # with its own children

    threading.Thread(target=wait, daemon=True).start()
