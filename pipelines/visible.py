"""Text from documents as it may be shown: nothing in it can move, hide or reorder what stands around it."""

from __future__ import annotations

import unicodedata


def visible(text: str) -> str:
    """The text with control and bidirectional characters made visible.

    >>> visible("a\\x1b[31mb"), visible("a\\u202eb")
    ('a␛[31mb', 'a<U+202E>b')
    """
    return text if text.isascii() and text.isprintable() else "".join(map(_visible_character, text))


def _visible_character(c: str) -> str:
    if c in "\n\t":
        return c
    if ord(c) < 32:
        return chr(0x2400 + ord(c))
    if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn"):
        return f"<U+{ord(c):04X}>"
    return c
