"""AsciiDoc: the stored text is the source itself; only the section titles are looked for.

Both kinds are known: `== One line`, and two lines of which the second underlines the first. What stands
in delimited blocks is no title. `include::` is text like any other: no file is opened.
"""

from __future__ import annotations

import re

from spanwise.types import Document, Heading

from ..decoding import decode
from .source import lines_of, source_document, title_of

MEDIA_TYPE = "text/asciidoc"
ONE_LINE = re.compile(r"(={1,6}|#{1,6})[ \t]{1,9}(?=\S)(.*)")
UNDERLINE = re.compile(r"=++|-++|~++|\^++|\++")
LEVELS = "=-~^+"
SLACK = 2  # an underline may be so much longer or shorter than its title
FENCE = re.compile(r"-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|`{3,}|--|[|,:!]={3,}")
# What may stand right above a title: a comment, attributes of the document or of the block, an anchor.
PREFACE = re.compile(r"//|:[^:\s][^:]{0,99}:|\[.*\]\Z")
ANCHOR = re.compile(r"\[\[[^\]]{0,200}\]\]|\[#[^\]]{0,200}\]")
REFERENCE = re.compile(r"<<[^<>,]{0,200}(?:,([^<>]{0,200}))?>>")
LINK = re.compile(r"(?:link:|https?://)[^\s\[\]]{1,500}\[([^\]]{0,500})\]")
MARKUP = re.compile(r"[`*_#+]{1,2}(?=\w)|(?<=\w)[`*_#+]{1,2}|`")


def read(data: bytes, document_id: str) -> Document:
    """The document of an AsciiDoc file; title from its first heading of the highest level, else its name."""
    decoded = decode(data)
    headings = find_headings(decoded[0])
    return source_document(data, document_id, MEDIA_TYPE, decoded, title_of(headings), headings)


def find_headings(text: str) -> list[Heading]:
    """The titles of the document and its sections, level 1 for `=`."""
    headings: list[Heading] = []
    fence = ""  # the delimiter that closes the open block
    candidate: tuple[int, str] | None = None  # a line at the start of a block
    at_block_start = True
    for start, line in lines_of(text):
        if fence:
            fence = "" if line == fence else fence
        elif candidate and _underlines(line, candidate[1]):
            headings.append(Heading(candidate[0], LEVELS.index(line[0]) + 1, plain(candidate[1])))
            candidate, at_block_start = None, True
        elif FENCE.fullmatch(line):
            fence, candidate, at_block_start = line, None, True
        elif at_block_start and (title := ONE_LINE.fullmatch(line)):
            headings.append(Heading(start, len(title[1]), plain(title[2])))
            candidate = None
        else:
            at_start = not line or PREFACE.match(line) is not None
            candidate = (start, line) if at_block_start and not at_start else None
            at_block_start = at_start
    return headings


def _underlines(line: str, title: str) -> bool:
    """True for an underline of the title's length; block titles and lists have none."""
    return (
        len(line) > 1
        and UNDERLINE.fullmatch(line) is not None
        and abs(len(line) - len(title)) <= SLACK
        and not title.startswith((".", "|", " ", "\t"))
        and any(character.isalnum() for character in title)
    )


def plain(title: str) -> str:
    """The words of a title without anchors, marks of emphasis and the addresses of links."""
    words = LINK.sub(r"\1", REFERENCE.sub(r"\1", ANCHOR.sub("", title)))
    words = " ".join(MARKUP.sub("", words.rstrip("=# ")).split())
    return words or title
