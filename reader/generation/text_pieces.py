"""From tokens to text while they come, without half characters."""

from __future__ import annotations

from typing import Any

_BROKEN = "\N{REPLACEMENT CHARACTER}"  # what a decoder makes of bytes that are no character yet


class TextPieces:
    """Gives out text as soon as later tokens cannot change it; all pieces together are the text.

    Tokens are decoded together with those of the piece before, since a decoder drops a space in front.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._ids: list[int] = []
        self._before, self._shown = 0, 0  # where the last piece began and ended

    def add(self, token: int) -> str:
        """What this token adds to the text; empty while a character is not whole."""
        self._ids.append(token)
        piece = self._open()
        if not piece or piece.endswith(_BROKEN):
            return ""
        self._before, self._shown = self._shown, len(self._ids)
        return piece

    def rest(self) -> str:
        """What was kept back at the end; the bytes of a character that was cut off are dropped."""
        return self._open().rstrip(_BROKEN)

    def _open(self) -> str:
        shown = self._decoded(self._ids[self._before : self._shown])
        return self._decoded(self._ids[self._before :])[len(shown) :]

    def _decoded(self, ids: list[int]) -> str:
        text: str = self._tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return text
