"""Text written piece by piece, so that headings and pages know their offsets as they are written.

The readers of formats whose text has to be extracted write into one of these; what has been written
is never changed again.
"""

from __future__ import annotations

import re
from dataclasses import replace

from spanwise.types import Document, Heading, Label

# A code point that no encoding can store; some PDF font tables produce them.
LONE_SURROGATE = re.compile("[\ud800-\udfff]")
ZERO_WIDTH_SPACE = "\u200b"  # at the end of headings, what some site generators hang their links on


class TextBuilder:
    """Collects the text and headings of one document."""

    def __init__(self) -> None:
        self.length = 0
        self.headings: list[Heading] = []
        self.labels: list[Label] = []
        self._pieces: list[str] = []
        self._line_ends = 0

    @property
    def text(self) -> str:
        """Everything written so far; a line end still owed is not in it."""
        return "".join(self._pieces)

    def write(self, text: str) -> int:
        """The offset at which `text` starts, after the line ends owed. Empty text writes nothing."""
        if not text:
            return self.length
        if self._line_ends and self.length:
            self._append("\n" * self._line_ends)
        self._line_ends = 0
        start = self.length
        self._append(LONE_SURROGATE.sub("\ufffd", text))
        return start

    def include(self, part: TextBuilder | Document) -> int:
        """The offset at which the text of `part` starts, written with its headings and labels."""
        start = self.write(part.text)
        self.headings += [replace(heading, start=start + heading.start) for heading in part.headings]
        self.labels += [replace(label, start=start + label.start) for label in part.labels]
        return start

    def end_line(self, blank: bool = False) -> None:
        """Owe a line end, or with `blank` an empty line, before whatever is written next."""
        self._line_ends = max(self._line_ends, 2 if blank else 1)

    @property
    def at_line_start(self) -> bool:
        """True when the next write starts a line."""
        return self._line_ends > 0 or self.length == 0

    def add_heading(self, start: int, level: int) -> None:
        """Make what was written since `start` a heading; blank text makes none."""
        words = " ".join(self.text_since(start).replace(ZERO_WIDTH_SPACE, "").split())
        if words:
            self.headings.append(Heading(start, level, words))

    def add_label(self, start: int, text: str) -> None:
        """Say what the format calls the place from `start` up to the next label."""
        self.labels.append(Label(start, text))

    def text_since(self, start: int) -> str:
        """What was written from the offset `start` on; costs the length of that, not of everything."""
        tail: list[str] = []
        position = self.length
        for piece in reversed(self._pieces):
            if position <= start:
                break
            tail.append(piece)
            position -= len(piece)
        return "".join(reversed(tail))[start - position :]

    def _append(self, piece: str) -> None:
        self._pieces.append(piece)
        self.length += len(piece)
