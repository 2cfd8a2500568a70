"""Blocks of a document that a passage should not break: rows, cells, blocks of code, and tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby, pairwise

from spanwise.types import Document

FENCE = re.compile(r"[ \t]{0,12}(`{3,}|~{3,})")
ASCIIDOC_FENCE = re.compile(r"^((?:-{4,}|\.{4,}|[|,:!]={3,})(?=\s*\Z)|`{3,})")
LITERAL = re.compile(r"(?:.*::|\.\. (?:code|code-block|sourcecode|parsed-literal|math)::.*)\s*\Z")
BORDER = re.compile(r"={2,}(?: +={2,})+\s*\Z")
ENVIRONMENT = re.compile(
    r"[ \t]*\\(begin|end)\{((?:verbatim|lstlisting|minted|tabular[xy]?|longtable|equation|align|gather)\*?)\}"
)
# Formats with a label for each record: a row of a table, an object of JSON, a cell of a notebook.
RECORDS = frozenset(
    {"text/csv", "text/tab-separated-values", "application/json", "application/x-ndjson"}
    | {"application/x-ipynb+json"}
)
Line = tuple[int, str]  # its offset, and the line with its end
Span = tuple[int, int]


def unbreakable_blocks(document: Document) -> list[Span]:
    """Half-open spans in order, without overlap, from the start of a line to the end of the last word.

    In formats of records each record is a block. Else a table is two or more lines of cells in a row, and the
    markup of the format tells what is code.
    """
    if document.media_type in RECORDS:
        return list(_records(document))
    lines: list[Line] = []
    position = 0
    for line in document.text.splitlines(keepends=True):
        lines.append((position, line))
        position += len(line)
    marked = BY_MARKUP.get(document.media_type)
    spans = [*_tables(lines), *(marked(lines) if marked else ())]
    return list(_apart(sorted(spans, key=lambda span: (span[0], -span[1]))))


def _records(document: Document) -> Iterator[Span]:
    starts = [label.start for label in document.labels]
    for start, end in pairwise([*starts, len(document.text)]):
        length = len(document.text[start:end].rstrip())
        if length:
            yield start, start + length


def _fences(lines: Iterable[Line], fence_line: re.Pattern[str] = FENCE) -> Iterator[Span]:
    """From fence to fence; a fence that is never closed is left out."""
    opened_at, opening = 0, ""
    for start, line in lines:
        fence = fence_line.match(line)
        if fence is None:
            continue
        if not opening:
            opened_at, opening = start, fence[1]
        elif fence[1].startswith(opening) and line.strip() == fence[1]:
            yield opened_at, start + len(line.rstrip())
            opening = ""


def _literals(lines: Sequence[Line]) -> Iterator[Span]:
    """Indented code of reStructuredText with the line that introduces it, and its simple tables."""
    yield from _simple_tables(lines)
    opened_at, end, indented = -1, 0, False
    for start, line in lines:
        if opened_at >= 0 and line.strip():
            if line[0].isspace():
                end, indented = start + len(line.rstrip()), True
                continue
            if indented:
                yield opened_at, end
            opened_at = -1
        if opened_at < 0 and LITERAL.match(line):
            opened_at, indented = start, False
    if opened_at >= 0 and indented:
        yield opened_at, end


def _simple_tables(lines: Sequence[Line]) -> Iterator[Span]:
    """From the first border to the one before an empty line."""
    opened_at = -1
    for index, (start, line) in enumerate(lines):
        if BORDER.match(line):
            if opened_at < 0:
                opened_at = start
            elif index + 1 == len(lines) or lines[index + 1][1].isspace():
                yield opened_at, start + len(line.rstrip())
                opened_at = -1


def _environments(lines: Iterable[Line]) -> Iterator[Span]:
    """From the outermost LaTeX \\\\begin to its \\\\end."""
    opened_at, name = 0, ""
    for start, line in lines:
        mark = ENVIRONMENT.match(line)
        if mark and not name and mark[1] == "begin":
            opened_at, name = start, mark[2]
        elif mark and mark.groups() == ("end", name):
            yield opened_at, start + len(line.rstrip())
            name = ""


def _tables(lines: Iterable[Line]) -> Iterator[Span]:
    for is_row, group in groupby(lines, key=_is_row):
        rows = list(group)
        if is_row and len(rows) > 1:
            start, last = rows[-1]
            yield rows[0][0], start + len(last.rstrip())


def _is_row(line: Line) -> bool:
    return line[1].lstrip().startswith(("|", "+--", "+==")) or " | " in line[1]


def _apart(spans: Iterable[Span]) -> Iterator[Span]:
    """The spans without those that start inside an earlier one."""
    reached = 0
    for start, end in spans:
        if start >= reached:
            yield start, end
            reached = end


BY_MARKUP: dict[str, Callable[[list[Line]], Iterator[Span]]] = {
    "text/markdown": _fences,
    "text/asciidoc": partial(_fences, fence_line=ASCIIDOC_FENCE),
    "text/x-rst": _literals,
    "text/x-tex": _environments,
}
