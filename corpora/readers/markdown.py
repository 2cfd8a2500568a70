"""Markdown: the stored text is the source itself; markdown-it-py only says where the headings are.

Front matter (`---` or `+++` at the very top) stays in the text, but is kept from the parser: its last
line would turn the line before it into a heading.
"""

from __future__ import annotations

import re
from hashlib import sha256
from itertools import pairwise
from typing import TYPE_CHECKING

from spanwise.types import Document, Heading

from ..decoding import decode
from .titles import choose_title

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MEDIA_TYPE = "text/markdown"
LINE_END = re.compile(r"\r\n|\r|\n")  # what markdown-it counts as one
FENCES = {"---": ("---", "..."), "+++": ("+++",)}
UNSEEN = frozenset(("html_inline",))
TITLE = re.compile(r"title\s*[:=]\s*(\S.*)", re.I)


def read(data: bytes, document_id: str) -> Document:
    """The document of a Markdown file; title from front matter, the heading on top of all, the file name."""
    text, encoding = decode(data)
    lines = LINE_END.split(text)
    n_front = front_matter(lines)
    headings = find_headings(text, n_front)
    titles = front_title(lines[:n_front]), top_heading(text, headings, n_front)
    return Document(
        id=document_id,
        media_type=MEDIA_TYPE,
        sha256=sha256(data).hexdigest(),
        title=choose_title(*titles, document_id=document_id),
        text=text,
        headings=tuple(headings),
        metadata={"encoding": encoding},
    )


def front_matter(lines: list[str]) -> int:
    """How many lines at the top are front matter, its two fences included; 0 when there is none."""
    closing = FENCES.get(lines[0].rstrip(), ())
    if not any(line.strip() for line in lines[1:2]):
        return 0  # a rule with an empty line below it, not a fence
    for number, line in enumerate(lines[1:], start=2):
        if line.rstrip() in closing:
            return number
    return 0


def front_title(lines: list[str]) -> str:
    """The value of the `title` key of YAML or TOML front matter, without its quotes."""
    for line in lines:
        if match := TITLE.match(line):
            value = match[1].strip()
            quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
            return value[1:-1] if quoted else value
    return ""


def top_heading(text: str, headings: list[Heading], n_front: int) -> str:
    """The words of the first heading of the highest level, or the empty string.

    Where several share that level they are parts, and none is a title unless the text begins with it.
    """
    if not headings:
        return ""
    level = min(heading.level for heading in headings)
    top, *others = [heading for heading in headings if heading.level == level]
    lead = LINE_END.split(text[: top.start])[n_front:]
    return "" if others and any(line.strip() for line in lead) else top.text


def find_headings(text: str, n_front: int = 0) -> list[Heading]:
    """ATX and setext headings outside code, quotes and lists; the first `n_front` lines are ignored."""
    line_starts = [0, *(match.end() for match in LINE_END.finditer(text))]
    body = line_starts[n_front]
    parser = _block_parser()
    tokens = parser.parse(text[body:])
    headings = []
    for opening, inline in pairwise(tokens):
        words = _plain(parser, inline.content) if opening.type == "heading_open" else ""
        if words and opening.level == 0 and opening.map:
            start = line_starts[n_front + opening.map[0]]
            headings.append(Heading(start, int(opening.tag[1:]), words))
    return headings


def _block_parser() -> MarkdownIt:
    """A parser of blocks alone: inline markup is parsed for headings only."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark")
    parser.core.ruler.disable(["inline", "text_join"])
    return parser


def _plain(parser: MarkdownIt, source: str) -> str:
    """The words of an inline source without their markup."""
    children: list[Token] = []
    parser.inline.parse(source, parser, {}, children)
    words = [
        " " if child.type == "softbreak" else child.content for child in children if child.type not in UNSEEN
    ]
    return " ".join("".join(words).split())
