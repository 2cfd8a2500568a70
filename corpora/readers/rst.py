"""reStructuredText: the stored text is the source itself; only the section titles are looked for.

A title is a line with an underline of one punctuation character, and perhaps the same above it; the first
style met is level 1, the next new one level 2. Docutils is not used: its directives read other files.
"""

from __future__ import annotations

import re
from itertools import pairwise

from spanwise.types import Document, Heading

from ..decoding import decode
from .source import lines_of, source_document, title_of

MEDIA_TYPE = "text/x-rst"
ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*+")
SHORTEST = 4  # an underline may be shorter than its title from here on
ROLE = re.compile(r":[\w:+.-]{1,60}:(?=`)")
TARGET = re.compile(r"\s?<[^<>`]{0,300}>(?=`)")
MARKUP = re.compile(r"`{1,2}_{0,2}|\*{1,2}|\|")


def read(data: bytes, document_id: str) -> Document:
    """The document of a .rst file; title from its first section of the highest level, else the file name."""
    decoded = decode(data)
    headings = find_headings(decoded[0])
    return source_document(data, document_id, MEDIA_TYPE, decoded, title_of(headings), headings)


def find_headings(text: str) -> list[Heading]:
    """The section titles, levels by the order in which their styles come up."""
    styles: dict[tuple[str, bool], int] = {}
    headings: list[Heading] = []
    above_last = above = ""  # a title stands below an empty line, or below its overline
    was_title = False
    for (start, line), (_, below) in pairwise(lines_of(text)):
        overlined = above == below and not above_last
        is_title = _is_title(line, below) and (overlined or not (above or line[0].isspace()))
        if is_title:
            level = styles.setdefault((below[0], overlined), len(styles) + 1)
            headings.append(Heading(start, level, plain(line)))
        # An underline, a comment and a target end a block as an empty line does.
        above_last, above = above, "" if was_title or line.startswith("..") else line
        was_title = is_title
    return headings


def _is_title(line: str, below: str) -> bool:
    """True when the line below is an underline long enough for this one."""
    if not line or not ADORNMENT.fullmatch(below) or ADORNMENT.fullmatch(line):
        return False
    return len(below) >= min(len(line), SHORTEST)


def plain(title: str) -> str:
    """The words of a title without the marks of roles, links and emphasis."""
    return " ".join(MARKUP.sub("", TARGET.sub("", ROLE.sub("", title))).split()) or title
