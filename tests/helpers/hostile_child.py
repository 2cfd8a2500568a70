"""A parsing child whose parser does to its process what the file says, as a hostile file might."""

import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from spanwise.corpora.reading import SkippedFile, parse as honest_parse
from spanwise.pipelines.parsing import worker as parse_worker
from spanwise.types import Document, Heading, Label

START = (
    "import json, sys; start = json.loads(sys.argv[1]); sys.path[:] = start.pop('path'); "
    "from helpers import hostile_child; hostile_child.main(**start)"
)


def main(limits: Mapping[str, Any], analyzer: Mapping[str, str]) -> None:
    """The main loop of the child, with `parse` in the place of the honest one."""
    parse_worker.parse = parse
    parse_worker.main(limits, analyzer)


def spin() -> None:
    while True:
        pass


def eat() -> None:
    hoard = []
    while True:
        hoard.append(bytes(2**24))


def chatter() -> None:
    print("x" * 100_000, flush=True)
    os.write(1, b"\0\0\0\0" * 1_000)


def listen() -> None:
    if sys.stdin.read() or os.read(0, 1):
        raise AssertionError("there was something to read")


def fill_the_disk() -> None:
    with open(os.environ["TMPDIR"] + "/large", "wb") as file:  # noqa: PTH123
        file.write(bytes(2**21))


def answer_nonsense() -> None:
    """Write to every pipe that this process has, where the answers go among them."""
    for descriptor in range(3, 64):
        try:
            os.write(descriptor, b"nonsense" * 1_000 + b"\n")
        except OSError:
            continue
    time.sleep(60)


DEEDS: dict[bytes, Callable[[], object]] = {
    b"crash": lambda: os.kill(os.getpid(), signal.SIGSEGV),
    b"exit": lambda: os._exit(3),
    b"last words": lambda: (os.write(2, b"free(): invalid pointer\n"), os.abort()),
    b"spin": spin,
    b"sleep": lambda: time.sleep(60),
    b"eat": eat,
    b"chatter": chatter,
    b"listen": listen,
    b"fill": fill_the_disk,
    b"nonsense": answer_nonsense,
    b"unlimit": lambda: resource.setrlimit(resource.RLIMIT_AS, (2**40, 2**40)),
    b"secret": lambda: 1 / ("SPANWISE_SECRET" not in os.environ),
}
LIES: dict[bytes, Callable[[Document], Document]] = {
    b"surrogate": lambda document: replace(document, title="\ud800"),
    b"far page": lambda document: replace(document, page_starts=(0, 10**9)),
    b"far label": lambda document: replace(document, labels=(Label(10**9, "slide 1"),)),
    b"number": lambda document: replace(document, metadata={"pages": 7}),
    b"level": lambda document: replace(document, headings=(Heading(0, 10**9, "deep"),)),
}
FALSE_PLACES: dict[bytes, tuple[object, ...]] = {  # start, end, page, line, heading path, label
    b"end after the text": (0, 10**9, None, 1, [], ""),
    b"empty passage": (3, 3, None, 1, [], ""),
    b"start that is true": (True, 3, None, 1, [], ""),
    b"page": (0, 3, 1, 1, [], ""),
    b"line 0": (0, 3, None, 0, [], ""),
    b"line after the text": (0, 3, None, 10**9, [], ""),
    b"heading": (0, 3, None, 1, ["made up"], ""),
    b"heading that is a number": (0, 3, None, 1, [7], ""),
    b"label": (0, 3, None, 1, [], "slide 1"),
    b"label that is a list": (0, 3, None, 1, [], []),
    b"too few places": (0, 3),
}


def parse(data: bytes, document_id: str, **_: Any) -> Document | SkippedFile:
    """Do what the first line says, then read the file as ever."""
    name = data.partition(b"\n")[0]
    if name in DEEDS:
        DEEDS[name]()
    if name in FALSE_PLACES:
        parse_worker.places_of = lambda passages: [FALSE_PLACES[name]]
    document = honest_parse(data, document_id)
    return LIES[name](document) if name in LIES and isinstance(document, Document) else document
