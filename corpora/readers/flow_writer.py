"""The lines of an OpenDocument text: headings, paragraphs, lists, tables, text boxes, and notes at the end.

Paragraphs stand between empty lines, list items start with "- " whatever their number looks like in print,
cells are separated by " | ", footnotes follow as "[1] …".
"""

from __future__ import annotations

from .odf import children, count, note_mark, pieces, words
from .package import Element, attribute, local_name
from .text_builder import TextBuilder

BLOCKS = ("p", "h", "list", "table")
CELLS = ("table-cell", "covered-table-cell")
CODE = "Preformatted_20_Text"
MAX_CELLS = 1000  # of a row that one element may stand for


class FlowWriter:
    """Writes blocks into `builder` in document order. lxml allows 256 levels, so recursion is bounded."""

    def __init__(self, root: Element) -> None:
        self.builder = TextBuilder()
        # An automatic style ("P7") is a variation of one with a name that means something.
        self._parents = {
            attribute(style, "name"): attribute(style, "parent-style-name") for style in root.iter("{*}style")
        }
        self._in_code = False

    def write_blocks(self, container: Element) -> None:
        """Write what stands in a body, a section, a text box or a cell."""
        for block in children(container, *BLOCKS):
            self._write_block(block)

    def write_notes(self, container: Element) -> None:
        """Write the footnotes and endnotes of a text, one paragraph each."""
        for note in children(container, "note"):
            body = note.find("{*}note-body")
            said = "" if body is None else words(body)
            if said:
                self.builder.end_line(blank=True)
                self.builder.write(f"[{note_mark(note)}] {said}")

    def write_heading(self, element: Element, level: int) -> None:
        """Write an element's words as a heading."""
        self.builder.end_line(blank=True)
        start = self.builder.write(words(element))
        self.builder.add_heading(start, level)
        self.builder.end_line(blank=True)

    def _write_block(self, block: Element) -> None:
        match local_name(block):
            case "table":
                self._write_table(block)
            case "list":
                self.builder.end_line(blank=True)
                self._write_list(block, 0)
                self.builder.end_line(blank=True)
            case "h":
                self.write_heading(block, count(block, "outline-level"))
            case _ if self._style(block) == "Title":
                self.write_heading(block, 1)
            case _:
                self._write_paragraph(block)
        for box in children(block, "text-box") if local_name(block) in ("p", "h") else ():
            self.write_blocks(box)

    def _style(self, paragraph: Element) -> str:
        name = attribute(paragraph, "style-name")
        return self._parents.get(name) or name

    def _write_paragraph(self, paragraph: Element) -> None:
        code = self._style(paragraph) == CODE
        text = "".join(pieces(paragraph))
        text = text.rstrip() if code else text.strip()
        if text.strip():
            self.builder.end_line(blank=not (code and self._in_code))
            self.builder.write(text)
            self.builder.end_line(blank=not code)
            self._in_code = code

    def _write_list(self, items: Element, level: int) -> None:
        for item in children(items, "list-item", "list-header"):
            for block in children(item, *BLOCKS):
                match local_name(block):
                    case "list":
                        self._write_list(block, level + 1)
                    case "p" if said := words(block):
                        self.builder.end_line()
                        self.builder.write("  " * min(level, 9) + f"- {said}")
                    case "h" | "table":
                        self._write_block(block)

    def _write_table(self, table: Element) -> None:
        rows = [list(children(row, *CELLS)) for row in children(table, "table-row")]
        self.builder.end_line(blank=True)
        if all(len(cells) < 2 for cells in rows):  # a frame around text, not a table of data
            for cells in rows:
                for cell in cells:
                    self.write_blocks(cell)
            return
        for cells in rows:
            self.builder.write(" | ".join(map(words, cells)).rstrip(" |"))
            self.builder.end_line()
        self.builder.end_line(blank=True)
