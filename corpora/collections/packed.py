"""The lines of text files, plain or gzipped, each with its place: "FILE, line N", as errors name it."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from spanwise.errors import DataMalformed, DocumentRejected

from ..decoding import decode

GZIP = b"\x1f\x8b"
MAX_LINE = 64_000_000  # bytes: a document in a line, not a file without line ends
MAX_FILE = 2_000_000_000  # bytes, after unpacking, of what is read whole


def plain_or_gzipped(path: Path) -> Path | None:
    """The file itself or the one with `.gz` behind its name, whichever is there; None for neither.

    >>> plain_or_gzipped(Path("/nowhere/corpus.jsonl")) is None
    True
    """
    return next((each for each in (path, path.with_name(path.name + ".gz")) if each.is_file()), None)


def placed_lines(path: Path) -> Iterator[tuple[str, str]]:
    """The lines of a UTF-8 file with their places, without their ends; blank ones are passed over.

    Read one by one, so that a large file need not fit into memory. `DataMalformed` names the line.
    """
    number = 0
    try:
        with _opened(path) as file:
            while data := file.readline(MAX_LINE + 1):
                number += 1
                if len(data) > MAX_LINE:
                    raise malformed(place(path, number), f"longer than {MAX_LINE:,} bytes, the limit")
                line = data.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
                if line.strip():
                    yield place(path, number), line
    except UnicodeDecodeError as error:
        raise malformed(place(path, number), f"no UTF-8: {error.reason}") from error
    except (OSError, EOFError, zlib.error) as error:
        raise DataMalformed(f"{path}: cannot be read after line {number}: {error}") from error


def tab_pairs(path: Path) -> Iterator[tuple[str, str, str]]:
    """The lines of a table of two columns as (place, id, text); further tabs belong to the text."""
    for where, line in placed_lines(path):
        name, tab, text = line.partition("\t")
        if not tab:
            raise malformed(where, f"expected id, tab, text, found {line!r:.60}")
        yield where, name, text


def beginning(path: Path, n_bytes: int = 4096) -> str:
    """The first bytes of a file, unpacked, as text; what is no UTF-8 among them is replaced."""
    try:
        with _opened(path) as file:
            return file.read(n_bytes).decode("utf-8-sig", "replace")
    except (OSError, EOFError, zlib.error) as error:
        raise DataMalformed(f"{path}: cannot be read: {error}") from error


def whole_text(path: Path) -> str:
    """A file as one text with "\\n" at line ends, in UTF-8 or, as old files are, in another encoding."""
    try:
        return decode(whole_bytes(path))[0].replace("\r\n", "\n").replace("\r", "\n")
    except DocumentRejected as error:
        raise DataMalformed(f"{path}: {error}") from error


def whole_bytes(path: Path) -> bytes:
    """All bytes of a file, unpacked; `DataMalformed` when it cannot be read or is over the limit."""
    try:
        with _opened(path) as file:
            data = file.read(MAX_FILE + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DataMalformed(f"{path}: cannot be read: {error}") from error
    if len(data) > MAX_FILE:
        raise DataMalformed(f"{path}: more than {MAX_FILE:,} bytes, the limit")
    return data


def place(path: Path, line: int) -> str:
    """How errors name a line.

    >>> place(Path("queries.tsv"), 3)
    'queries.tsv, line 3'
    """
    return f"{path}, line {line}"


def malformed(place: str, what: str) -> DataMalformed:
    """The error that says what is wrong there."""
    return DataMalformed(f"{place}: {what}")


def _opened(path: Path) -> BinaryIO:
    with path.open("rb") as file:
        packed = file.read(2) == GZIP
    return cast(BinaryIO, gzip.open(path)) if packed else path.open("rb")
