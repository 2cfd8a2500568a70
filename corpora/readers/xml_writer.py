"""The lines of an XML tree, laid out by the shape of its elements where their names say nothing.

An element with words among its children is a paragraph; one with words alone is a line "name: value", and
attributes stand in brackets behind the name; one with children alone is a record, whose path is a label.
The names that DocBook, TEI, JATS and feeds share for titles, paragraphs, items, rows and code are known.
Left out: attributes with a namespace and those of prose, scripts, styles, drawings. HTML in a value (feeds)
is shown as its text.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from html.entities import html5
from typing import TYPE_CHECKING

from .page_writer import write_page
from .text_builder import TextBuilder

if TYPE_CHECKING:
    from lxml.etree import _Element

TITLES = frozenset(("title", "head", "heading", "article-title", *(f"h{level}" for level in range(1, 7))))
PARAGRAPHS = frozenset(
    {"p", "para", "simpara", "subtitle", "ab", "lg", "quote", "epigraph", "stanza", "def", "caption"}
    | {"blockquote", "note"}
)
LINES = frozenset(("l", "v", "dt", "dd", "term"))  # paragraphs without an empty line between them
ITEMS = frozenset(("li", "listitem", "item", "member", "list-item"))
ROWS = frozenset(("tr", "row"))
CELLS = frozenset(("td", "th", "entry", "cell"))
VERBATIM = frozenset(("programlisting", "screen", "literallayout", "pre", "preformat", "eg", "verbatim"))
# Containers of prose, unless what they hold is data.
STRUCTURE = frozenset(
    {"book", "article", "part", "chapter", "section", "sec", "appendix", "preface", "div", "body", "text"}
    | {"front", "back", "group", "itemizedlist", "orderedlist", "variablelist", "simplelist", "varlistentry"}
    | {"list", "ul", "ol", "dl", "table", "tgroup", "thead", "tbody", "informaltable", "figure", "example"}
    | {"warning", "tip", "caution", "important", "formalpara", "sidebar", "html", "main", "poem"}
    | {f"sect{level}" for level in range(1, 6)}
    | {f"div{level}" for level in range(1, 8)}
)
FRONT = "info"  # how the names of DocBook's front matter end: bookinfo, sectioninfo
DROPPED = frozenset(("script", "style", "svg", "colspec", "indexterm", "binary"))
BLOCKS = TITLES | PARAGRAPHS | LINES | ITEMS | ROWS | CELLS | VERBATIM | STRUCTURE
MARKUP = re.compile(r"<(?:p|br|div|a|ul|ol|li|img|h[1-6]|table|strong|em|b|i|blockquote|pre)[\s/>]", re.I)
BLANK_LINE = re.compile(r"\n\s*\n")
SPACES = re.compile(r"[ \t\r\n\f]+")
MAX_PATH = 200  # characters of a path in a label; its end is kept


@dataclass(frozen=True, slots=True)
class Place:
    """Where an element stands: its path, that of the record it is in, and the titles above it."""

    path: str
    record: str = ""
    level: int = 0


def write_tree(root: _Element) -> TextBuilder:
    """The text, headings and labels of a tree, which the parser keeps within 256 levels."""
    writer = XmlWriter()
    writer.write(root, Place(local_name(root)))
    return writer.builder


class XmlWriter:
    """Writes elements in document order into `builder`."""

    def __init__(self) -> None:
        self.builder = TextBuilder()
        self._record = ""
        self._mark = ""  # of an item, owed before its first words

    def write(self, element: _Element, place: Place) -> None:
        """Write an element that stands on lines of its own, with everything in it."""
        name = local_name(element)
        if name in DROPPED:
            return
        if name in TITLES:
            self._write_title(element, place)
        elif name in VERBATIM:
            self._write_lines("".join(element.itertext()).strip("\r\n"), place, apart=True)
        elif name in ROWS and len(element) and all(local_name(cell) in CELLS for cell in element):
            self._write_lines(" | ".join(map(words_in, element)), place)
        elif has_words(element):
            self._write_words(element, name, place)
        elif len(element):
            self._write_children(element, name, place)
        elif element.attrib and name not in BLOCKS:
            self._write_lines(named(element, name), place)

    def _write_title(self, element: _Element, place: Place) -> None:
        self._mark = ""
        self.builder.end_line(blank=True)
        start = self._write_lines(words_in(element), place, apart=True)
        self.builder.add_heading(start, max(1, place.level))

    def _write_words(self, element: _Element, name: str, place: Place) -> None:
        """An element with words of its own: inline text up to each block in it, then the block."""
        self._mark = "- " if name in ITEMS else self._mark if name in BLOCKS else f"{named(element, name)}: "
        apart = name in BLOCKS and name not in ITEMS | LINES
        pieces = [element.text or ""]
        for child in element:
            if local_name(child) in BLOCKS:
                self._write_lines(laid_out("".join(pieces)), place, apart)
                self.write(child, place)
                pieces = [child.tail or ""]
            else:
                collect(child, pieces)
                pieces.append(child.tail or "")
        self._write_lines(laid_out("".join(pieces)), place, apart)
        self._mark = ""

    def _write_children(self, element: _Element, name: str, place: Place) -> None:
        """An element of elements: a part of the text, or a record below a line with its name."""
        titled, prose = is_titled(element), is_prose(element, name)
        self.builder.end_line(blank=True)
        if prose:
            self._mark = "- " if name in ITEMS else self._mark
        elif not titled:
            self._write_lines(f"{named(element, name)}:", replace(place, record=place.path))
        record = place.record if prose else place.path
        level = place.level + (titled and not name.endswith(FRONT))
        repeated = {tag for tag, count in Counter(child.tag for child in element).items() if count > 1}
        seen: Counter[object] = Counter()
        for child in element:
            seen[child.tag] += 1
            index = f"[{seen[child.tag]}]" if child.tag in repeated else ""
            path = f"{place.path}/{local_name(child)}{index}"[-MAX_PATH:]
            self.write(child, Place(path, record, level))
        self._mark = ""
        self.builder.end_line(blank=True)

    def _write_lines(self, text: str, place: Place, apart: bool = False) -> int:
        """Write text on lines of its own, labelled when it is in another record than what is above it."""
        if not text:
            return self.builder.length
        self.builder.end_line(blank=apart)
        start = self.builder.write(self._mark + text)
        self._mark = ""
        if place.record != self._record:
            self.builder.add_label(start, place.record)
            self._record = place.record
        self.builder.end_line(blank=apart)
        return start


def local_name(element: _Element) -> str:
    """The name of an element without its namespace; empty for an entity."""
    return str(element.tag).rpartition("}")[2] if isinstance(element.tag, str) else ""


def named(element: _Element, name: str) -> str:
    """The name of an element with its attributes, those with a namespace left out."""
    attributes = [f"{key}: {' '.join(value.split())}" for key, value in element.items() if key[0] != "{"]
    return f"{name} ({', '.join(attributes)})" if attributes else name


def has_words(element: _Element) -> bool:
    """True when words stand directly in the element, beside its children if it has any."""
    texts = [element.text, *(child.tail for child in element)]
    return any(text and not text.isspace() for text in texts) or any(
        not local_name(child) for child in element
    )


def is_titled(element: _Element) -> bool:
    """True when the element or the front matter in it has a title."""
    fronts = [child for child in element if local_name(child).endswith(FRONT)]
    return any(local_name(child) in TITLES for parent in (element, *fronts) for child in parent)


def is_prose(element: _Element, name: str) -> bool:
    """True for a part of a text rather than a record: most of what it holds beside titles are such parts."""
    if name.endswith(FRONT):
        return True
    names = [inner for child in element if (inner := local_name(child)) not in TITLES]
    n_parts = sum(inner in BLOCKS or inner.endswith(FRONT) for inner in names)
    return name in BLOCKS and 2 * n_parts > len(names)


def words_in(element: _Element) -> str:
    """All words of an element on one line."""
    pieces: list[str] = []
    collect(element, pieces)
    return SPACES.sub(" ", "".join(pieces)).strip(" ")


def collect(element: _Element, pieces: list[str]) -> None:
    """Add the strings of an element, with space around the blocks in it, and the names of its entities."""
    name = local_name(element)
    if not name:
        pieces.append(html5.get(f"{element.name};", element.text or ""))
    elif name not in DROPPED:
        space = " " if name in BLOCKS else ""
        pieces += [space, element.text or ""]
        for child in element:
            collect(child, pieces)
            pieces.append(child.tail or "")
        pieces.append(space)


def laid_out(text: str) -> str:
    """The paragraphs of a string, each on one line; of HTML the text that a browser would show."""
    if MARKUP.search(text):
        from bs4 import BeautifulSoup

        return write_page(BeautifulSoup("<!DOCTYPE html>" + text, "lxml")).text
    paragraphs = [SPACES.sub(" ", paragraph).strip(" ") for paragraph in BLANK_LINE.split(text)]
    return "\n\n".join(filter(None, paragraphs))
