"""Server-sent events from bytes, as they come.

Source: HTML Living Standard, section 9.2, "Server-sent events". Followed: the three line ends, comments, the
byte order mark, fields over several lines, and that an event without the empty line behind it is none.
Deviations: bytes that are no UTF-8 are a fault, where the standard puts U+FFFD; `id` and `retry` are passed
over, for nothing reconnects here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .faults import Fault

LONGEST_LINE = 2**20
"""The longest line of a stream, in bytes without its end."""


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """An event: its name, empty where none was given, and its data, lines joined by newlines."""

    name: str
    data: str


def events(chunks: Iterable[bytes], longest: int = LONGEST_LINE) -> Iterator[ServerEvent]:
    """The events of a stream, each as soon as its last byte is there, however the bytes are cut.

    Raises a Fault for bytes that are no UTF-8 and for a line of more than `longest` bytes.

    >>> list(events([b"data: one\\nda", b"ta: two\\n\\n", b"data: cut off"]))
    [ServerEvent(name='', data='one\\ntwo')]
    """
    name, data = "", list[str]()
    for line in _text_lines(chunks, longest):
        if not line:
            if data:
                yield ServerEvent(name, "\n".join(data))
            name, data = "", []
            continue
        field, _, value = line.partition(":")  # a comment is a field without a name
        value = value.removeprefix(" ")
        if field == "data":
            data.append(value)
        elif field == "event":
            name = value


def _text_lines(chunks: Iterable[bytes], longest: int) -> Iterator[str]:
    """The lines as text; a byte order mark before the first is no part of it."""
    for number, line in enumerate(_lines(chunks, longest)):
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise Fault("sent bytes that are no UTF-8") from error
        yield text.removeprefix("\ufeff") if number == 0 else text


def _lines(chunks: Iterable[bytes], longest: int) -> Iterator[bytes]:
    """The lines that have an end (CR, LF or CR LF), without it."""
    kept = bytearray()
    after_cr = False
    for chunk in chunks:
        begin = 1 if after_cr and chunk.startswith(b"\n") else 0  # the second half of CR LF
        after_cr = chunk.endswith(b"\r") if chunk else after_cr
        for part in chunk[begin:].splitlines(keepends=True):
            ends = part.endswith((b"\r", b"\n"))
            kept += part.rstrip(b"\r\n") if ends else part
            if len(kept) > longest:
                raise Fault(f"sent a line of more than {longest} bytes")
            if ends:
                yield bytes(kept)
                kept.clear()
