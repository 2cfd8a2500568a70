"""How deep a JSON text is nested, told without parsing it: a parser that recurses may end with the stack."""

from __future__ import annotations

import re

MOST_DEPTH = 32

_STRING_OR_BRACKET = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)


def is_deeper(body: bytes, most: int) -> bool:
    """Whether objects and arrays stand more than `most` deep in one another.

    Brackets in strings do not count. A text that is no JSON may be called either; a parser refuses it.

    >>> is_deeper(b'[[["]]]"]]]', 3), is_deeper(b'[[[1]]]', 2)
    (False, True)
    """
    if body.count(b"[") + body.count(b"{") <= most:
        return False
    depth = 0
    for found in _STRING_OR_BRACKET.finditer(body):
        first = found[0][:1]
        if first in (b"[", b"{"):
            depth += 1
            if depth > most:
                return True
        elif first in (b"]", b"}"):
            depth -= 1
    return False
