"""What parent and child tell each other about a document, and the checks of all that comes from a child.

A child that a hostile file has taken over can make up the text of that file, and nothing else: the id and the
digest are the parent's own, passages are cut by the parent from the text that is stored, and every offset is
held against it.

A document travels as a header of its fields and a block of its text; its passages as two more blocks, pairs
of 64-bit offsets and lines of terms.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, overload

from spanwise.types import Document, Heading, Label, Passage

from ...corpora.passages import passages_at

MAX_LEVEL = 1_000  # of a heading
MAX_OVERLAP = 4  # times that a document's text may stand in its passages


class WrongAnswer(ValueError):
    """What a child answered cannot be true of any document."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A document ready to be stored: its passages, and for each of them its index terms."""

    document: Document
    passages: Sequence[Passage]
    terms: Sequence[Sequence[str]]


class TermLines(Sequence[list[str]]):
    """The terms of each passage, split when asked for: as lists they would take ten times the memory."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines

    def __len__(self) -> int:
        """How many passages there are."""
        return len(self._lines)

    @overload
    def __getitem__(self, place: int) -> list[str]: ...

    @overload
    def __getitem__(self, place: slice) -> TermLines: ...

    def __getitem__(self, place: int | slice) -> list[str] | TermLines:
        """The terms of one passage, or those of several as another sequence."""
        if isinstance(place, slice):
            return TermLines(self._lines[place])
        line = self._lines[place]
        return line.split(" ") if line else []


def document_header(document: Document) -> dict[str, object]:
    """The fields of a document but its text."""
    return {
        "media_type": document.media_type,
        "title": document.title,
        "page_starts": document.page_starts,
        "headings": [(heading.start, heading.level, heading.text) for heading in document.headings],
        "labels": [(label.start, label.text) for label in document.labels],
        "metadata": dict(document.metadata),
    }


def document_from(header: Mapping[str, Any], text: bytes, document_id: str, sha256: str) -> Document:
    """The document that a header and a text describe; `WrongAnswer` when no document can be like that."""
    decoded = _utf8(text)
    headings = tuple(Heading(*_row(row, 3)) for row in _list(header, "headings"))
    labels = tuple(Label(*_row(row, 2)) for row in _list(header, "labels"))
    document = Document(
        id=document_id,
        media_type=_text(header.get("media_type")),
        sha256=sha256,
        title=_text(header.get("title")),
        text=decoded,
        page_starts=tuple(_list(header, "page_starts")),
        headings=headings,
        labels=labels,
        metadata={_text(key): _text(value) for key, value in _mapping(header, "metadata").items()},
    )
    _check_offsets(document.page_starts, len(decoded), "a page")
    _check_offsets(sorted(heading.start for heading in headings), len(decoded), "a heading")
    _check_offsets([label.start for label in labels], len(decoded), "a label")
    if not all(type(heading.level) is int and 1 <= heading.level <= MAX_LEVEL for heading in headings):
        raise WrongAnswer(f"a heading has no level from 1 to {MAX_LEVEL}")
    for words in (*(heading.text for heading in headings), *(label.text for label in labels)):
        _text(words)
    return document


def passage_blocks(passages: Sequence[Passage], terms: Iterable[Iterable[str]]) -> tuple[bytes, bytes]:
    """The spans of passages and the terms of each."""
    spans = array("q", [offset for passage in passages for offset in (passage.start, passage.end)])
    return spans.tobytes(), "\n".join(" ".join(words) for words in terms).encode("utf-8")


def parsed_from(document: Document, spans: bytes, terms: bytes) -> Parsed:
    """The document with its passages; `WrongAnswer` for spans out of order or outside of its text."""
    offsets = array("q")
    if len(spans) % (2 * offsets.itemsize):
        raise WrongAnswer("half a span")
    offsets.frombytes(spans)
    starts, ends = offsets[::2].tolist(), offsets[1::2].tolist()
    if not all(0 <= start < end <= len(document.text) for start, end in zip(starts, ends, strict=True)):
        raise WrongAnswer("a passage is empty or outside of the text")
    if not all(a < b for column in (starts, ends) for a, b in pairwise(column)):
        raise WrongAnswer("passages are out of order")
    if sum(ends) - sum(starts) > MAX_OVERLAP * len(document.text):
        raise WrongAnswer("passages hold the text many times over")
    lines = _utf8(terms).split("\n") if starts else []
    if len(lines) != len(starts):
        raise WrongAnswer(f"{len(starts)} passages with {len(lines)} lines of terms")
    passages = passages_at(document, list(zip(starts, ends, strict=True)))
    return Parsed(document, passages, TermLines(lines))


def _check_offsets(offsets: Sequence[Any], length: int, what: str) -> None:
    if not all(type(offset) is int and 0 <= offset <= length for offset in offsets):
        raise WrongAnswer(f"{what} starts outside of the text")
    if not all(a <= b for a, b in pairwise(offsets)):
        raise WrongAnswer(f"{what} is out of order")


def _utf8(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise WrongAnswer(f"not UTF-8: {error}") from error


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise WrongAnswer(f"{value!r:.40} where a text belongs")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise WrongAnswer(f"a text that cannot be stored: {error.reason}") from error
    return value


def _list(header: Mapping[str, Any], name: str) -> list[Any]:
    value = header.get(name)
    if not isinstance(value, list):
        raise WrongAnswer(f"{name} is no list")
    return value


def _mapping(header: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = header.get(name)
    if not isinstance(value, dict):
        raise WrongAnswer(f"{name} is no object")
    return value


def _row(value: object, width: int) -> list[Any]:
    if not isinstance(value, list) or len(value) != width:
        raise WrongAnswer(f"{value!r:.40} where {width} fields belong")
    return value
