"""Markdown: the stored text is the source; markdown-it-py finds the headings.

The parser skips front matter (`---` or `+++` at the top), whose last line would make a heading of the line
before it.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from spanwise.types import Document, Heading

from ..decoding import decode
from .builder import source_document

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MEDIA_TYPE = "text/markdown"
LINE_END = re.compile(r"\r\n|\r|\n")  # as markdown-it counts lines
FENCES = {"---": ("---", "..."), "+++": ("+++",)}
TITLE = re.compile(r"title\s*[:=]\s*(\S.*)", re.I)


def read(data: bytes, document_id: str) -> Document:
    """The document of a Markdown file, titled by its front matter or its top heading."""
    decoded = decode(data)
    lines = LINE_END.split(decoded[0])
    n_front = _front_matter(lines)
    headings = find_headings(decoded[0], n_front)
    titles = _front_title(lines[:n_front]), top_heading(decoded[0], headings, n_front)
    return source_document(data, document_id, MEDIA_TYPE, decoded, *titles, headings=headings)


def _front_matter(lines: list[str]) -> int:
    """The number of lines of front matter with its two fences; 0 when there is none."""
    closing = FENCES.get(lines[0].rstrip(), ())
    if not any(line.strip() for line in lines[1:2]):
        return 0  # a thematic break with an empty line below it
    for number, line in enumerate(lines[1:], start=2):
        if line.rstrip() in closing:
            return number
    return 0


def _front_title(lines: list[str]) -> str:
    """The value of the `title` key of YAML or TOML front matter, without its quotes."""
    for line in lines:
        if match := TITLE.match(line):
            value = match[1].strip()
            quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
            return value[1:-1] if quoted else value
    return ""


def top_heading(text: str, headings: list[Heading], n_front: int) -> str:
    """The first heading of the highest level, or the empty string.

    Of several on that level none is a title, unless the text begins with it.
    """
    if not headings:
        return ""
    level = min(heading.level for heading in headings)
    top, *others = [heading for heading in headings if heading.level == level]
    lead = LINE_END.split(text[: top.start])[n_front:]
    return "" if others and any(line.strip() for line in lead) else top.text


def find_headings(text: str, n_front: int = 0) -> list[Heading]:
    """ATX and setext headings outside code, quotes and lists, from line `n_front` on."""
    from markdown_it import MarkdownIt

    line_starts = [0, *(match.end() for match in LINE_END.finditer(text))]
    parser = MarkdownIt("commonmark")
    parser.core.ruler.disable(["inline", "text_join"])  # inline markup is parsed for headings only
    headings = []
    for opening, inline in pairwise(parser.parse(text[line_starts[n_front] :])):
        words = _plain(parser, inline.content) if opening.type == "heading_open" else ""
        if words and opening.level == 0 and opening.map:
            start = line_starts[n_front + opening.map[0]]
            headings.append(Heading(start, int(opening.tag[1:]), words))
    return headings


def _plain(parser: MarkdownIt, source: str) -> str:
    """The words of an inline source without their markup."""
    children: list[Token] = []
    parser.inline.parse(source, parser, {}, children)
    shown = [child for child in children if child.type != "html_inline"]
    return " ".join("".join(" " if child.type == "softbreak" else child.content for child in shown).split())
