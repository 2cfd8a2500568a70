"""Finds the tables in the stored text of a document, and the place of each cell in it.

Generated texts have a line for each row, with " | " between cells. Markdown has a line of dashes below the
names of its columns. Rows of CSV and records of JSON lines are one table. Nothing is stored for a table: the
text says where its cells are. Of a huge CSV file only some rows are held: those at the top and near passages.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby, islice

from spanwise.types import Bounds, Document, Passage, Table, blanked

from .readers.builder import BAR, one_line
from .readers.csv import VALUE, cell_bounds, find_delimiter, records

Rows = list[list[Bounds]]
MAX_WHOLE = 8_000_000  # characters of a CSV file, of which all rows are held
MAX_FOOTER = 300  # characters between the parts of a table on two pages
TOP = 20_000  # characters at the top of a longer one

MAX_HEADERS = 3  # rows
RECORD_LABELS = ("row ", "record ")  # of CSV and JSON lines
SAMPLE = 50  # rows that are compared with the first ones
BAR_LINES = re.compile(r"(?:(?>^[^\n]*? \|(?= |$))[^\n]*+(?:\n|\Z)){2,}+", re.M)
FENCED = re.compile(r"^[ \t>]{0,12}(?P<mark>`{3,}+|~{3,}+)(?s:.*?)(?:\n[ \t>]{0,12}(?P=mark)|\Z)", re.M)
DASHES = r"[ \t]{0,9}:?-++:?[ \t]{0,9}"
HAS_BAR = r"(?=[^\n|]*+\|)"
MARKDOWN_TABLE = re.compile(
    rf"^{HAS_BAR}(?P<names>[^\n]*+)\n"
    rf"[ \t>]{{0,12}}{HAS_BAR}\|?{DASHES}(?:\|{DASHES})*+\|?[ \t]*+(?:\n|\Z)"
    rf"(?P<rows>(?:{HAS_BAR}[^\n]*+(?:\n|\Z))*+)",
    re.M,
)
MARKDOWN_CELL = re.compile(r"(?:\\.|[^|\\\n])+|(?<=\|)(?=\|)")
RECORD_LINE = re.compile(r"^(?P<key>[^\s:][^:\n]{0,99}): ?(?P<value>[^\n]*)$|^(?P<end>)$", re.M)
SETTINGS = tuple(".json .yml .yaml .toml .ini .cfg .conf .env .properties .xml .gpx".split())
SETTING = re.compile(
    r"^(?P<before>[ \t]*(?P<item>- )?)(?:\[(?P<section>[^]\n]{1,99})\]|"
    r"[\"']?(?P<key>\w[\w./-]{0,60}(?: [\w./-]{1,30}){0,4})[\"']?[ \t]*(?::(?!\S)|=)[ \t]*"
    r"(?P<mark>[\"']?)(?P<value>[^\n]{0,400}?)(?P=mark),?(?:[ \t]{1,99}#[^\n]*)?)[ \t]{0,99}$",
    re.M,
)
MAX_SETTINGS = 1_000_000  # characters at the top of a file of settings that are searched for them
MAX_NAME = 5  # words of a value that names the settings after it
ATTRIBUTES = re.compile(r"[\w:.-]+ \(([^\n]*)\):")  # of an XML element
PAIR = re.compile(r"(?<![\w:.-])(?P<key>[\w:.-]{1,60}): (?P<value>[^,]*)")
YEAR = re.compile(r"(?:19|20)[0-9]{2}(?:[-/–][0-9]{2,4})?")
LABEL = re.compile(r"[0-9]{1,5}")  # a number that names a column, such as that of a bus
INNER = re.compile(r"\S(?:.*\S)?", re.S)


def may_hold_rows(passage: Passage) -> bool:
    """False for a passage outside all tables, without reading its document."""
    is_row = "|" in passage.text or passage.label.startswith(RECORD_LABELS)
    return is_row or _holds_settings(passage.document_id)


def _holds_settings(document_id: str) -> bool:
    return document_id.lower().endswith(SETTINGS)


def is_huge(document: Document) -> bool:
    """True for a CSV file of which only some rows are held."""
    is_csv = document.media_type in ("text/csv", "text/tab-separated-values")
    return is_csv and len(document.text) > MAX_WHOLE


def find_tables(document: Document, near: Sequence[Bounds] = ()) -> list[Table]:
    """The tables of a document in the order of its text; each has two rows or more, or a header and a row.

    Of a huge table, the rows at the top and those in the spans `near`, which begin at a row.
    """
    text = blanked(document.text, document.left_out)
    match document.media_type:
        case _ if is_huge(document):
            parts = [(0, text.rfind("\n", 0, TOP) + 1), *near]
            rows = {row[0]: row for start, end in parts for row in _csv_rows(text[start:end], start)}
            return [replace(table, is_whole=False) for table in _of_rows(text, [sorted(rows.values())])]
        case "text/csv" | "text/tab-separated-values":
            return _of_rows(text, [list(_csv_rows(text))])
        case "text/markdown":
            return list(_of_markdown(text))
        case "application/x-ndjson" | "text/vcard" | "text/calendar":
            return _of_records(text)
        case media_type if _holds_settings(document.id):
            short = text[:MAX_SETTINGS]
            return _of_records(short) if media_type == "application/xml" else _of_settings(short)
        case _:
            tables = list(_of_markdown(text)) or _of_rows(text, _bar_rows(text))
            return _over_pages(tables, document.page_starts) if document.page_starts else tables


def _over_pages(tables: Sequence[Table], page_starts: Sequence[int]) -> list[Table]:
    """The tables; one that goes on at the top of the next page, or repeats its header there, is one."""
    joined: list[Table] = []
    for table in tables:
        above = joined[-1] if joined else None
        goes_on = above is not None and (
            above.n_headers > 0
            and len(above.columns) == len(table.columns)
            and (not table.n_headers or table.columns == above.columns)
            and table.start - above.end <= MAX_FOOTER
            and any(above.end <= start <= table.start for start in page_starts)
        )
        if above is not None and goes_on:
            rows = [*above.rows, *table.rows[table.n_headers :]]
            joined[-1] = replace(above, end=table.end, rows=rows)
        else:
            joined.append(table)
    return joined


def _of_rows(text: str, blocks: Iterable[Rows]) -> list[Table]:
    """Tables of rows whose header is found by its form."""
    tables = []
    for rows in chain.from_iterable(_side_by_side(text, block) for block in blocks):
        table_rows = _without_titles(rows)
        n_headers = count_headers([[text[start:end] for start, end in row] for row in table_rows[:SAMPLE]])
        if len(table_rows) > max(n_headers, 1):
            tables.append(_table(text, table_rows, n_headers))
    return tables


def _side_by_side(text: str, rows: Rows) -> list[Rows]:
    """The rows, or their parts beside empty columns if each part has a column of names and another one."""
    filled = {column for row in rows for column, (start, end) in enumerate(row) if start < end}
    width = max(filled, default=-1) + 1
    columns = [list(group) for holds, group in groupby(range(width), filled.__contains__) if holds]
    parts = [[row[group[0] : group[-1] + 1] for row in rows] for group in columns]
    filled_parts = [[row for row in part if any(start < end for start, end in row)] for part in parts]
    firsts = [text[slice(*row[0])].strip() for part in filled_parts for row in part]
    are_tables = all(len(group) > 1 for group in columns) and not any(map(VALUE.fullmatch, firsts))
    return filled_parts if len(columns) > 1 and are_tables else [rows]


def _table(text: str, rows: Rows, n_headers: int) -> Table:
    width = max(map(len, rows))
    cells = [[*row, *[(row[-1][1], row[-1][1])] * (width - len(row))] for row in rows]
    names = []
    for column in range(width):
        headers = [row[column] for row in cells[:n_headers]]
        parts = [one_line(text[start:end]) for start, end in headers]
        names.append(" ".join(filter(None, dict.fromkeys(parts))))
    return Table(cells[0][0][0], cells[-1][-1][1], tuple(names), n_headers, cells)


def _without_titles(rows: Rows) -> Rows:
    """The rows from the first one with two filled cells on; those above are titles."""
    for number, row in enumerate(rows):
        if sum(end > start for start, end in row) > 1:
            return rows[number:]
    return []


def count_headers(rows: Sequence[Sequence[str]]) -> int:
    """The number of rows at the top that name the columns, by their form.

    A row of names has no value such as a number, but for years. A second one follows where the first repeats
    a name for several columns or leaves one out. Where each row begins with a key and a colon, there is none.

    >>> count_headers([["", "2021", "2022"], ["Costs", "1290", "1310"]])
    1
    >>> count_headers([["Eskery", "14.5"], ["Holm", "11"]])
    0
    >>> count_headers([["Name:", "Ada Rook"], ["Town:", "Eskery"]])
    0
    """
    n_headers = 0
    for row in rows[:MAX_HEADERS]:
        if not _names_columns(row, rows[n_headers + 1 :]):
            break
        n_headers += 1
        filled = [cell for cell in row if cell.strip()]
        if len(set(filled)) == len(row):
            break
    return n_headers


def _names_columns(row: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    filled = [cell.strip() for cell in row if cell.strip()]
    if len(filled) < 2 or not below or all(each[0].rstrip().endswith(":") for each in (row, *below)):
        return False
    values = [cell for cell in filled if VALUE.fullmatch(cell)]
    if not values:
        return True
    is_above_names = not VALUE.fullmatch(row[0].strip())
    others = [cell.strip() for later in below for cell in later[1:] if cell.strip()]
    return (
        is_above_names and len(values) > 1 and any(_are_names(values, others, form) for form in (YEAR, LABEL))
    )


def _are_names(values: Sequence[str], others: Sequence[str], form: re.Pattern[str]) -> bool:
    """True if values of a form stand above cells of which few have it."""
    n_same = sum(form.fullmatch(cell) is not None for cell in others)
    are_equal = all(form.fullmatch(value) for value in values)
    return are_equal and len(set(values)) == len(values) and n_same * 2 < len(others)


def _csv_rows(text: str, first: int = 0) -> Iterator[list[Bounds]]:
    """The cells of each row of a text that begins at `first`."""
    delimiter = find_delimiter(text)
    for start, record in records(text, delimiter):
        if record.strip() and not (start == 0 and record.lower().startswith("sep=")):
            bounds = cell_bounds(record, delimiter)
            yield [(first + start + left, first + start + right) for left, right in bounds]


def _bar_rows(text: str) -> Iterator[Rows]:
    """Lines below each other with equal numbers of cells."""
    for block in BAR_LINES.finditer(text):
        rows: Rows = []
        start = block.start()
        for line in block[0].splitlines(keepends=True):
            row = list(_bar_cells(line, start))
            if rows and len(row) != len(rows[0]):
                yield rows
                rows = []
            rows.append(row)
            start += len(line)
        yield rows


def _bar_cells(line: str, start: int) -> Iterator[Bounds]:
    for cell in f"{line.rstrip()} ".split(BAR):
        yield _trimmed(cell, start)
        start += len(cell) + len(BAR)


def _trimmed(cell: str, start: int) -> Bounds:
    inner = INNER.search(cell)
    return (start + inner.start(), start + inner.end()) if inner else (start, start)


def _of_markdown(text: str) -> Iterator[Table]:
    shown = FENCED.sub(lambda block: re.sub(r"[^\n]", " ", block[0]), text)
    for match in MARKDOWN_TABLE.finditer(shown):
        lines = [(match["names"], match.start("names"))]
        start = match.start("rows")
        for line in match["rows"].splitlines(keepends=True):
            lines.append((line, start))
            start += len(line)
        rows = [list(_markdown_cells(line, start)) for line, start in lines]
        width = len(rows[0])
        if width > 1 and len(rows) > 1:
            yield _table(text, [row[:width] for row in rows if row], 1)


def _markdown_cells(line: str, start: int) -> Iterator[Bounds]:
    """The cells of a line, without the marks of a quote before it and the bars at its ends."""
    inner = INNER.search(line.lstrip("> \t"))
    if inner is None:
        return
    start += len(line) - len(line.lstrip("> \t"))
    for cell in MARKDOWN_CELL.finditer(inner[0]):
        yield _trimmed(cell[0], start + cell.start())


def _of_records(text: str) -> list[Table]:
    """One table of records that stand between empty lines; its columns are their keys."""
    rows: list[dict[str, Bounds]] = [{}]
    for line in RECORD_LINE.finditer(text):
        if line["end"] is not None:
            rows.append({})
        elif attributes := ATTRIBUTES.fullmatch(line[0]):
            first, last = (line.start() + place for place in attributes.span(1))
            for pair in PAIR.finditer(text, first, last):
                rows[-1].setdefault(pair["key"], pair.span("value"))
        else:
            rows[-1].setdefault(line["key"], line.span("value"))
    rows = [row for row in rows if row]
    columns = list(islice(dict.fromkeys(key for row in rows for key in row), 100))
    if len(rows) < 2 or len(columns) < 2:
        return []
    ends = [max(end for _, end in row.values()) for row in rows]
    cells = [[row.get(key, (end, end)) for key in columns] for row, end in zip(rows, ends, strict=True)]
    return [Table(0, ends[-1], tuple(columns), 0, cells)]


def _of_settings(text: str) -> list[Table]:
    """One table of the keys with values; labels are the sections and objects around a key.

    The first value of an item of a list, or below an empty line, is part of the labels after it.
    """
    above: list[tuple[float, str]] = []  # keys without values and names, a half deeper, with their indents
    rows = []
    labels = []
    for line in SETTING.finditer(text):
        indent = len(line["before"])
        is_first = bool(line["item"]) or text.endswith("\n\n", 0, line.start())
        while above and above[-1][0] >= indent and (is_first or above[-1][0] != indent + 0.5):
            above.pop()
        if line["section"]:
            above = [(-1, line["section"])]
        elif not line["value"]:
            above.append((indent, line["key"]))
        else:
            labels.append(" ".join(words for _, words in above))
            rows.append([line.span("key"), line.span("value")])
            if is_first and len(line["value"].split()) <= MAX_NAME:
                above.append((indent + 0.5, line["value"]))
    if len(rows) < 2:
        return []
    columns = ("setting", "value")
    return [Table(0, len(text), columns, 0, rows, is_whole=False, labels=tuple(labels))]
