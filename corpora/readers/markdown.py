"""Reads Markdown: the text is stored unchanged; markdown-it-py finds the headings below the front matter."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from spanwise.types import Document, Heading

from ..decoding import decode
from ..front_matter import front_matter, without_tags
from .builder import one_line, source_document

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MEDIA_TYPE = "text/markdown"
LINE_END = re.compile(r"\r\n|\r|\n")  # as markdown-it counts lines


def read(data: bytes, document_id: str) -> Document:
    """The document of a Markdown file, titled by its front matter or its top heading."""
    decoded = decode(data)
    start, _ = front_matter(decoded[0])
    headings = find_headings(decoded[0], start)
    title = top_heading(decoded[0], headings, start)
    return source_document(data, document_id, MEDIA_TYPE, decoded, title, headings=headings)


def top_heading(text: str, headings: list[Heading], start: int) -> str:
    """The only heading of the highest level, or the first if the text begins with it at `start`, or ""."""
    if not headings:
        return ""
    level = min(heading.level for heading in headings)
    top, *others = [heading for heading in headings if heading.level == level]
    return "" if others and text[start : top.start].strip() else top.text


def find_headings(text: str, start: int = 0) -> list[Heading]:
    """The ATX and setext headings outside code, quotes and lists; `start` is the start of a line."""
    from markdown_it import MarkdownIt

    line_starts = [start, *(match.end() for match in LINE_END.finditer(text, start))]
    parser = MarkdownIt("commonmark")
    parser.core.ruler.disable(["inline", "text_join"])  # only headings need their inline markup parsed
    headings = []
    for opening, inline in pairwise(parser.parse(text[start:])):
        words = _plain(parser, without_tags(inline.content)) if opening.type == "heading_open" else ""
        if words and opening.level == 0 and opening.map:
            headings.append(Heading(line_starts[opening.map[0]], int(opening.tag[1:]), words))
    return headings


def _plain(parser: MarkdownIt, source: str) -> str:
    """The words of an inline source, without markup."""
    children: list[Token] = []
    parser.inline.parse(source, parser, {}, children)
    shown = (child for child in children if child.type != "html_inline")
    return one_line("".join(" " if child.type == "softbreak" else child.content for child in shown))
