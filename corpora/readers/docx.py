"""Reads Word documents: paragraphs and tables in the order of the body, then footnotes and endnotes.

python-docx opens the file. The text comes from the XML, because the property `text` of its paragraphs has no
tracked insertions, content controls, text boxes and formulas. Deleted, hidden and struck text, field codes,
headers, footers and comments are left out. Paragraphs are separated by empty lines and cells by " | ". List
items start with "- " or their number, check boxes are ☒ or ☐, and notes follow the body as "[1] …". Embedded
HTML, RTF and text is read; other embedded documents are named in a remark.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

from spanwise.errors import DocumentRejected

from ..archive import attribute, choose_alternatives, local_name, office_file, setting
from . import html, markup, rtf
from .builder import (
    NOTE,
    SHIFTS,
    Cell,
    TextBuilder,
    formula,
    in_form,
    join_remarks,
    one_line,
    settle,
    shifted,
    whole,
)

if TYPE_CHECKING:
    from docx.document import Document as WordDocument
    from docx.oxml.xmlchemy import BaseOxmlElement as Element
    from docx.styles.style import BaseStyle

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
R_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
PARAGRAPH = f"{W}p"
TABLE = f"{W}tbl"
ROW = f"{W}tr"
CELL = f"{W}tc"
BOX = f"{W}txbxContent"
RUN = f"{W}r"
CHUNK = f"{W}altChunk"
SYMBOL = f"{W}sym"
FIELD = f"{W}fldChar"
CONTROL = f"{W}sdt"
FORMULA = "{http://schemas.openxmlformats.org/officeDocument/2006/math}oMath"
GONE = ("del", "hidden", "vanish", "moveFrom")  # of rows and of the ends of paragraphs
BREAKS = {f"{W}tab": "\t", f"{W}ptab": "\t", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "-"}
# Elements that are not shown or are no text; `rt` is ruby text.
LEFT_OUT = frozenset(f"{W}{name}" for name in "del moveFrom instrText pPr rPr sdtPr rt".split())
HIDING = ("rPr/vanish", "rPr/strike", "rPr/dstrike")
SHIFT = "rPr/vertAlign"
LIST = "pPr/numPr/numId"  # 0 for none
DEPTH = "pPr/numPr/ilvl"
OFF = ("0", "false", "off", "")
BOXES = "☐☒"
SYMBOLS = {
    "Wingdings": str.maketrans("oq¨þýxüûà", "☐☐☐☒☒☒✓✗→"),
    "Wingdings 2": str.maketrans("£*RSTPO", "☐☐☒☒☒✓✗"),
    "Symbol": str.maketrans("abgdlmpstwDSW£¥°±³´·¹»", "αβγδλμπστωΔΣΩ≤∞°±≥×•≠≈"),
}
CHUNKS = {
    "text/html": html.read,
    "application/xhtml+xml": html.read,
    "text/plain": markup.read_text,
    "application/rtf": rtf.read,
    "text/rtf": rtf.read,
}
# "Heading 2" in Word; "HeadB" or "ChapterTitle" in the templates of publishers.
HEADING_NAME = re.compile(r"head(?:ing)?[ _-]?([1-9a-f])", re.I)
TITLE_NAME = re.compile(r"(?:chapter|document)?[ _-]?title", re.I)
CODE_NAME = re.compile(r"\b(?:code|verbatim|preformatted|source)", re.I)
MAX_BASES = 20  # styles in a chain of inheritance
PLACE = re.compile("%([1-9])")
MAX_LEVELS = 9
MAX_PATTERN = 100  # characters


def read(data: bytes) -> TextBuilder:
    """The document of a .docx file, titled by its properties, its first heading or its first line."""
    import docx

    with office_file(data, "Word document") as file:
        try:
            word = docx.Document(file)
            writer = write_body(word)
            title = word.core_properties.title or ""
        except KeyError as error:  # a part that python-docx looks for by its transitional name
            reason = f"damaged, or in the Strict Open XML form: {error.args[0]}"
            raise DocumentRejected(reason) from error
    remark = join_remarks({"embedded documents that are not read": writer.unread})
    builder = writer.builder
    return builder.described(MEDIA_TYPE, title, builder.first_heading, builder.first_line, remark=remark)


def write_body(word: WordDocument) -> BodyWriter:
    """The writer after the body and its notes."""
    from docx.opc.constants import RELATIONSHIP_TYPE

    writer = BodyWriter(word)
    choose_alternatives(word.element.body)
    writer.write_blocks(word.element.body)
    for kind in (RELATIONSHIP_TYPE.FOOTNOTES, RELATIONSHIP_TYPE.ENDNOTES):
        for notes in _parts(word, kind):
            choose_alternatives(notes)
            writer.write_notes(notes)
    return writer


def _parts(word: WordDocument, kind: str) -> Iterator[Element]:
    """The root of each part of a kind."""
    from docx.oxml import parse_xml

    for relation in word.part.rels.values():
        if relation.reltype == kind and not relation.is_external:
            yield parse_xml(relation.target_part.blob)


@dataclass(frozen=True, slots=True)
class Style:
    """The meaning of a style.

    level: the heading level, 0 for other paragraphs.
    item: True for list items.
    code: True for lines of code.
    looks: see `_looks`.
    """

    level: int = 0
    item: bool = False
    code: bool = False
    looks: dict[str, str] = field(default_factory=dict, compare=False)


def read_style(style: BaseStyle) -> Style:
    """The meaning of a style, with what it inherits from the styles below it."""
    level = 0
    item = False
    code = False
    looks: dict[str, str] = {}
    current: BaseStyle | None = style
    for _ in range(MAX_BASES):
        if current is None:
            break
        name = current.name or ""
        level = level or _named_level(name) or _outline_level(current.element)
        item = item or name.startswith("List ")
        code = code or CODE_NAME.search(name) is not None
        looks = _looks(current.element) | looks
        current = getattr(current, "base_style", None)
    return Style(level, item and not level, code and not level, looks)


def _is_gone(element: Element, path: str) -> bool:
    """True when the properties at a path have one of the settings GONE, and it is on."""
    return any(setting(element, f"{path}/{name}", "1", "0") not in OFF for name in GONE)


def _looks(element: Element) -> dict[str, str]:
    """What a run, paragraph or style sets itself: what hides, strikes or shifts its text, and its list."""
    values = {path: setting(element, path, "1") for path in (*HIDING, SHIFT, LIST, DEPTH)}
    return {path: value for path, value in values.items() if value}


def _named_level(name: str) -> int:
    """The heading level in a style's name, 0 without one; the letters a to f count as 1 to 6."""
    if TITLE_NAME.fullmatch(name):
        return 1
    heading = HEADING_NAME.fullmatch(name)
    number = int(heading[1], 16) if heading else 0
    return number - 9 if number > 9 else number


def _outline_level(element: Element) -> int:
    """The heading level that a paragraph or style sets directly, 0 without one."""
    value = setting(element, "pPr/outlineLvl")
    return int(value) + 1 if re.fullmatch("[0-8]", value) else 0


def _children(element: Element, *tags: str) -> Iterator[Element]:
    """The elements with one of the tags, at any depth but not inside each other."""
    for child in element:
        if child.tag in tags:
            yield child
        elif child.tag not in LEFT_OUT:
            yield from _children(child, *tags)


@dataclass(frozen=True, slots=True)
class NumberedList:
    """A list.

    levels: the form of its numbers by level, from 0.
    counts: the last number of each level; lists of the same definition share them.
    restarts: the counts before the first item; emptied by it.
    """

    levels: dict[int, Element]
    counts: dict[int, int]
    restarts: dict[int, int]


class Numbering:
    """The lists of a document with their counts; `root` is the part `numbering`."""

    def __init__(self, root: Element) -> None:
        definitions = root.iterfind("{*}abstractNum")
        levels = {attribute(element, "abstractNumId"): _levels(element) for element in definitions}
        counts: dict[str, dict[int, int]] = {name: {} for name in levels}
        self._lists: dict[str, NumberedList] = {}
        for element in root.iterfind("{*}num"):
            name = setting(element, "abstractNumId")
            restarts = {
                whole(attribute(override, "ilvl")): whole(start) - 1
                for override in element.iterfind("{*}lvlOverride")
                if (start := setting(override, "startOverride"))
            }
            own = levels.get(name, {}) | _levels(element.iterfind("{*}lvlOverride/{*}lvl"))
            self._lists[attribute(element, "numId")] = NumberedList(own, counts.get(name, {}), restarts)

    def next(self, number: str, depth: int) -> str:
        """The mark of the next item of a list: "-" for bullets and in unknown lists."""
        items = self._lists.get(number)
        if items is None or depth not in items.levels:
            return "-"
        level = items.levels[depth]
        counts = items.counts
        counts |= items.restarts
        items.restarts.clear()
        counts[depth] = counts.get(depth, whole(setting(level, "start"), 1) - 1) + 1
        for deeper in range(depth + 1, MAX_LEVELS):
            counts.pop(deeper, None)
        is_legal = setting(level, "isLgl", "1") == "1"

        def count(place: re.Match[str]) -> str:
            above = int(place[1]) - 1
            other = items.levels.get(above, level)
            return in_form(
                counts.get(above, whole(setting(other, "start"), 1)),
                "" if is_legal else setting(other, "numFmt"),
            )

        if setting(level, "numFmt") == "bullet":
            return "-"
        return PLACE.sub(count, setting(level, "lvlText")[:MAX_PATTERN])


def _levels(elements: Iterable[Element]) -> dict[int, Element]:
    """The levels among some elements, from 0."""
    levels = {attribute(element, "ilvl"): element for element in elements}
    return {int(depth): level for depth, level in levels.items() if re.fullmatch("[0-8]", depth)}


class BodyWriter:
    """Writes blocks into `builder` in document order; lxml limits the depth of recursion to 256."""

    def __init__(self, word: WordDocument) -> None:
        from docx.opc.constants import RELATIONSHIP_TYPE

        self.builder = TextBuilder()
        self.unread: list[str] = []  # embedded documents
        self._parts = dict(word.part.related_parts)
        named = {style.style_id: style for style in word.styles}
        self._style_of = cache(lambda name: read_style(named[name]) if name in named else Style())
        parts = [*_parts(word, RELATIONSHIP_TYPE.NUMBERING), word.element]  # the body has no lists
        self._numbering = Numbering(parts[0])
        self._last = Style()
        self._goes_on = False  # the end of the last paragraph is deleted
        self._notes: dict[str, dict[str, int]] = defaultdict(dict)  # the numbers of notes by kind and id
        self._boxes: list[Element] = []  # of the current paragraph, written after it

    def write_blocks(self, container: Element) -> None:
        """Write the paragraphs and tables of a body, cell or text box."""
        for block in _children(container, PARAGRAPH, TABLE, CHUNK):
            if block.tag == TABLE:
                self._write_table(block)
            elif block.tag == CHUNK:
                self._write_chunk(block)
            else:
                self._write_paragraph(block)
            while self._boxes:
                self.write_blocks(self._boxes.pop(0))

    def write_notes(self, notes: Element) -> None:
        """Write each footnote or endnote as a paragraph; separators have a type and are left out."""
        for note in notes:
            words = "" if note.get(f"{W}type") else self._words(note)
            if words:
                self.builder.write_paragraph(f"{self._mark(note)} {words}")

    def _mark(self, note: Element) -> str:
        """The number of a note or of the reference to it, in the order of the references."""
        kind = local_name(note).removesuffix("Reference")
        numbers = self._notes[kind]
        number = numbers.setdefault(attribute(note, "id"), len(numbers) + 1)
        return f"[{in_form(number, 'lowerRoman' if kind == 'endnote' else '')}]"

    def _write_paragraph(self, paragraph: Element) -> None:
        style = self._style(paragraph)
        text = self._line(paragraph, style, "- ")
        if not text:
            self._goes_on &= _is_gone(paragraph, "pPr/rPr")
            return
        # Word stores list items and lines of code as paragraphs; no empty lines separate them here.
        together = style == self._last and (style.item or style.code)
        if not self._goes_on:
            self.builder.end_line(blank=not together)
        start = self.builder.write(" " * self._goes_on + text)
        self._goes_on = _is_gone(paragraph, "pPr/rPr")
        if style.level:
            self.builder.add_heading(start, style.level)
        self._last = style

    def _style(self, paragraph: Element) -> Style:
        style = self._style_of(setting(paragraph, "pPr/pStyle"))
        level = style.level or _outline_level(paragraph)
        looks = style.looks | _looks(paragraph)
        item = not level and looks.get(LIST) != "0" and (style.item or LIST in looks)
        return Style(level, item, style.code and not level, looks)

    def _line(self, paragraph: Element, style: Style, bullet: str) -> str:
        """The text of a paragraph with its number or bullet; one that is not shown does not count."""
        text = settle("".join(self._texts(paragraph, style.looks)))
        text = text.rstrip() if style.code else text.strip()
        if not text.strip() and _is_gone(paragraph, "pPr/rPr"):
            return ""
        mark = self._numbering.next(style.looks.get(LIST, ""), whole(style.looks.get(DEPTH, "")))
        if mark == "-":
            mark = bullet if style.item else ""
        elif mark:
            mark += " "
        return text and mark + text

    def _write_chunk(self, chunk: Element) -> None:
        """Write a document inside the document, each only once."""
        name = chunk.get(R_ID, "")
        part = self._parts.pop(name, None)
        reader = CHUNKS.get(part.content_type) if part else None
        if reader is None:
            self.unread.append(name)
            return
        self.builder.end_line(blank=True)
        self.builder.include(reader(part.blob))
        self.builder.end_line(blank=True)

    def _write_table(self, table: Element) -> None:
        rows = [row for row in _children(table, ROW) if not _is_gone(row, "trPr")]
        cells = [list(_children(row, CELL)) for row in rows]
        self._last = Style()
        if all(len(row) < 2 for row in cells):  # a frame around text, no table
            for cell in chain.from_iterable(cells):
                self.write_blocks(cell)
            return
        self.builder.end_line(blank=True)
        self.builder.write_table(map(self._row, rows, cells))

    def _row(self, row: Element, cells: list[Element]) -> Iterator[Cell]:
        """The cells of a row, after the columns that it leaves out."""
        if before := setting(row, "trPr/gridBefore"):
            yield Cell.spanning("", 1, before)
        for cell in cells:
            is_merged = setting(cell, "tcPr/vMerge", "continue") == "continue"
            words = None if is_merged else self._words(cell)
            yield Cell.spanning(words, 1, setting(cell, "tcPr/gridSpan", missing="1"))

    def _words(self, container: Element) -> str:
        """The text of a cell or note on one line, with the numbers of its paragraphs."""
        paragraphs = _children(container, PARAGRAPH)
        return one_line("\n".join(self._line(part, self._style(part), "") for part in paragraphs))

    def _texts(self, element: Element, looks: dict[str, str]) -> Iterator[str]:
        """The pieces of text in an element; its text boxes are written later."""
        for child in element:
            tag = child.tag
            if tag == RUN:
                named = self._style_of(setting(child, "rPr/rStyle"))
                run = looks | named.looks | _looks(child)
                if all(run.get(name, "0") in OFF for name in HIDING):
                    yield from self._texts(child, run)
            elif tag in BREAKS:
                yield BREAKS[tag]
            elif local_name(child).endswith("noteReference"):
                yield NOTE + self._mark(child)
            elif tag == BOX:
                self._boxes.append(child)
            elif tag == SYMBOL:
                yield _symbol(child)
            elif tag == FIELD:
                yield _field_value(child)
            elif isinstance(tag, str) and tag.endswith("}t"):  # of Word and of drawings
                yield shifted(child.text or "", SHIFTS.get(looks.get(SHIFT, ""), ""))
            elif tag == CONTROL and (box := setting(child, "sdtPr/checkbox/checked", "1")):
                yield BOXES[box not in OFF]
            elif tag == FORMULA:
                yield formula(child)
            elif tag not in LEFT_OUT:
                yield from self._texts(child, looks)


def _symbol(sign: Element) -> str:
    """A sign that is given by its code in a font; empty if its meaning is unknown."""
    code = int(sign.get(f"{W}char", "0"), 16)
    signs = SYMBOLS.get(sign.get(f"{W}font"), {})
    return chr(signs.get(code & 0xFF, 0) if signs else code).strip("\0")


def _field_value(start: Element) -> str:
    """The value of a check box or drop-down list of a form before 2007; others have it in their text."""
    box = start.find(f"{W}ffData/{W}checkBox")
    if box is not None:
        return BOXES[setting(box, "checked", "1", setting(box, "default", "1", "0")) not in OFF]
    chosen = whole(setting(start, "ffData/ddList/result", missing=setting(start, "ffData/ddList/default")))
    entries = start.findall(f"{W}ffData/{W}ddList/{W}listEntry")
    return "".join(str(entry.get(f"{W}val", "")) for entry in entries[chosen : chosen + 1])
