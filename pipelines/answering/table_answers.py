"""Finds the tables in which retrieved passages lie, and the best result of a question in them."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import PurePosixPath

from spanwise.types import AnswerSpan, Document, Hit, Passage, Span, TablePart

from ...corpora.passages import passages_at
from ...corpora.tables import find_tables, is_huge, may_hold_rows
from ...index.analysis import Analyzer
from .lookup import look_up
from .table_reading import Result
from .table_text import TableText

# The logistic confidence of a result, fitted on 200 questions about tables and on those of eight folders with
# a table near.
SLOPE = 1.57  # of the score
QUOTED = 2.04  # the reader quotes the table
AGREES = 0.90  # it quotes the same cell
UNEXPLAINED = -0.51  # a word of the question means nothing in the table
OFFSET = -0.17
RIVAL = 0.1  # the difference of scores below which another table's other answer is a doubt
DOUBT = 1.0
MAX_WORDS = 8  # of a cell; one with more is prose
N_AROUND = 2  # rows that are shown above and below a cell
MAX_DOCUMENTS = 32  # whose tables are kept


@dataclass(frozen=True, slots=True)
class TableAnswer:
    """The best result of a question in the tables.

    result: the cells and values.
    table: the table.
    document: the document with the table.
    score: of the result, lower where another table says something else.
    quoted: the best span of the reader.
    """

    result: Result
    table: TableText
    document: Document
    score: float
    quoted: Span | None = None

    @property
    def confidence(self) -> float:
        """The fitted probability that the result is right."""
        evidence = OFFSET + SLOPE * self.score + UNEXPLAINED * bool(self.result.unexplained)
        if self.quoted is not None:
            evidence += QUOTED * self.holds(self.quoted) + AGREES * self.is_in_cell(self.quoted)
        return 1 / (1 + math.exp(-evidence))

    def is_in_cell(self, span: Span) -> bool:
        """True for a span that touches a cell of the result."""
        return any(_overlap(span, self.cell(row, column)) for row, column in self.result.cells)

    def contradicts(self, span: Span) -> bool:
        """True for a span in the table that is not in one of the cells."""
        return self.holds(span) and not self.is_in_cell(span)

    def holds(self, span: Span) -> bool:
        """True for a span that touches the table."""
        return _overlap(span, self._span(self.table.start, self.table.end))

    def cell(self, row: int, column: int) -> Span:
        """The span of the words of a cell."""
        start, end = self.table.bounds[row][column]
        words = self.table.rows[row][column]
        is_part = self.document.text.startswith(words, start)
        return self._span(start, start + len(words) if is_part else end)

    def row(self, row: int) -> Span:
        """The span of a row."""
        cells = self.table.bounds[row]
        return self._span(cells[0][0], max(end for _, end in cells))

    def around(self, row: int, column: int) -> TablePart:
        """A cell with the rows next to it."""
        first = max(0, row - N_AROUND)
        rows = self.table.rows[first : row + N_AROUND + 1]
        return TablePart(self.table.columns, tuple(map(tuple, rows)), row - first, column)

    def _span(self, start: int, end: int) -> Span:
        return Span(self.document.id, start, end, self.document.text[start:end])


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

    def best(self, question: str, hits: Sequence[Hit]) -> TableAnswer | None:
        """The best result; a doubt lowers its confidence if another table says something else as well."""
        results = []
        for document, table, passage in self._near(hits):
            if result := look_up(question, table, self._context(document, passage, table)):
                results.append((result, table, document))
        if not results:
            return None
        results.sort(key=lambda each: -each[0].score)  # ties keep the order of the hits
        result, table, document = results[0]
        is_doubtful = any(
            other.values != result.values and other.score > result.score - RIVAL for other, *_ in results
        )
        score = result.score - DOUBT * is_doubtful
        return TableAnswer(result, table, document, score)

    def columns(self, passage: Passage) -> tuple[str, ...]:
        """The names of the columns of the tables that a passage holds a part of."""
        if not may_hold_rows(passage):
            return ()
        _, tables = self._tables(passage.document_id, [passage])
        near = (table for table in tables if table.start < passage.end and passage.start < table.end)
        return tuple(chain.from_iterable(table.columns for table in near))

    def in_cell(self, answer: AnswerSpan) -> Span | None:
        """The part of an answer in one cell: the first that it touches, or the second if that names the row.

        None outside of tables, in the header and in prose.
        """
        if not may_hold_rows(answer.passage):
            return None
        span = answer.span
        document, tables = self._tables(span.document_id, [answer.passage])
        bounds = next((table.bounds for table in tables if table.start <= span.start < table.end), ())
        row = bisect_right(bounds, span.start, key=lambda cells: cells[0][0]) - 1
        cells = bounds[row] if row >= 0 else ()
        touched = [cell for cell in cells if cell[0] < span.end and span.start < cell[1]]
        if not touched:
            return None
        is_name = len(touched) > 1 and touched[0] == cells[0]
        first, after = touched[1] if is_name else touched[0]
        if len(document.text[first:after].split()) > MAX_WORDS:
            return None
        start = max(first, span.start)
        end = min(after, span.end)
        return Span(document.id, start, end, document.text[start:end])

    def _near(self, hits: Sequence[Hit]) -> Iterator[tuple[Document, TableText, Passage]]:
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
                    yield document, table, passage

    def _tables(self, document_id: str, near: Sequence[Passage]) -> tuple[Document, list[TableText]]:
        if known := self._kept.get(document_id):
            return known
        document = self._document_of(document_id)
        stored = find_tables(document, [(passage.start, passage.end) for passage in near])
        places = passages_at(document, [(table.start, table.start) for table in stored])
        tables = [
            TableText(document.text, table, self._analyzer, place.heading)
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


def _overlap(first: Span, second: Span) -> bool:
    is_same = first.document_id == second.document_id
    return is_same and first.start < second.end and second.start < first.end
