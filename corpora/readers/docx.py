"""Reads Word documents: paragraphs and tables in the order of the body, then footnotes and endnotes.

python-docx opens the file. The text comes from the XML, because the property `text` of its paragraphs has no
tracked insertions, content controls, text boxes and formulas. Deleted text, field codes, headers, footers and
comments are left out. Paragraphs are separated by empty lines and cells by " | ". List items start with "- ",
and notes follow the body as "[1] …".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from spanwise.errors import DocumentRejected

from ..archive import office_file
from .builder import TextBuilder, one_line

if TYPE_CHECKING:
    from docx.document import Document as WordDocument
    from docx.oxml.xmlchemy import BaseOxmlElement as Element
    from docx.styles.style import BaseStyle

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
PARAGRAPH = f"{W}p"
TABLE = f"{W}tbl"
ROW = f"{W}tr"
CELL = f"{W}tc"
BOX = f"{W}txbxContent"
REFERENCES = (f"{W}footnoteReference", f"{W}endnoteReference")
BREAKS = {f"{W}tab": "\t", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "-"}
# Elements that are not shown, are no text, or repeat text for older programs.
LEFT_OUT = frozenset((f"{W}del", f"{W}moveFrom", f"{W}instrText", f"{W}pPr", f"{W}rPr", f"{MC}Fallback"))
# "Heading 2" in Word; "HeadB" or "ChapterTitle" in the templates of publishers.
HEADING_NAME = re.compile(r"head(?:ing)?[ _-]?([1-9a-f])", re.I)
TITLE_NAME = re.compile(r"(?:chapter|document)?[ _-]?title", re.I)
CODE_NAME = re.compile(r"\b(?:code|verbatim|preformatted|source)", re.I)
MAX_BASES = 20  # styles in a chain of inheritance


def read(data: bytes) -> TextBuilder:
    """The document of a .docx file, titled by its properties, its first heading or its first line."""
    import docx

    with office_file(data, "Word document") as file:
        try:
            word = docx.Document(file)
            builder = write_body(word)
            title = word.core_properties.title or ""
        except KeyError as error:  # a part that python-docx looks for by its transitional name
            reason = f"damaged, or in the Strict Open XML form: {error.args[0]}"
            raise DocumentRejected(reason) from error
    return builder.described(MEDIA_TYPE, title, builder.first_heading, builder.first_line)


def write_body(word: WordDocument) -> TextBuilder:
    """The text and headings of the body and its notes."""
    from docx.opc.constants import RELATIONSHIP_TYPE
    from docx.oxml import parse_xml

    writer = BodyWriter({style.style_id: read_style(style) for style in word.styles})
    writer.write_blocks(word.element.body)
    for kind in (RELATIONSHIP_TYPE.FOOTNOTES, RELATIONSHIP_TYPE.ENDNOTES):
        for relation in word.part.rels.values():
            if relation.reltype == kind and not relation.is_external:
                writer.write_notes(parse_xml(relation.target_part.blob))
    return writer.builder


@dataclass(frozen=True, slots=True)
class Style:
    """The meaning of a paragraph style.

    level: the heading level, 0 for other paragraphs.
    item: True for list items.
    code: True for lines of code.
    """

    level: int = 0
    item: bool = False
    code: bool = False


def read_style(style: BaseStyle) -> Style:
    """The meaning of a style, with what it inherits from the styles below it."""
    level = 0
    item = False
    code = False
    current: BaseStyle | None = style
    for _ in range(MAX_BASES):
        if current is None:
            break
        name = current.name or ""
        level = level or _named_level(name) or _outline_level(current.element)
        item = item or name.startswith("List ") or _is_numbered(current.element)
        code = code or CODE_NAME.search(name) is not None
        current = getattr(current, "base_style", None)
    return Style(level, item and not level, code and not level)


def _named_level(name: str) -> int:
    """The heading level in a style's name, 0 without one; the letters a to f count as 1 to 6."""
    if TITLE_NAME.fullmatch(name):
        return 1
    heading = HEADING_NAME.fullmatch(name)
    number = int(heading[1], 16) if heading else 0
    return number - 9 if number > 9 else number


def _outline_level(element: Element) -> int:
    """The heading level that a paragraph or style sets directly, 0 without one."""
    outline = element.find(f"{W}pPr/{W}outlineLvl")
    value = "9" if outline is None else str(outline.get(f"{W}val", "9"))
    return int(value) + 1 if re.fullmatch("[0-8]", value) else 0


def _is_numbered(element: Element) -> bool:
    """True when a paragraph or style has a bullet or number; numId 0 removes an inherited one."""
    number = element.find(f"{W}pPr/{W}numPr/{W}numId")
    return number is not None and number.get(f"{W}val") != "0"


def _children(element: Element, *tags: str) -> Iterator[Element]:
    """The elements with one of the tags, at any depth but not inside each other."""
    for child in element:
        if child.tag in tags:
            yield child
        elif child.tag not in LEFT_OUT:
            yield from _children(child, *tags)


class BodyWriter:
    """Writes blocks into `builder` in document order; lxml limits the depth of recursion to 256."""

    def __init__(self, styles: dict[str, Style]) -> None:
        self.builder = TextBuilder()
        self._styles = styles
        self._last = Style()
        self._boxes: list[Element] = []  # of the current paragraph, written after it

    def write_blocks(self, container: Element) -> None:
        """Write the paragraphs and tables of a body, cell or text box."""
        for block in _children(container, PARAGRAPH, TABLE):
            if block.tag == TABLE:
                self._write_table(block)
            else:
                self._write_paragraph(block)
            while self._boxes:
                self.write_blocks(self._boxes.pop(0))

    def write_notes(self, notes: Element) -> None:
        """Write each footnote or endnote as a paragraph; separators have a type and are left out."""
        for note in notes:
            words = "" if note.get(f"{W}type") else one_line(*self._texts(note))
            if words:
                self.builder.write_paragraph(f"[{note.get(f'{W}id')}] {words}")

    def _write_paragraph(self, paragraph: Element) -> None:
        style = self._style(paragraph)
        text = "".join(self._texts(paragraph))
        text = text.rstrip() if style.code else text.strip()
        if not text.strip():
            return
        # Word stores list items and lines of code as paragraphs; no empty lines separate them here.
        together = style == self._last and (style.item or style.code)
        self.builder.end_line(blank=not together)
        start = self.builder.write(f"- {text}" if style.item else text)
        if style.level:
            self.builder.add_heading(start, style.level)
        self._last = style

    def _style(self, paragraph: Element) -> Style:
        named = paragraph.find(f"{W}pPr/{W}pStyle")
        style = self._styles.get(str(named.get(f"{W}val")), Style()) if named is not None else Style()
        level = style.level or _outline_level(paragraph)
        return Style(level, not level and (style.item or _is_numbered(paragraph)), style.code and not level)

    def _write_table(self, table: Element) -> None:
        rows = [list(_children(row, CELL)) for row in _children(table, ROW)]
        self._last = Style()
        if all(len(cells) < 2 for cells in rows):  # a frame around text, no table
            for cell in chain.from_iterable(rows):
                self.write_blocks(cell)
            return
        self.builder.end_line(blank=True)
        for cells in rows:
            words = [one_line(*self._texts(cell)) for cell in cells]
            while words and not words[-1]:
                words.pop()
            self.builder.write(" | ".join(words))
            self.builder.end_line()

    def _texts(self, element: Element) -> Iterator[str]:
        """The pieces of text in an element; its text boxes are written later."""
        for child in element:
            tag = child.tag
            if tag in BREAKS:
                yield BREAKS[tag]
            elif tag in REFERENCES:
                yield f"[{child.get(f'{W}id')}]"
            elif tag == BOX:
                self._boxes.append(child)
            elif isinstance(tag, str) and tag.endswith("}t"):  # of Word, of formulas and of drawings
                yield child.text or ""
            elif tag not in LEFT_OUT:
                yield from self._texts(child)
        if element.tag == PARAGRAPH:
            yield "\n"
