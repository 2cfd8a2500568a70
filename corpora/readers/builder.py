"""Documents as readers build them: text written piece by piece, its headings and labels, and its title."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import PurePosixPath

from spanwise.types import Document, Heading, Label

from ..front_matter import body_start, front_matter

# A code point that no encoding can store; some PDF font tables produce them.
LONE_SURROGATE = re.compile("[\ud800-\udfff]")
ZERO_WIDTH_SPACE = "\u200b"  # some site generators hang links on it at the end of headings
MAX_TITLE = 120  # characters
# What programs put in place of a title: file names, templates.
PLACEHOLDER = re.compile(r"untitled|document\d*|.*\.(?:docx?|dvi|tex|pdf|indd|rtf|txt|qxd)", re.I)


class TextBuilder:
    """The text, headings and labels of one document. Text is appended and never changed."""

    def __init__(self) -> None:
        self.length = 0
        self.headings: list[Heading] = []
        self.labels: list[Label] = []
        self._pieces: list[str] = []
        self._line_ends = 0

    @property
    def text(self) -> str:
        """Everything written so far, without pending line ends."""
        return "".join(self._pieces)

    @property
    def first_heading(self) -> str:
        """The words of the first heading, or the empty string."""
        return self.headings[0].text if self.headings else ""

    @property
    def first_line(self) -> str:
        """The first line that is not blank, or the empty string."""
        return first_line(self.text)

    @property
    def at_line_start(self) -> bool:
        """True when the next write starts a line."""
        return self._line_ends > 0 or self.length == 0

    def write(self, text: str) -> int:
        """Writes the pending line ends and `text`; returns its offset. Empty text writes nothing."""
        if not text:
            return self.length
        ends = "\n" * self._line_ends if self.length else ""
        self._line_ends = 0
        start = self.length + len(ends)
        self._pieces.append(ends + LONE_SURROGATE.sub("\ufffd", text))
        self.length = start + len(text)
        return start

    def write_paragraph(self, text: str, blank: bool = True) -> int:
        """Writes `text` on lines of its own, by default between empty lines; returns its offset."""
        self.end_line(blank)
        start = self.write(text)
        self.end_line(blank)
        return start

    def include(self, part: TextBuilder | Document) -> int:
        """Writes the text of `part` with its headings and labels; returns its offset."""
        start = self.write(part.text)
        self.headings += [replace(heading, start=start + heading.start) for heading in part.headings]
        self.labels += [replace(label, start=start + label.start) for label in part.labels]
        return start

    def end_line(self, blank: bool = False) -> None:
        """Ends the line before the next write, or with `blank` also leaves an empty line."""
        self._line_ends = max(self._line_ends, 2 if blank else 1)

    def add_heading(self, start: int, level: int) -> None:
        """Makes the text since `start` a heading, unless it is blank."""
        words = " ".join(self.text_since(start).replace(ZERO_WIDTH_SPACE, "").split())
        if words:
            self.headings.append(Heading(start, level, words))

    def add_label(self, start: int, text: str) -> None:
        """Names the place from `start` to the next label, as the format does: a slide, a row, a cell."""
        self.labels.append(Label(start, text))

    def text_since(self, start: int) -> str:
        """The text from the offset `start` on, in time linear in its length."""
        tail: list[str] = []
        position = self.length
        for piece in reversed(self._pieces):
            if position <= start:
                break
            tail.append(piece)
            position -= len(piece)
        return "".join(reversed(tail))[start - position :]

    def finish_slide(self, number: int, notes: str) -> None:
        """Labels the text as that of a slide, and writes its speaker notes under a label of their own."""
        if self.length:
            self.add_label(0, f"slide {number}")
        if notes:
            start = self.write_paragraph(f"Notes: {notes}")
            self.add_label(start, f"slide {number}, notes")


def build_document(
    builder: TextBuilder,
    data: bytes,
    document_id: str,
    media_type: str,
    *titles: str,
    page_starts: Sequence[int] = (),
    **metadata: str,
) -> Document:
    """The document of the file `data`, titled by the first of `titles` with words, else the file name.

    Metadata without a value is dropped.
    """
    return Document(
        id=document_id,
        media_type=media_type,
        sha256=sha256(data).hexdigest(),
        title=choose_title(*titles, document_id=document_id),
        text=builder.text,
        page_starts=tuple(page_starts),
        headings=tuple(builder.headings),
        labels=tuple(builder.labels),
        metadata={key: value for key, value in metadata.items() if value},
    )


def source_document(
    data: bytes,
    document_id: str,
    media_type: str,
    decoded: tuple[str, str],
    *titles: str,
    headings: Sequence[Heading] = (),
    labels: Sequence[Label] = (),
    **metadata: str,
) -> Document:
    """The document of a file whose text is stored as it is; `decoded` is its text and its encoding.

    Front matter gives the title and metadata, and holds no heading.
    """
    text, encoding = decoded
    builder = TextBuilder()
    builder.write(text)
    builder.headings, builder.labels = list(headings), list(labels)
    metadata["encoding"] = encoding
    document = build_document(builder, data, document_id, media_type, *titles, page_starts=(), **metadata)
    if not (start := body_start(document)):
        return document
    _, values = front_matter(text)
    return replace(
        document,
        title=choose_title(values.pop("title", ""), *titles, document_id=document_id),
        headings=tuple(heading for heading in headings if heading.start >= start),
        metadata={**values, **document.metadata},
    )


def join_remarks(remarks: Mapping[str, Sequence[str]]) -> str:
    """One line of all remarks with their items; remarks without items are dropped.

    >>> join_remarks({"hidden slides": ["2", "5"], "slides without text": []})
    'hidden slides: 2, 5'
    """
    return "; ".join(f"{remark}: {', '.join(items)}" for remark, items in remarks.items() if items)


def choose_title(*candidates: str, document_id: str) -> str:
    """The first candidate with words, on one line and cut to `MAX_TITLE`; else the stem of the file name."""
    for candidate in candidates:
        words = shorten(candidate)
        if words and not PLACEHOLDER.fullmatch(words):
            return words
    return PurePosixPath(document_id).stem


def shorten(title: str) -> str:
    """The title on one line, cut at a word to `MAX_TITLE` characters."""
    words = " ".join(title[: 20 * MAX_TITLE].split()).removeprefix("Microsoft Word - ")
    if len(words) <= MAX_TITLE:
        return words
    return words[: MAX_TITLE - 1].rpartition(" ")[0] or words[: MAX_TITLE - 1]


def first_line(text: str) -> str:
    """The first line of the text that is not blank, or the empty string."""
    start = len(text) - len(text.lstrip())
    return text[start : start + 10 * MAX_TITLE].partition("\n")[0]
