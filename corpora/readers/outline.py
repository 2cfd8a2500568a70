"""The headings of a PDF: the entries of its outline whose words are found on the page they point to.

An outline names pages, not places in the text. A heading is taken for found where a line begins with its
words, after a section number if there is one; a line that holds nothing else is preferred.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from spanwise.types import Heading

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

MAX_ENTRIES = 5_000
MAX_WORDS = 40
NUMBER = r"(?:(?-i:[0-9][0-9A-Z.]{0,11}|[A-Z]\.?|[IVXLC]{1,6}\.?)[ \t]{1,4})?"


def find_headings(pdf: PdfDocument, text: str, page_starts: list[int]) -> list[Heading]:
    """Headings in the order of the text, each at a place of its own; entries not found are left out."""
    bounds = [*page_starts, len(text)]
    headings: dict[int, Heading] = {}
    for entry in islice(pdf.get_toc(), MAX_ENTRIES):
        words = entry.get_title().split()[:MAX_WORDS]
        destination = entry.get_dest()
        page = destination.get_index() if destination else None
        if words and page is not None and 0 <= page < len(page_starts):
            start = _find(words, text[bounds[page] : bounds[page + 1]])
            if start is not None:
                offset = bounds[page] + start
                headings.setdefault(offset, Heading(offset, entry.level + 1, " ".join(words)))
    return [headings[offset] for offset in sorted(headings)]


def _find(words: list[str], page: str) -> int | None:
    """Where on a page a line begins with the words, white space and case aside; None when none does."""
    for pattern in _line_starts(words):
        if match := pattern.search(page):
            return match.start() + len(match[0]) - len(match[0].lstrip())
    return None


def _line_starts(words: list[str]) -> Iterator[re.Pattern[str]]:
    """The beginning of a line with the words, the strictest first: alone, as whole words, in any way."""
    start = r"^[ \t]{0,40}" + NUMBER + r"\s{1,4}".join(map(re.escape, words))
    return (re.compile(start + end, re.M | re.I) for end in (r"[ \t]*$", r"\b", ""))
