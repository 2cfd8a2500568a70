"""The values of documents: text with structure, passages, hits, spans, and the report of a sync."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Bounds = tuple[int, int]
"""The start and the end of a half-open range of characters."""
SHOWN = re.compile(r"[^\n]")


def blanked(text: str, left_out: Sequence[Bounds]) -> str:
    """The text with a space for each character that is left out; lines end where they did.

    >>> blanked("open <!-- not -->at six", [(5, 17)])
    'open             at six'
    """
    pieces: list[str] = []
    reached = 0
    for start, end in left_out:
        pieces += text[reached:start], SHOWN.sub(" ", text[start:end])
        reached = end
    return "".join([*pieces, text[reached:]])


def within(left_out: Sequence[Bounds], start: int, end: int) -> tuple[Bounds, ...]:
    """The parts of ascending ranges between two offsets, counted from the first of these."""
    first = bisect_right(left_out, start, key=lambda bounds: bounds[1])
    last = bisect_left(left_out, end, key=lambda bounds: bounds[0])
    return tuple((max(left, start) - start, min(right, end) - start) for left, right in left_out[first:last])


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a document.

    Attributes:
        start: offset of its first character.
        level: 1 for the top level.
        text: the words.
    """

    start: int
    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Label:
    """The format's name of a place.

    Attributes:
        start: offset of the first character of the place.
        text: the name: "slide 3", "Sheet1!B7", "cell 12", "row 17".
    """

    start: int
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """The text of a file, into which all spans point, and the structure of the text.

    Attributes:
        id: the POSIX path relative to the root of its folder.
        media_type: such as "text/html".
        sha256: the digest of the file's bytes.
        title: the title, or the name of the file.
        text: the stored text.
        page_starts: offset of the start of each page; empty for formats without pages.
        headings: the headings.
        labels: the labels by start; each holds up to the next one.
        metadata: key and value of each metadata entry.
        left_out: ascending ranges of the text that are never quoted, such as comments.
    """

    id: str
    media_type: str
    sha256: str
    title: str
    text: str
    page_starts: tuple[int, ...] = ()
    headings: tuple[Heading, ...] = ()
    labels: tuple[Label, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[Bounds, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A table in the text of a document.

    Attributes:
        start: offset of its first character.
        end: offset after its last character.
        columns: the name of each column; "" for a column without a name.
        n_headers: the rows at the top that hold the names.
        rows: start and end of each cell of each row, equal for an empty one; all rows are equally long.
        is_whole: false if only some rows of a huge table are held, and for settings: nothing is computed.
        labels: what stands before the first cell of each row, such as the section of a setting; or empty.
    """

    start: int
    end: int
    columns: tuple[str, ...]
    n_headers: int
    rows: Sequence[Sequence[Bounds]]
    is_whole: bool = True
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TablePart:
    """The rows of a table around a cell.

    Attributes:
        columns: the names of the columns; "" for one without a name.
        rows: the words of the cells of some neighbouring rows.
        row: the index of the cell's row in `rows`.
        column: the index of its column.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    row: int
    column: int


@dataclass(frozen=True, slots=True)
class Passage:
    """A retrieval unit: `text == document.text[start:end]`, and where a person finds it.

    Attributes:
        id: a positive integer that an index never uses twice; 0 before it is stored.
        document_id: the document.
        start: offset of the first character.
        end: offset after the last character.
        text: the words.
        page: page of `start`, from 1; None for a format without pages.
        line: line of `start`, from 1.
        heading: the path of headings above it, title first.
        label: the last label of the document at or before `start`, or "".
        left_out: ascending ranges of `text` that are never quoted.
    """

    id: int
    document_id: str
    start: int
    end: int
    text: str
    page: int | None = None
    line: int = 1
    heading: tuple[str, ...] = ()
    label: str = ""
    left_out: tuple[Bounds, ...] = ()

    @property
    def readable(self) -> str:
        """`text` with a space for each character that is left out."""
        return blanked(self.text, self.left_out)

    def span(self, start: int, end: int) -> Span:
        """The span of the document for `text[start:end]`."""
        left_out = within(self.left_out, start, end)
        return Span(self.document_id, self.start + start, self.start + end, self.text[start:end], left_out)


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a document: `document.text[start:end] == text`.

    Attributes:
        document_id: the document.
        start: offset of the first character.
        end: offset after the last character.
        text: the words.
        left_out: ascending ranges of `text` that are not shown.
    """

    document_id: str
    start: int
    end: int
    text: str
    left_out: tuple[Bounds, ...] = ()

    @property
    def readable(self) -> str:
        """`text` with a space for each character that is left out."""
        return blanked(self.text, self.left_out)


@dataclass(frozen=True, slots=True)
class Step(Span):
    """An item of a list that answers a question, without its mark.

    Attributes:
        line: line of its start, from 1.
    """

    line: int = 1


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that a search returned. Equal scores are ordered by (document id, start).

    Attributes:
        passage: the passage.
        score: higher is better.
        rank: counts from 1.
        scores: the score of each stage by name.
        duplicates: passages with nearly the same text that would rank below, best first.
    """

    passage: Passage
    score: float
    rank: int
    scores: Mapping[str, float] = field(default_factory=dict)
    duplicates: tuple[Passage, ...] = ()


@dataclass(frozen=True, slots=True)
class RejectedFile:
    """A file that could not be read, and the reason."""

    document_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class DocumentWarning:
    """A remark on a document that was read, such as pages without text."""

    document_id: str
    text: str


@dataclass(frozen=True, slots=True)
class SyncReport:
    """The result of a sync. Document ids are sorted.

    Every file is counted once: `found` = added + updated + unchanged + rejected + skipped.

    Attributes:
        added: new documents.
        updated: changed documents.
        deleted: documents whose files are gone or can no longer be read.
        unchanged: the number of unchanged documents.
        rejected: files that could not be read.
        skipped: the number of ignored files by reason.
        remarks: remarks on documents that were added or updated.
        found: the number of files.
        reused_vectors: the number of new passages whose vector was stored already.
        encoded_tokens: the number of passages whose token vectors were computed.
        passages: the number of passages in the index.
        seconds: the duration.
        kept: the number of documents that are kept although their files are not there now.
    """

    added: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    unchanged: int = 0
    rejected: tuple[RejectedFile, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)
    remarks: tuple[DocumentWarning, ...] = ()
    found: int = 0
    reused_vectors: int = 0
    encoded_tokens: int = 0
    passages: int = 0
    seconds: float = 0.0
    kept: int = 0


QuoteMatch = Literal["exact", "folded", "partial"]
"""How words are found: as they stand; without white space, markup and case; or most of them in order."""


@dataclass(frozen=True, slots=True)
class CheckedQuote:
    """A quote in a text that somebody or a model wrote, and its place in the documents.

    Attributes:
        text: the words of the quote.
        start: their place in the written text.
        match: how they were found; None if they are nowhere in the documents.
        place: the words of the document, with their place; None if they are nowhere.
    """

    text: str
    start: int
    match: QuoteMatch | None = None
    place: Passage | None = None
