"""Text from a program that we do not trust, without what would steer a terminal or break an encoder."""

from __future__ import annotations

_CONTROLS = {code: None for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"}


class PlainText:
    """A text in pieces: `add` gives back what of each may be shown, `rest` what is left at the end.

    Controls other than newline and tab (C0, delete, C1, so every terminal escape) are left out. A character
    that two pieces share as surrogates is put together; half of one becomes U+FFFD.
    """

    def __init__(self) -> None:
        self._held = ""

    def add(self, piece: str) -> str:
        """What can be shown now: all but a first half that waits for its second."""
        text = self._held + piece
        self._held = text[-1] if text and "\ud800" <= text[-1] <= "\udbff" else ""
        return _shown(text[: len(text) - len(self._held)])

    def rest(self) -> str:
        """What waited in vain, as U+FFFD, or nothing."""
        held, self._held = self._held, ""
        return _shown(held)


def plain(text: str) -> str:
    """The whole text without controls and halves of characters.

    >>> plain("a\\x1b[31mb\\r\\n\\ud83d")
    'a[31mb\\n\ufffd'
    """
    pieces = PlainText()
    return pieces.add(text) + pieces.rest()


def _shown(text: str) -> str:
    return text.translate(_CONTROLS).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
