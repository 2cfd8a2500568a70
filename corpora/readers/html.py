"""Reads HTML: the text that a browser shows, without scripts, navigation, banners and struck text.

Blocks end lines. Empty lines separate paragraphs, headings, lists and tables, and " | " separates cells. List
items start with "- " or their number. `<pre>` keeps its white space, and images give their alternative text.
A table that only arranges the page is read as its blocks.

Nothing is fetched. lxml parses in linear time; the parser of the standard library takes quadratic time on
unclosed tags.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..decoding import declared_encoding, decode
from ..front_matter import front_matter, without_tags
from .builder import Cell, TextBuilder, formula, in_form, lowered, raised, settle, whole

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag
    from bs4.element import PageElement

Change = Callable[[str], str]
Style = dict[str, str]

MEDIA_TYPE = "text/html"
HEADINGS = {f"h{level}": level for level in range(1, 7)}
DROPPED = frozenset(
    "head script style template nav svg iframe object canvas audio video datalist del s strike "
    "annotation rt rp rtc".split()
)
LISTS = frozenset(("ul", "ol", "menu"))
CELLS = frozenset(("td", "th"))
# Blocks between empty lines, and blocks that only end lines.
PARAGRAPHS = frozenset("p blockquote dl pre table figure hr section article main aside header footer".split())
LINES = frozenset("div dt dd tr caption figcaption address form fieldset details summary br".split())
BLOCKS = PARAGRAPHS | LINES | LISTS | HEADINGS.keys()
# Elements that a table of data does not contain.
ARRANGING = ("table", "pre", "section", "article", "form", *HEADINGS)
ANCHORS = frozenset("# ¶ § 🔗 ↩ ↩\ufe0e ↑ ^".split())  # the text of links to headings, and back from notes
SPACES = re.compile(r"[ \t\n\r\f]+")  # the white space that HTML collapses
MAIN = ("h1", "main", "article", "body")
CONTENT = HEADINGS.keys() | MAIN
CHROME_ROLES = frozenset("navigation banner dialog alertdialog menubar search doc-backlink".split())
CHROME = re.compile(  # an id or a class
    r"(?:[a-z]{1,12}[-_]{1,2})?(?:cookies?|consent|gdpr)(?:[-_]{0,2}(?:consent|banner|bar|notice|popup|modal|law|"
    r"message|overlay|wrapper|container|dialog|box|alert|prompt|info)){1,3}|consent|gdpr|onetrust-[a-z-]{1,40}|"
    r"(?:top|side|main|site)[-_]?nav|nav[-_]?(?:bar|menu|links)|(?:main|site|mobile|nav)[-_]menu|"
    r"breadcrumbs?(?:[-_](?:nav|list|trail|container))?|skip[-_]?(?:links?|nav|to[-_].{1,30})",
    re.I,
)
LINKED = frozenset("section a span p li dt dd td th".split())  # elements whose id is for links to them
OPENED = re.compile(  # a class of what a click shows
    r"(?:^|[-_])(?:tabs?|panel|accordion|collaps|answer|toggle|expand)|content$", re.I
)
# A class or an id of an input that opens a part of the page.
SWITCH = re.compile(r"toggle|menu|drawer|nav|md-option|toctree", re.I)
NOTE_LINK = re.compile(r"#[\w.:-]{0,40}?(?:fn|note|cite)", re.I)
MAX_NOTE = 9  # characters of a reference to a note
NO_VALUE = frozenset("hidden password submit button reset image file color range".split())
COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.S)  # in a style sheet
SHOWING = frozenset("display visibility text-decoration vertical-align list-style".split())  # properties
MAX_VALUE = 40  # characters of a property
MAX_REVEALED = 5  # hidden elements that are read because they hold the text
MUCH = 3  # times the text that is shown
# By the name or the style of an element, also of XML.
SCRIPTS = {"sup": raised, "super": raised, "superscript": raised, "sub": lowered, "subscript": lowered}
MAX_CAPTURES = 3  # cells, verbatim text and raised text inside one another


def read(data: bytes, is_template: bool = False) -> TextBuilder:
    """The document of an HTML page, titled by front matter, `<title>`, first heading or first line."""
    source, encoding = decode(data, declared_encoding(data))
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
        remark=builder.metadata.get("remark", ""),
    )
    builder.metadata = {**values, **builder.metadata}
    return builder


def parse_html(source: str) -> BeautifulSoup:
    """The parsed page."""
    from bs4 import BeautifulSoup

    # Without a doctype bs4 warns of short texts, which may be paths, and of XHTML, which may be XML.
    return BeautifulSoup("<!DOCTYPE html>" + source, "lxml")


def write_page(page: Tag) -> TextBuilder:
    """The text and headings of the elements that are shown, or of hidden ones that hold nearly all text."""
    view = PageView(page)
    builder = _write_shown(page, view)
    for _ in range(MAX_REVEALED):
        shown = builder.length
        hidden = {
            len(element.get_text()): element for element in view.hidden if view.may_appear(element, shown)
        }
        if max(hidden, default=0) < max((MUCH - 1) * shown, 1):
            break
        view.revealed.add(id(hidden[max(hidden)]))
        fuller = _write_shown(page, view)
        if fuller.length < MUCH * shown:
            break
        builder = fuller
        builder.metadata["remark"] = "text that is hidden until a script shows it"
    return builder


def _write_shown(page: Tag, view: PageView) -> TextBuilder:
    """The text of a page at any depth of nesting."""
    from bs4 import Tag
    from bs4.element import PreformattedString

    view.hidden.clear()
    writer = PageWriter(view)
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
        elif not view.leaves_out(item):
            writer.enter(item)
            todo.append((item,))
            todo.extend(reversed(item.contents))
    return writer.builder


class PageView:
    """Tells which elements of a page are shown.

    revealed: the `id()` of hidden elements to show.
    hidden: the outermost hidden elements that were left out.
    """

    def __init__(self, page: Tag) -> None:
        self.revealed: set[int] = set()
        self.hidden: list[Tag] = []
        self._rules = _style_rules(page)
        self._has_script = page.find("script") is not None
        self._around_main = _around(page, MAIN)
        self._arranging = _around(page, ARRANGING, "table")

    def style(self, element: Tag) -> Style:
        """The properties that simple rules of the page and the element itself set."""
        style: Style = {}
        if self._rules:
            classes = element.get_attribute_list("class")
            words = [f".{word}" for word in classes if not OPENED.search(word or "")]
            for word in ("", *words, f"#{element.get('id')}"):
                for selector in (word, element.name + word):
                    style |= self._rules.get(selector, {})
        own = element.get("style")
        return style | _declarations(str(own)) if own else style

    def arranges(self, table: Tag) -> bool:
        """True for a table that only arranges the page."""
        return id(table) in self._arranging or table.get("role") in ("presentation", "none")

    def leaves_out(self, element: Tag) -> bool:
        """True for an element that is hidden, struck, navigation or a request for consent."""
        style = self.style(element)
        if (
            element.name in DROPPED
            or _is_anchor(element)
            or "pagebreak" in _kind(element)
            or (element.name == "option" and not element.has_attr("selected"))
            or (element.name == "input" and SWITCH.search(f"{element.get('class')} {element.get('id')}"))
            or "line-through" in style.get("text-decoration", "")
        ):
            return True
        if id(element) in self.revealed:
            return False
        is_hidden = self._is_hidden(element, style) or self._is_chrome(element)
        if is_hidden:
            self.hidden.append(element)
        return is_hidden

    def may_appear(self, element: Tag, shown: int) -> bool:
        """True for a hidden element that may hold the text of a page with `shown` other characters."""
        if element.name == "noscript":
            return "JavaScript" not in element.get_text()[:300]
        may_be_shown = self._has_script and not self._is_chrome(element)
        return not shown or may_be_shown or element.name in MAIN

    def _is_hidden(self, element: Tag, style: Style) -> bool:
        is_hidden = (
            element.name == "noscript"
            or (element.name == "dialog" and not element.has_attr("open"))
            or element.has_attr("hidden")
            or element.get("aria-hidden") == "true"
            or style.get("display") == "none"
            or style.get("visibility") == "hidden"
        )
        return is_hidden and "note" not in _kind(element)  # readers of books show notes apart

    def _is_chrome(self, element: Tag) -> bool:
        if not element.attrs or id(element) in self._around_main or element.name in CONTENT:
            return False
        words = [*element.get_attribute_list("class")]
        if element.name not in LINKED and "section" not in words:
            words = [*words, element.get("id")]
        return element.get("role") in CHROME_ROLES or any(CHROME.fullmatch(word or "") for word in words)


def _around(page: Tag, names: tuple[str, ...], last: str = "") -> set[int]:
    """The `id()` of each element around those with some names, up to the next one of the name `last`."""
    places: set[int] = set()
    for element in page.descendants:
        place = element.parent if getattr(element, "name", None) in names else None
        while place is not None and id(place) not in places:
            places.add(id(place))
            place = None if place.name == last else place.parent
    return places


def _kind(element: Tag) -> str:
    """The role of an element, and its type in a book."""
    return f"{element.get('role', '')} {element.get('epub:type', '')}"


def _style_rules(page: Tag) -> dict[str, Style]:
    """The properties that each selector of the style sheets sets, without rules inside rules."""
    sheets = [sheet.get_text() for sheet in page.find_all("style") if "print" not in str(sheet.get("media"))]
    rules: dict[str, Style] = {}
    depth = 0
    for piece in COMMENT.sub("", "".join(sheets)).split("}"):
        opened = piece.count("{")
        selectors, _, declarations = piece.partition("{")
        properties = _declarations(declarations) if opened == 1 and not depth else {}
        for selector in selectors.split(",") if properties else ():
            rules.setdefault(selector.strip(), {}).update(properties)
        depth = max(depth + opened - 1, 0)
    return rules


def _declarations(source: str) -> Style:
    """The values of the CSS properties that hide, strike, raise, lower or number text."""
    pairs = (declaration.partition(":") for declaration in source.lower().split(";"))
    values = {
        name.strip().removesuffix("-line").removesuffix("-type"): value.strip()[:MAX_VALUE]
        for name, _, value in pairs
    }
    return {name: value.split("!")[0].strip() for name, value in values.items() if name in SHOWING}


def _is_anchor(element: Tag) -> bool:
    """True for a link in the page whose text is only a sign, as after headings."""
    if element.name != "a" or not str(element.get("href", "")).startswith("#"):
        return False
    return len(element.contents) == 1 and str(element.contents[0]).strip() in ANCHORS


@dataclass(frozen=True, slots=True)
class Capture:
    """The text of an open element that is changed as a whole.

    element: verbatim text, a cell, a formula, or raised or lowered text.
    change: makes the text to write.
    pieces: the strings in the element so far.
    """

    element: Tag
    change: Change
    pieces: list[str]


class PageWriter:
    """Enters and leaves elements in document order, and writes their words into `builder`."""

    def __init__(self, view: PageView) -> None:
        self.builder = TextBuilder()
        self._view = view
        self._space = False  # write a space before the next words
        self._mark = ""  # list mark before the next words
        self._captures: list[Capture] = []
        self._rows: list[list[Cell]] = []  # of the open table of data, which contains no table
        self._next_items: list[int | None] = []  # for each open list: its next number, None for bullets
        self._heading_start: int | None = None

    def enter(self, element: Tag) -> None:
        """Prepare for the words of an element."""
        name = element.name
        if name == "img":
            self.write(str(element.get("alt", "")))
        elif name in ("input", "option", "textarea"):
            self.write(f" {_form_value(element)} ")
        elif len(self._captures) < MAX_CAPTURES and (change := self._change(element)):
            self._break(name)
            self._captures.append(Capture(element, change, []))
        elif name == "li" and not self._captures:
            self._enter_item(element)
        else:
            self._break(name)
            self._open(element)

    def leave(self, element: Tag) -> None:
        """Finish after the words of an element."""
        name = element.name
        if self._captures and self._captures[-1].element is element:
            self._finish(self._captures.pop())
            return
        if not self._captures:
            self._close(name)
        self._break("div" if name in ("li", *CELLS) else name)

    def write(self, string: str) -> None:
        """Write a string of the page; white space is collapsed outside of `<pre>`."""
        if self._captures:
            self._captures[-1].pieces.append(string)
            return
        words = SPACES.sub(" ", string)
        if words.startswith(" "):
            self._space = True
        if words.strip(" "):
            self._write_words(words.strip(" "))
            self._space = words.endswith(" ")

    def _change(self, element: Tag) -> Change | None:
        """What changes the text of an element as a whole, or None."""
        if element.name == "pre" or (element.name in CELLS and self._rows):
            return str
        if element.name == "math":
            from lxml.html import fromstring

            return lambda _: settle(formula(fromstring(str(element))))
        return _script(element, self._view.style(element))

    def _finish(self, capture: Capture) -> None:
        """Write what an element has captured."""
        text = capture.change("".join(capture.pieces))
        element = capture.element
        if self._captures:
            self.write(f"\n{text}\n" if element.name == "pre" else text)
        elif element.name == "pre":
            self._write_words(text.strip("\r\n"))
            self._break("pre")
        elif element.name in CELLS:
            words = SPACES.sub(" ", text).strip(" ")
            self._rows[-1].append(Cell.spanning(words, element.get("rowspan"), element.get("colspan")))
        else:
            self.write(text)

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
        if self._captures:
            if name == "br" or (name in BLOCKS and self._captures[0].element.name in CELLS):
                self.write("\n")
        elif name in BLOCKS:
            nested_list = name in LISTS and len(self._next_items) > 0
            self.builder.end_line(blank=name not in LINES and not nested_list)
            self._space = False

    def _open(self, element: Tag) -> None:
        name = element.name
        if self._captures:
            return
        if name == "table":
            self._rows = [] if self._view.arranges(element) else [[]]
        elif name == "tr" and self._rows:
            self._rows.append([])
        elif name in LISTS:
            self._next_items.append(whole(element.get("start"), 1) if name == "ol" else None)
        elif name in HEADINGS:
            self._heading_start = None

    def _close(self, name: str) -> None:
        if name == "li":
            self._mark = ""  # an item without words
        elif name == "table" and self._rows:
            self.builder.write_table(self._rows)
            self._rows = []
        elif name in LISTS:
            self._next_items.pop()
        elif name in HEADINGS and self._heading_start is not None:
            self.builder.add_heading(self._heading_start, HEADINGS[name])
            self._heading_start = None

    def _enter_item(self, element: Tag) -> None:
        self.builder.end_line()
        number = self._next_items[-1] if self._next_items else None
        if number is not None:
            number = whole(element.get("value"), number)
            self._next_items[-1] = number + 1
            above = element.parent or element
            form = self._view.style(above).get("list-style", str(above.get("type")))
        indent = "  " * min(max(len(self._next_items) - 1, 0), 9)
        self._mark = indent + ("- " if number is None else f"{in_form(number, form) or number}. ")


def _form_value(element: Tag) -> str:
    """The value of a form field; a check box is a sign."""
    kind = str(element.get("type", "")).lower()
    if kind in ("checkbox", "radio"):
        return "☒" if element.has_attr("checked") else "☐"
    return "" if kind in NO_VALUE or element.name == "option" else str(element.get("value", ""))


def _script(element: Tag, style: Style) -> Change | None:
    """What changes the text of a raised or lowered element or of a reference to a note; None for others."""
    name = element.name
    above = element.parent or element
    if name in ("a", "sup"):
        link = element if name == "a" else above if above.name == "a" else element.find("a") or element
        href = str(link.get("href", ""))
        if "noteref" in _kind(element) or NOTE_LINK.search(href) or (name == "sup" and "#" in href):
            return note_mark
    return SCRIPTS.get(style.get("vertical-align", name))


def note_mark(text: str) -> str:
    """The reference to a note in brackets after a space; a longer text stays as it is."""
    words = text.strip().strip("[]()")
    return f" [{words}]" if words and len(words) <= MAX_NOTE else text
