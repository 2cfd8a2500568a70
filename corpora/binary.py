"""Is it text? Told from the bytes alone, for files whose name says nothing.

Text in any encoding of one or two bytes a letter holds next to no control characters; what programs write
for programs holds many. UTF-16 without a byte order mark is text whose every second byte is mostly NUL.
"""

from __future__ import annotations

import unicodedata

LOOKED_AT = 1 << 18  # bytes
# Bytes that no text needs: all controls but white space, backspace and escape.
CONTROLS = bytes(sorted({*range(32), 127} - {*b"\t\n\v\f\r\b\x1b"}))
MAX_CONTROLS = 0.005  # of all bytes; compressed data has a tenth
MARKS = (b"\xff\xfe", b"\xfe\xff")  # of UTF-16
SHORTEST_UTF16 = 16  # code units
MAX_ODD = 0.02  # of the code units of UTF-16: controls, private and unassigned ones
MIN_SPACES = 0.005  # of the code units: white space and the stops of Chinese and Japanese
SPACES = frozenset(" \t\n\r\u3000\u3001\u3002")


def is_binary(data: bytes) -> bool:
    """True when too many of the first bytes are controls, and the file is no UTF-16.

    >>> is_binary(b"words"), is_binary(bytes(range(32)))
    (False, True)
    """
    head = data[:LOOKED_AT]
    n_controls = len(head) - len(head.translate(None, CONTROLS))
    if n_controls <= MAX_CONTROLS * len(head):
        return False
    return not head.startswith(MARKS) and unmarked_utf16(data) is None


def unmarked_utf16(data: bytes) -> str | None:
    """The byte order of UTF-16 text that has no mark for it, None for anything else.

    >>> unmarked_utf16("A mill by the river.".encode("utf-16-be"))
    'utf-16-be'
    """
    head = data[:LOOKED_AT]
    if len(data) % 2 or len(head) < 2 * SHORTEST_UTF16 or b"\0" not in head:
        return None
    # Spaces and line ends have NUL for their high byte in every script.
    high_nul = {"utf-16-be": head[0::2].count(0), "utf-16-le": head[1::2].count(0)}
    likeliest = max(high_nul, key=high_nul.__getitem__)
    return likeliest if _reads_as(head, likeliest) else None


def _reads_as(head: bytes, order: str) -> bool:
    """True when the bytes make text of assigned characters with spaces in it, and no NUL."""
    text = head.decode(order, errors="replace")
    if "\0" in text:
        return False
    odd = sum(unicodedata.category(character)[0] == "C" and character not in SPACES for character in text)
    odd += text.count("\ufffd")
    return odd <= MAX_ODD * len(text) and sum(map(SPACES.__contains__, text)) > MIN_SPACES * len(text)
