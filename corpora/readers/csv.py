"""Reads CSV and similar tables: the text is stored unchanged, rows get labels, the header is a heading.

The reader of the standard library gives no offsets, so a regular expression finds the records; it never
backtracks. A quoted field ends with a quote before a delimiter or a line end; other quotes are ordinary
characters.
"""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from spanwise.types import Bounds, Heading, Label

from ..decoding import decode
from .builder import TextBuilder, one_line, source_builder

MEDIA_TYPES = {"\t": "text/tab-separated-values"}
MEDIA_TYPE = "text/csv"
DELIMITERS = ",\t;|"  # ties go to the first
HEAD = 1 << 16  # characters in which the delimiter and the header are looked for
SAMPLE = 100  # records
HEADER_WITHIN = 10  # records
MAX_HEADER = 400  # characters
MAX_ROWS = 1_000_000
# A number, date, time, amount or percentage, which is no name of a column.
VALUE = re.compile(r"[-+(]?[$€£¥]?[-+]?[0-9][0-9.,:/ TZ%)+-]{0,40}")


def read(data: bytes) -> TextBuilder:
    """The document of a table, to `MAX_ROWS` rows. Row numbers count the header, as in a spreadsheet."""
    text, encoding = decode(data)
    remark = ""
    delimiter = find_delimiter(text)
    header = find_header(text[:HEAD], delimiter)
    labels = []
    for number, (start, record) in enumerate(records(text, delimiter), start=1):
        if number > MAX_ROWS:
            text = text[:start]
            remark = f"only the first {MAX_ROWS:,} rows"
            break
        if record.strip():
            labels.append(Label(start, f"row {number}"))
    media_type = MEDIA_TYPES.get(delimiter, MEDIA_TYPE)
    headings = [header] if header else []
    return source_builder(media_type, (text, encoding), headings=headings, labels=labels, remark=remark)


def records(text: str, delimiter: str) -> Iterator[tuple[int, str]]:
    """The offset and the source of each record, with its line end."""
    field = _field(delimiter)
    pattern = rf"{field}(?:{re.escape(delimiter)}{field})*+(?:\r\n|\r|\n|\Z)"
    for match in re.finditer(pattern, text):
        if match[0]:
            yield match.start(), match[0]


def _field(delimiter: str) -> str:
    stop = rf"{re.escape(delimiter)}\r\n"
    return rf'(?:"(?:[^"]++|"")*+"(?=[{stop}]|\Z)|[^{stop}]*+)'


def cell_bounds(record: str, delimiter: str) -> Iterator[Bounds]:
    """The start and the end of each value of a record, without quotes around it."""
    if '"' not in record:
        start = 0
        for value in record.rstrip("\r\n").split(delimiter):
            yield start, start + len(value)
            start += len(value) + 1
        return
    for field in re.finditer(rf"(?:\A|{re.escape(delimiter)})({_field(delimiter)})", record.rstrip("\r\n")):
        start, end = field.span(1)
        is_quoted = end - start > 1 and field[1][0] == field[1][-1] == '"'
        yield (start + 1, end - 1) if is_quoted else (start, end)


def cells(record: str, delimiter: str) -> list[str]:
    """The values of a record, unquoted, with single spaces."""
    bounds = cell_bounds(record, delimiter)
    return [one_line(record[start:end].replace('""', '"')) for start, end in bounds]


def find_delimiter(text: str) -> str:
    """The delimiter in a first line such as "sep=;", else the one that splits the beginning most evenly."""
    text = text[:HEAD]
    if text[:4].lower() == "sep=" and text[4:5] in set(DELIMITERS):
        return text[4]
    return max(DELIMITERS, key=lambda delimiter: _agreement(text, delimiter))


def _agreement(text: str, delimiter: str) -> tuple[int, int]:
    """The number of records with the most common number of cells above one, and that number."""
    sizes = Counter(len(cells(record, delimiter)) for _, record in islice(records(text, delimiter), SAMPLE))
    several = [(count, size) for size, count in sizes.items() if size > 1]
    return max(several, default=(0, 0))


def find_header(text: str, delimiter: str) -> Heading | None:
    """The first row of several cells as a heading, if all cells look like names of columns.

    A title or "sep=;" above the header fills the first cell only.
    """
    for start, record in islice(records(text, delimiter), HEADER_WITHIN):
        row = cells(record, delimiter)
        filled = [name for name in row if name]
        if len(row) > 1 and filled != row[:1]:
            line = ", ".join(filled)
            words = line if len(line) <= MAX_HEADER else line[:MAX_HEADER].rpartition(", ")[0]
            are_names = len(set(filled)) == len(filled) and not any(map(VALUE.fullmatch, filled))
            return Heading(start, 1, words) if words and are_names else None
    return None
