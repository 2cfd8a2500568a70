"""The lines that paragraphs and cells of an RTF file make.

Paragraphs stand between empty lines, list items start with "- " whatever their number looks like in print,
cells are separated by " | ", footnotes follow the body as "[1] …".
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .text_builder import TextBuilder

HEADING_NAME = re.compile(r"heading ([1-9])", re.I)
TITLE_NAME = re.compile(r"title", re.I)
SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(slots=True)
class Paragraph:
    """What is known of the paragraph being read: its style, outline level (0 for none), list, table."""

    style: int = 0
    level: int = 0
    is_item: bool = False
    in_table: bool = False


class RtfWriter:
    """Collects words into paragraphs and cells, and writes them into `builder`."""

    def __init__(self) -> None:
        self.builder = TextBuilder()
        self.paragraph = Paragraph()
        self.levels: dict[int, int] = {}  # of the styles that are headings
        self._pieces: list[str] = []
        self._cells: list[str] = []
        self._notes: list[list[str]] = []
        self._after_item = False

    def write(self, text: str) -> None:
        """Add words to the paragraph."""
        self._pieces.append(text)

    def open_note(self) -> None:
        """Begin a footnote; its number stands in the body."""
        self._notes.append([])
        self._pieces.append(f"[{len(self._notes)}]")

    def write_note(self, text: str) -> None:
        """Add words to the last footnote."""
        self._notes[-1].append(text)

    def end_paragraph(self) -> None:
        """Write the paragraph; in a table it goes on in the same cell."""
        if self.paragraph.in_table:
            self._pieces.append(" ")
            return
        self._end_row()
        text = self._taken().strip()
        if not text:
            return
        level = self.paragraph.level or self.levels.get(self.paragraph.style, 0)
        item = self.paragraph.is_item and not level
        self.builder.end_line(blank=not (item and self._after_item))
        start = self.builder.write(f"- {text}" if item else text)
        if level:
            self.builder.add_heading(start, level)
        self.builder.end_line(blank=not item)
        self._after_item = item

    def end_cell(self) -> None:
        """Finish a cell of the row."""
        self._cells.append(" ".join(self._taken().split()))

    def end_row(self) -> None:
        """Write the row as a line."""
        row = " | ".join(self._cells).rstrip(" |")
        self._cells.clear()
        self.builder.end_line()
        self.builder.write(row)
        self.builder.end_line()
        self._after_item = False

    def finish(self) -> TextBuilder:
        """The text with everything still open written, and the footnotes at its end."""
        self.paragraph.in_table = False
        self.end_paragraph()
        for number, note in enumerate(self._notes, start=1):
            words = " ".join(whole("".join(note)).split())
            if words:
                self.builder.end_line(blank=True)
                self.builder.write(f"[{number}] {words}")
        return self.builder

    def name_style(self, number: int, name: str, level: int) -> None:
        """Remember the level of a style that is a heading by its outline level or its name."""
        heading = HEADING_NAME.match(name)
        if level or heading:
            self.levels[number] = level or int(heading[1] if heading else 0)
        elif TITLE_NAME.fullmatch(name):
            self.levels[number] = 1

    def _end_row(self) -> None:
        """Write cells of a row that was never finished."""
        if self._cells:
            self.end_cell()
            self.end_row()

    def _taken(self) -> str:
        text = whole("".join(self._pieces))
        self._pieces.clear()
        return text


def whole(text: str) -> str:
    """The text with its halves of surrogate pairs joined; a half alone becomes U+FFFD."""
    if not SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
