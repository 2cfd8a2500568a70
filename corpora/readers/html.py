"""Reads HTML: the text that a browser shows, without scripts and navigation.

Blocks end lines. Empty lines separate paragraphs, headings, lists and tables, and " | " separates cells. List
items start with "- " or their number. `<pre>` keeps its white space, and images give their alternative text.
A table that only arranges the page is read as its blocks.

Nothing is fetched. lxml parses in linear time; the parser of the standard library takes quadratic time on
unclosed tags.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..decoding import decode
from ..front_matter import front_matter, without_tags
from .builder import TextBuilder

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag
    from bs4.element import PageElement

MEDIA_TYPE = "text/html"
CHARSET = re.compile(rb"""charset\s{0,9}=\s{0,9}["']?([A-Za-z0-9_.:-]{1,40})""", re.I)
CHARSET_WITHIN = 2048  # bytes
HEADINGS = {f"h{level}": level for level in range(1, 7)}
DROPPED = frozenset(
    "head script style template nav noscript svg iframe object canvas audio video select datalist".split()
)
LISTS = frozenset(("ul", "ol", "menu"))
CELLS = frozenset(("td", "th"))
# Blocks between empty lines, and blocks that only end lines.
PARAGRAPHS = frozenset("p blockquote dl pre table figure hr section article main aside header footer".split())
LINES = frozenset("div dt dd tr caption figcaption address form fieldset details summary br".split())
BLOCKS = PARAGRAPHS | LINES | LISTS | HEADINGS.keys()
# Elements that a table of data does not contain.
ARRANGING = frozenset(("table", "pre", "section", "article", "form", *HEADINGS))
ANCHORS = frozenset("#¶§🔗")  # the text of links from headings to themselves
HIDING_STYLE = re.compile(r"(?:display\s{0,9}:\s{0,9}none|visibility\s{0,9}:\s{0,9}hidden)", re.I)
SPACES = re.compile(r"[ \t\n\r\f]+")  # the white space that HTML collapses


def read(data: bytes, is_template: bool = False) -> TextBuilder:
    """The document of an HTML page, titled by front matter, `<title>`, first heading or first line."""
    declared = CHARSET.search(data[:CHARSET_WITHIN])
    source, encoding = decode(data, declared[1].decode("ascii") if declared else None)
    start, values = front_matter(source)
    page = parse_html(without_tags(source[start:]) if start or is_template else source)
    builder = write_page(page)
    builder.described(
        MEDIA_TYPE,
        values.pop("title", ""),
        page.title.get_text() if page.title else "",
        builder.first_heading,
        builder.first_line,
        encoding=encoding,
    )
    builder.metadata = {**values, **builder.metadata}
    return builder


def parse_html(source: str) -> BeautifulSoup:
    """The parsed page."""
    from bs4 import BeautifulSoup

    # Without a doctype bs4 warns of short texts, which may be paths, and of XHTML, which may be XML.
    return BeautifulSoup("<!DOCTYPE html>" + source, "lxml")


def write_page(page: Tag) -> TextBuilder:
    """The text and headings of all elements that are shown, at any depth of nesting."""
    from bs4 import Tag
    from bs4.element import PreformattedString

    writer = PageWriter(_arranging_tables(page))
    # A stack of elements to enter; a tuple has an element to leave.
    todo: list[PageElement | tuple[Tag]] = [page]
    while todo:
        item = todo.pop()
        if isinstance(item, tuple):
            writer.leave(item[0])
        elif not isinstance(item, Tag):
            # Comments, doctypes and processing instructions are preformatted strings.
            if not isinstance(item, PreformattedString):
                writer.write(str(item))
        elif not _is_hidden(item):
            writer.enter(item)
            todo.append((item,))
            todo.extend(reversed(item.contents))
    return writer.builder


def _is_hidden(element: Tag) -> bool:
    return (
        element.name in DROPPED
        or element.get("role") == "navigation"
        or element.has_attr("hidden")
        or element.get("aria-hidden") == "true"
        or HIDING_STYLE.search(str(element.get("style", ""))) is not None
        or _is_anchor(element)
    )


def _is_anchor(element: Tag) -> bool:
    """True for a link in the page whose text is only a sign, as after headings."""
    if element.name != "a" or not str(element.get("href", "")).startswith("#"):
        return False
    return len(element.contents) == 1 and str(element.contents[0]).strip() in ANCHORS


def _arranging_tables(page: Tag) -> frozenset[int]:
    """The `id()` of each table that arranges blocks of text."""
    from bs4 import Tag

    tables: set[int] = set()
    todo: list[tuple[PageElement, Tag | None]] = [(page, None)]  # with the nearest table around it
    while todo:
        element, table = todo.pop()
        if not isinstance(element, Tag):
            continue
        if table is not None and element.name in ARRANGING:
            tables.add(id(table))
        if element.name == "table":
            table = element
            if element.get("role") in ("presentation", "none"):
                tables.add(id(element))
        todo.extend((child, table) for child in element.contents)
    return frozenset(tables)


class PageWriter:
    """Enters and leaves elements in document order, and writes their words into `builder`."""

    def __init__(self, arranging: frozenset[int]) -> None:
        self.builder = TextBuilder()
        self._arranging = arranging
        self._space = False  # write a space before the next words
        self._mark = ""  # list mark or cell bars before the next words
        self._first_cell = True
        self._pre: list[str] | None = None  # the text of the open <pre>
        self._outer_pre: Tag | None = None  # that element; <pre> inside it is ignored
        self._tables: list[bool] = []  # for each open table: True for data
        self._next_items: list[int | None] = []  # for each open list: its next number, None for bullets
        self._heading_start: int | None = None

    def enter(self, element: Tag) -> None:
        """Prepare for the words of an element."""
        name = element.name
        if name == "img":
            self.write(str(element.get("alt", "")))
        elif self._pre is not None:
            if name == "br":
                self._pre.append("\n")
        elif name in CELLS and self._in_data:
            if not self._first_cell:
                self._mark += "| " if self._mark or self.builder.at_line_start else " | "
            self._first_cell = False
        elif name == "li":
            self._enter_item(element)
        else:
            self._break(name)
            self._open(element)

    def leave(self, element: Tag) -> None:
        """Finish after the words of an element."""
        name = element.name
        if element is self._outer_pre and self._pre is not None:
            text = "".join(self._pre).strip("\r\n")
            self._pre = None
            self._outer_pre = None
            self._write_words(text)
            self._break(name)
        elif self._pre is None:
            self._close(name)
            self._break("div" if name in ("li", *CELLS) else name)

    def write(self, string: str) -> None:
        """Write a string of the page; white space is collapsed outside of `<pre>`."""
        if self._pre is not None:
            self._pre.append(string)
            return
        words = SPACES.sub(" ", string)
        if words.startswith(" "):
            self._space = True
        if words.strip(" "):
            self._write_words(words.strip(" "))
            self._space = words.endswith(" ")

    @property
    def _in_data(self) -> bool:
        return bool(self._tables) and self._tables[-1]

    def _write_words(self, words: str) -> None:
        if not words:
            return
        space = " " if self._space and not self._mark and not self.builder.at_line_start else ""
        start = self.builder.write(space + self._mark + words)
        self._space = False
        self._mark = ""
        if self._heading_start is None:
            self._heading_start = start

    def _break(self, name: str) -> None:
        """End the line at a block; inside a cell, a space replaces the line end."""
        if name not in BLOCKS:
            return
        if self._in_data and name not in ("table", "tr", "caption"):
            self._space = True
            return
        nested_list = name in LISTS and len(self._next_items) > 0
        self.builder.end_line(blank=name not in LINES and not nested_list)
        self._space = False

    def _open(self, element: Tag) -> None:
        name = element.name
        if name == "pre":
            self._pre = []
            self._outer_pre = element
        elif name == "table":
            self._tables.append(id(element) not in self._arranging)
        elif name == "tr":
            self._first_cell = True
        elif name in LISTS:
            self._next_items.append(_number(element.get("start"), 1) if name == "ol" else None)
        elif name in HEADINGS:
            self._heading_start = None

    def _close(self, name: str) -> None:
        if name in ("li", "tr", "table"):
            self._mark = ""  # an item or cells without words
        if name == "table":
            self._tables.pop()
        elif name in LISTS:
            self._next_items.pop()
        elif name in HEADINGS and self._heading_start is not None:
            self.builder.add_heading(self._heading_start, HEADINGS[name])
            self._heading_start = None

    def _enter_item(self, element: Tag) -> None:
        if self._in_data:
            self._space = True
            return
        self.builder.end_line()
        number = _number(element.get("value"), self._next_items[-1]) if self._next_items else None
        if number is not None:
            self._next_items[-1] = number + 1
        indent = "  " * min(max(len(self._next_items) - 1, 0), 9)
        self._mark = indent + ("- " if number is None else f"{number}. ")


def _number(value: object, default: int | None) -> int | None:
    """The number in an attribute, else the default."""
    text = str(value or "")
    return int(text) if re.fullmatch(r"-?[0-9]{1,6}", text) else default
