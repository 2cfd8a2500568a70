"""Finds the tables in which retrieved passages lie, and what a question gets from them.

A table gives a result, which is looked up or computed, and the rows that share words with the question, which
the reader reads one by one.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import PurePosixPath

from spanwise.types import Document, Hit, Passage, Span, TablePart

from ...corpora.passages import passages_at
from ...corpora.readers.builder import HIDDEN
from ...corpora.tables import find_tables, is_huge, may_hold_rows
from ...index.analysis import Analyzer
from ..understanding.question import Question
from .lookup import look_up
from .table_interpretation import Result
from .table_text import TableText

RIVAL = 0.1  # the difference of scores from which on another table's other result is no rival

MAX_WORDS = 8  # of a cell; one with more is prose
N_AROUND = 2  # rows that are shown above and below a cell
MAX_DOCUMENTS = 32  # whose tables are kept
MAX_ROWS = 8  # that are read for a question
TINY = 2  # rows of a table that are read even if they share no word with the question
MAX_PLACES = 20_000  # of a term in a table that are looked at


@dataclass(frozen=True, slots=True)
class NearTable:
    """A table that a retrieved passage holds a part of.

    document: the document with the table.
    text: the table.
    passage: the best such passage.
    context: the stems of the headings above it, of the title and of the file's name.
    """

    document: Document
    text: TableText
    passage: Passage
    context: frozenset[str]

    def holds(self, span: Span) -> bool:
        """True for a span that touches the table."""
        return span.document_id == self.document.id and _overlap(
            (span.start, span.end), (self.text.start, self.text.end)
        )

    def is_in_header(self, span: Span) -> bool:
        """True for a span that begins in the names of the columns."""
        bounds = self.text.bounds
        return bool(bounds) and self.holds(span) and self.text.start <= span.start < bounds[0][0][0]

    def cells(self, span: Span) -> list[tuple[int, int]]:
        """Row and column of the cells of the first row that a span touches; none in the header."""
        bounds = self.text.bounds
        row = bisect_right(bounds, span.start, key=lambda cells: cells[0][0]) - 1
        if row < 0 or not self.holds(span):
            return []
        touched = (_overlap(cell, (span.start, span.end)) for cell in bounds[row])
        return [(row, column) for column, touches in enumerate(touched) if touches]

    def is_prose(self, row: int, column: int) -> bool:
        """True for a cell with more than a few words."""
        return len(self.text.rows[row][column].split()) > MAX_WORDS

    def cell(self, row: int, column: int) -> Span:
        """The span of the words of a cell."""
        start, end = self.text.bounds[row][column]
        words = self.text.rows[row][column]
        is_part = self.document.text.startswith(words, start)
        return self._span(start, start + len(words) if is_part else end)

    def name(self, row: int, column: int) -> str:
        """The first cell of a row and the name of a column, as "Weir, Cost"; without what is empty."""
        names = (self.text.rows[row][0] if column else "", self.text.columns[column])
        return ", ".join(filter(None, names))

    def row(self, row: int) -> Span:
        """The span of a row."""
        cells = self.text.bounds[row]
        return self._span(cells[0][0], max(end for _, end in cells))

    def around(self, row: int, column: int) -> TablePart:
        """A cell with the rows next to it."""
        first = max(0, row - N_AROUND)
        rows = self.text.rows[first : row + N_AROUND + 1]
        return TablePart(self.text.columns, tuple(map(tuple, rows)), row - first, column)

    def record(self, row: int) -> Passage:
        """A row as a passage to read: each cell after the name of its column, below the headings."""
        text, _ = self.text.record(row)
        return replace(self.passage, start=0, end=len(text), text=text)

    def column_at(self, row: int, span: Span) -> int | None:
        """The column in which a span of a record answers; of the first cell and another, the other."""
        _, bounds = self.text.record(row)
        touched = [column for column, *cell in bounds if _overlap(cell, (span.start, span.end))]
        return touched[len(touched) == 2] if touched else None

    def _span(self, start: int, end: int) -> Span:
        return Span(self.document.id, start, end, self.document.text[start:end])


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row that shares words with a question.

    table: its table.
    number: its number in the table.
    is_best: no other row holds rarer ones.
    is_tie: nor does it alone.
    """

    table: NearTable
    number: int
    is_best: bool
    is_tie: bool


@dataclass(frozen=True, slots=True)
class TableResult:
    """What a question gets from a table: cells, or a value computed from them.

    table: the table.
    result: the cells and values.
    has_rival: another table says something else, about as well.
    """

    table: NearTable
    result: Result
    has_rival: bool = False


class TableFinder:
    """The tables of the documents of a commit. Those of some documents are kept."""

    def __init__(
        self,
        analyzer: Analyzer,
        document_of: Callable[[str], Document],
    ) -> None:
        self._analyzer = analyzer
        self._document_of = document_of
        self._kept: dict[str, tuple[Document, list[TableText]]] = {}

    def results(self, question: str, tables: Sequence[NearTable]) -> list[TableResult]:
        """The best result of each table that has one, in their order."""
        looked_up = [(near, look_up(question, near.text, near.context)) for near in tables]
        results = [(near, result) for near, result in looked_up if result]
        return [
            TableResult(
                near,
                result,
                any(
                    other.values != result.values and other.score > result.score - RIVAL
                    for _, other in results
                ),
            )
            for near, result in results
        ]

    def rows(self, question: Question, tables: Sequence[NearTable]) -> list[TableRow]:
        """The rows to read: those that hold the rarest terms of the question, of their table's rows."""
        weighed = []
        for near in tables:
            held = self._held(question.content, near.text)
            n_rows = Counter(chain.from_iterable(held.values()))
            for row, terms in held.items():
                weight = sum(math.log1p(len(near.text.body) / n_rows[term]) for term in terms)
                weighed.append((weight, near, row))
        weighed.sort(key=lambda each: -each[0])  # ties keep the order of the tables
        most = [each for each in weighed if each[0] == weighed[0][0]]
        return [
            TableRow(near, row, weight == most[0][0], len(most) > 1)
            for weight, near, row in weighed[:MAX_ROWS]
        ]

    def _held(self, terms: Collection[str], table: TableText) -> dict[int, set[str]]:
        """The terms that each row holds, of the rows that hold some, and of all rows of a tiny table."""
        tiny = table.body if len(table.body) <= TINY else ()
        held: dict[int, set[str]] = {row: set() for row in tiny}
        for term in terms:
            for row, column in islice(table.places(term), MAX_PLACES):
                if row in table.is_body and term in self._analyzer.terms(table.rows[row][column]):
                    held.setdefault(row, set()).add(term)
        return held

    def columns(self, passage: Passage) -> tuple[str, ...]:
        """The names of the columns of the tables that a passage holds a part of."""
        if not may_hold_rows(passage):
            return ()
        _, tables = self._tables(passage.document_id, [passage])
        near = (table for table in tables if table.start < passage.end and passage.start < table.end)
        return tuple(chain.from_iterable(table.columns for table in near))

    def near(self, hits: Sequence[Hit]) -> Iterator[NearTable]:
        """The tables that hold a part of a passage, each once, with the best such passage.

        Only documents with a passage that looks like rows are read.
        """
        by_document: dict[str, list[Passage]] = {}
        for hit in hits:
            by_document.setdefault(hit.passage.document_id, []).append(hit.passage)
        for document_id, passages in by_document.items():
            if not any(map(may_hold_rows, passages)):
                continue
            document, tables = self._tables(document_id, passages)
            for table in tables:
                parts = (p for p in passages if p.start < table.end and table.start < p.end)
                if passage := next(parts, None):
                    yield NearTable(document, table, passage, self._context(document, passage, table))

    def _tables(self, document_id: str, near: Sequence[Passage]) -> tuple[Document, list[TableText]]:
        if known := self._kept.get(document_id):
            return known
        document = self._document_of(document_id)
        stored = find_tables(document, [(passage.start, passage.end) for passage in near])
        places = passages_at(document, [(table.start, table.start) for table in stored])
        hidden = frozenset(label.start for label in document.labels if label.text.endswith(HIDDEN))
        tables = [
            TableText(document.text, table, self._analyzer, place.heading, hidden)
            for table, place in zip(stored, places, strict=True)
        ]
        if not is_huge(document):
            if len(self._kept) >= MAX_DOCUMENTS:
                self._kept.pop(next(iter(self._kept)), None)
            self._kept[document_id] = document, tables
        return document, tables

    def _context(self, document: Document, passage: Passage, table: TableText) -> frozenset[str]:
        """The stems of the headings above a passage and its table, of the title and of the file's name."""
        name = PurePosixPath(document.id).stem.replace("_", " ")
        words = chain(passage.heading, table.heading, [document.title, name])
        return frozenset(stem for text in words for stem in self._analyzer.terms(text))


def _overlap(first: Sequence[int], second: Sequence[int]) -> bool:
    return first[0] < second[1] and second[0] < first[1]
