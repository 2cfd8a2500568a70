"""Reads OpenDocument texts, spreadsheets and presentations.

Paragraphs are separated by empty lines and cells by " | ". List items start with "- ", and footnotes follow
the text as "[1] …". Hidden, struck and deleted text, annotations and ruby text are left out. Each slide is a
page.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import chain

from spanwise.errors import DocumentRejected

from ..archive import Archive, Element, attribute, local_name
from .builder import (
    DOWN,
    MAX_SPAN,
    NOTE,
    UP,
    Cell,
    TextBuilder,
    join_remarks,
    one_line,
    settle,
    shifted,
    whole,
)
from .xlsx import MAX_COLUMNS, Merged, Row, SheetCell, SheetWriter

TEXT = "application/vnd.oasis.opendocument.text"
SPREADSHEET = "application/vnd.oasis.opendocument.spreadsheet"
PRESENTATION = "application/vnd.oasis.opendocument.presentation"
CONTENT = "content.xml"
META = "meta.xml"
STYLES = "styles.xml"
MANIFEST = "META-INF/manifest.xml"
BLOCKS = ("p", "h", "list", "table")
CELLS = ("table-cell", "covered-table-cell")
# Elements that are not shown, or whose text belongs elsewhere.
LEFT_OUT = frozenset(
    "tracked-changes annotation annotation-end ruby-text note desc title event-listeners".split()
)
VALUES = ("value", "date-value", "time-value", "boolean-value", "string-value")
REFERENCE_SIGNS = re.compile(r"[\[\]]|(?<=[\[:])\.")  # of a formula, as in "[.B2:.B5]"
SPACES = re.compile("[ \t\r\n]+")  # the white space that the format collapses
MAX_SPACES = 100  # of one element
MAX_BASES = 20  # styles in a chain of inheritance
LOOKS = ("display", "text-line-through-style", "text-position")
Looks = Mapping[str, str]
Styles = dict[str, tuple[str, Looks]]  # by name: the parent and what a style sets
Words = Callable[[Element], str]  # the shown text of an element


def read_text(data: bytes) -> TextBuilder:
    """The document of an .odt file, titled by its properties, its first heading or its first line."""
    root, body, title = _open(data, "text")
    writer = FlowWriter(root)
    writer.write_blocks(body)
    writer.write_notes(body)
    builder = writer.builder
    return builder.described(TEXT, title, builder.first_heading, builder.first_line)


def read_spreadsheet(data: bytes) -> TextBuilder:
    """The document of an .ods file, titled by its properties."""
    root, body, title = _open(data, "spreadsheet")
    hidden = _styles_with(root, "display", "false")
    words = FlowWriter(root).words
    writer = SheetWriter()
    for sheet in _children(body, "table"):
        merged: list[Merged] = []
        is_hidden = attribute(sheet, "style-name") in hidden
        writer.write_sheet(attribute(sheet, "name"), _rows(sheet, words, merged), merged, is_hidden)
    return writer.builder.described(SPREADSHEET, title, remark=writer.remark)


def read_presentation(data: bytes) -> TextBuilder:
    """The document of an .odp file, titled by its properties or its first slide; slide n is page n."""
    root, body, title = _open(data, "presentation")
    hidden_styles = _styles_with(root, "visibility", "hidden")
    builder = TextBuilder()
    hidden: list[str] = []
    for number, slide in enumerate(body.iterfind("{*}page"), start=1):
        if attribute(slide, "style-name") in hidden_styles:
            hidden.append(str(number))
        builder.add_page(_slide(root, slide, number))
    remark = join_remarks({"hidden slides": hidden})
    return builder.described(PRESENTATION, title, builder.first_heading, remark=remark)


def _open(data: bytes, kind: str) -> tuple[Element, Element, str]:
    """The root of the content, the element with the text, and the title in the properties."""
    archive = Archive(data)
    if MANIFEST in archive.names and archive.xml(MANIFEST).find(".//{*}encryption-data") is not None:
        raise DocumentRejected("encrypted OpenDocument file: needs a password")
    root = archive.xml(CONTENT)
    body = root.find(f"{{*}}body/{{*}}{kind}")
    if body is None:
        raise DocumentRejected(f"damaged: {CONTENT} has no {kind}")
    if STYLES in archive.names and kind != "spreadsheet":
        root.append(archive.xml(STYLES))
    title = archive.xml(META).findtext(".//{*}title") if META in archive.names else ""
    return root, body, title or ""


def _styles_with(root: Element, name: str, value: str) -> set[str]:
    """The names of the styles in which a setting has this value."""
    styles = root.iter("{*}style")
    return {
        attribute(style, "name")
        for style in styles
        if any(attribute(setting, name) == value for setting in style)
    }


def _rows(sheet: Element, words: Words, merged: list[Merged]) -> Iterator[Row]:
    """The rows of a sheet, of which an element may repeat one; adds the merged ranges to `merged`."""
    number = 1
    for element in _children(sheet, "table-row"):
        repeated = _count(element, "number-rows-repeated")
        cells = dict(_cells(element, words, number, merged))
        for copy in range(repeated if cells else 0):
            yield Row(number + copy, dict(cells))
        number += repeated


def _cells(row: Element, words: Words, number: int, merged: list[Merged]) -> Iterator[tuple[int, SheetCell]]:
    """The cells of a row with their columns."""
    column = 1
    for element in _children(row, *CELLS):
        repeated = _count(element, "number-columns-repeated")
        n_rows = _count(element, "number-rows-spanned")
        n_columns = _count(element, "number-columns-spanned")
        if n_rows * n_columns > 1:
            merged.append(Merged(number, column, number + n_rows - 1, column + n_columns - 1))
        cell = _cell(element, words)
        for copy in range(column, min(column + repeated, MAX_COLUMNS + 1) if cell.text else 0):
            yield copy, cell
        column += repeated


def _cell(element: Element, words: Words) -> SheetCell:
    """A cell as shown, else its value, else its formula."""
    kind = attribute(element, "value-type")
    text = words(element)
    if element.find("{*}p") is None:
        text = next(filter(None, (attribute(element, name) for name in VALUES)), "")
    formula = attribute(element, "formula")
    if formula and not text and not kind:
        shown = REFERENCE_SIGNS.sub("", formula[formula.find("=") :])
        return SheetCell(one_line(shown), is_words=False)
    return SheetCell(text, is_words=kind in ("", "string"))


def _slide(root: Element, slide: Element, number: int) -> TextBuilder:
    """The text of a slide with its labels, the title first."""
    writer = FlowWriter(root)
    shapes = [shape for shape in slide if not shape.tag.endswith("}notes")]
    for shape in sorted(shapes, key=lambda shape: attribute(shape, "class") != "title"):
        if attribute(shape, "class") == "title":
            writer.write_heading(shape, 1)
        else:
            writer.write_blocks(shape)
    notes = (paragraph for part in slide.iterfind("{*}notes") for paragraph in _children(part, "p"))
    writer.builder.finish_slide(number, "\n".join(filter(None, map(writer.words, notes))))
    return writer.builder


class FlowWriter:
    """Writes blocks into `builder` in document order; lxml limits the depth of recursion to 256."""

    def __init__(self, root: Element) -> None:
        self.builder = TextBuilder()
        self._styles: Styles = {}
        for style in root.iter("{*}style"):  # those of the content come first
            parts = style.iterfind("{*}text-properties")
            looks = {name: attribute(part, name) for part in parts for name in LOOKS if attribute(part, name)}
            self._styles.setdefault(attribute(style, "name"), (attribute(style, "parent-style-name"), looks))

    def words(self, element: Element) -> str:
        """The shown text of an element on one line."""
        return one_line(settle("".join(_pieces(element, self._styles, {}))))

    def write_blocks(self, container: Element) -> None:
        """Write the blocks of a body, a section, a text box or a cell."""
        for block in _children(container, *BLOCKS):
            self._write_block(block)

    def write_notes(self, container: Element) -> None:
        """Write each footnote and endnote of a text as a paragraph."""
        for note in _children(container, "note"):
            body = note.find("{*}note-body")
            if words := "" if body is None else self.words(body):
                self.builder.write_paragraph(f"[{_note_mark(note)}] {words}")

    def write_heading(self, element: Element, level: int) -> None:
        """Write the words of an element as a heading."""
        self.builder.write_heading(self.words(element), level)

    def _write_block(self, block: Element) -> None:
        match local_name(block):
            case "table":
                self._write_table(block)
            case "list":
                self.builder.end_line(blank=True)
                self._write_list(block, 0)
                self.builder.end_line(blank=True)
            case "h":
                self.write_heading(block, _count(block, "outline-level"))
            # The parent of an automatic style ("P7") has a meaningful name.
            case _ if "Title" in (name := attribute(block, "style-name"), *self._styles.get(name, "")):
                self.write_heading(block, 1)
            case _:
                self.builder.write_paragraph(settle("".join(_pieces(block, self._styles, {}))).strip())
        for box in _children(block, "text-box") if local_name(block) in ("p", "h") else ():
            self.write_blocks(box)

    def _write_list(self, items: Element, level: int) -> None:
        for item in _children(items, "list-item", "list-header"):
            for block in _children(item, *BLOCKS):
                match local_name(block):
                    case "list":
                        self._write_list(block, level + 1)
                    case "p" if words := self.words(block):
                        self.builder.end_line()
                        self.builder.write("  " * min(level, 9) + f"- {words}")
                    case "h" | "table":
                        self._write_block(block)

    def _write_table(self, table: Element) -> None:
        rows = [list(_children(row, *CELLS)) for row in _children(table, "table-row")]
        self.builder.end_line(blank=True)
        if all(len(cells) < 2 for cells in rows):  # a frame around text, no table
            for cell in chain.from_iterable(rows):
                self.write_blocks(cell)
            return
        self.builder.write_table(map(self._row, rows))
        self.builder.end_line(blank=True)

    def _row(self, cells: list[Element]) -> Iterator[Cell]:
        """The cells of a row without those that others cover."""
        for cell in cells:
            if local_name(cell) == "table-cell":
                spans = (attribute(cell, f"number-{name}-spanned") for name in ("rows", "columns"))
                repeated = min(_count(cell, "number-columns-repeated"), MAX_SPAN)
                yield from [Cell.spanning(self.words(cell), *spans)] * repeated


def _children(element: Element, *names: str) -> Iterator[Element]:
    """The elements of these names, at any depth but not inside each other."""
    for child in element if attribute(element, "display") != "none" else ():
        name = local_name(child)
        if name in names:
            yield child
        elif name not in LEFT_OUT:
            yield from _children(child, *names)


def _pieces(element: Element, styles: Styles, looks: Looks) -> Iterator[str]:
    """The pieces of text in an element that is shown with `looks`, without its text boxes."""
    looks = {**looks, **_looks(styles, attribute(element, "style-name"))}
    struck = looks.get("text-line-through-style", "none") != "none"
    if struck or "none" in (looks.get("display"), attribute(element, "display")):
        return
    height = looks.get("text-position", "").partition(" ")[0].strip("0%")
    mark = DOWN if height.startswith(("-", "sub")) else UP if height else ""
    yield shifted(SPACES.sub(" ", element.text or ""), mark)
    for child in element:
        match local_name(child):
            case "s":
                yield " " * min(_count(child, "c"), MAX_SPACES)
            case "tab":
                yield "\t"
            case "line-break":
                yield "\n"
            case "note":
                yield f"{NOTE}[{_note_mark(child)}]"
            case "p" | "h":
                yield from _pieces(child, styles, looks)
                yield "\n"
            case name if name not in LEFT_OUT and name != "frame":
                yield from _pieces(child, styles, looks)
        yield shifted(SPACES.sub(" ", child.tail or ""), mark)


def _looks(styles: Styles, name: str) -> Looks:
    """What a style sets, with what it inherits."""
    looks: Looks = {}
    for _ in range(MAX_BASES):
        if name not in styles:
            break
        name, inherited = styles[name]
        looks = {**inherited, **looks}
    return looks


def _count(element: Element, name: str) -> int:
    """The number in an attribute, else 1."""
    return max(whole(attribute(element, name), 1), 1)


def _note_mark(note: Element) -> str:
    """The reference sign of a footnote or endnote."""
    mark = note.find("{*}note-citation")
    return "" if mark is None else "".join(mark.itertext()).strip()
