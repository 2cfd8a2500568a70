"""Text files with one value for each pair of a query and a document, a line each: runs and judgements.

They are read plain or gzipped, whatever their names, and written gzipped where the name ends in `.gz`.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from spanwise.errors import DataMalformed

T = TypeVar("T")
Row = tuple[str, str, T]  # the ids of the query and the document, and the value

MAX_INTEGER = 2**31 - 1

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_GZIP_MAGIC, _BOM = b"\x1f\x8b", b"\xef\xbb\xbf"


def read_table(
    path: Path, choose: Callable[[bytes], Callable[[bytes], Row[T] | None]]
) -> dict[str, dict[str, T]]:
    """The values by query and document, both in the order of the file; lines of white space are passed over.

    `choose` is given the first line and returns the parser of all of them, which returns None for a header.
    DataMalformed names the file and the line: one that either refuses with ValueError, or a pair that was
    there before; also a file that cannot be read or holds nothing.
    """
    table: dict[str, dict[str, T]] = {}
    names: dict[str, str] = {}  # one string for a document, however many queries have it
    parse: Callable[[bytes], Row[T] | None] | None = None
    for number, line in _numbered_lines(path):
        try:
            parse = parse or choose(line)
            row = parse(line)
            if row is None:
                continue
            query, document, value = row
            values = table.setdefault(query, {})
            if document in values:
                raise ValueError(f"document {document!r} is there twice for query {query!r}")
            values[names.setdefault(document, document)] = value
        except ValueError as error:
            raise DataMalformed(f"{path}, line {number}: {error}") from error
    if not table:
        raise DataMalformed(f"{path}: holds no lines; expected a document of a query in each")
    return table


def write_table(path: Path, lines: Iterable[str]) -> None:
    """Write the lines, which have their ends, as UTF-8; the file is replaced only when all is written."""
    part = path.with_name(f"{path.name}.part")
    try:
        with part.open("wb") as file:
            if path.suffix == ".gz":  # without name and time, so that equal lines give equal bytes
                with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
                    packed.writelines(line.encode() for line in lines)
            else:
                file.writelines(line.encode() for line in lines)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def integer(name: str, field: bytes) -> int:
    """The integer in a field, of 32 bits at most; ValueError names it and shows what is there instead."""
    text = field.decode()
    if not _INTEGER.fullmatch(text) or abs(int(text)) > MAX_INTEGER:
        raise ValueError(f"the {name} is {text!r}; expected an integer")
    return int(text)


def _numbered_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Each line that is not blank, without its end, and its number from 1."""
    try:
        with path.open("rb") as file:
            packed = file.read(len(_GZIP_MAGIC)) == _GZIP_MAGIC
        with gzip.open(path) if packed else path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                line = line.removeprefix(_BOM) if number == 1 else line
                if line.strip():
                    yield number, line.rstrip(b"\r\n")
    except OSError as error:
        raise DataMalformed(f"{path}: cannot be read: {error.strerror or error}") from error
    except (EOFError, zlib.error) as error:
        raise DataMalformed(f"{path}: damaged gzip file: {error}") from error
