"""Addresses and markup in a written text that no source holds: taken out before anybody can follow them.

A picture or link in a text that is shown can carry its words to whoever runs the address it names. What a
source holds word for word may stay: then it is a quote.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

REMOVED = "[…]"
_ADDRESS = re.compile(
    r"!?\[[^\[\]\n]{0,200}\]\([^()\s]{1,2000}\)"  # a picture or link of Markdown
    r"|(?:https?|ftp|file|data|javascript|mailto):[^\s<>()\[\]\"'`]{2,2000}"
    r"|\bwww\.[^\s<>()\[\]\"'`]{2,2000}"
    r"|</?[A-Za-z!][^<>]{0,2000}>"  # a tag of HTML, or a comment
    r"|<\|[a-z_]{2,30}\|>"  # a control token of chats
    r"|<<<(?:end of )?document\b[^\n]{0,300}",  # the lines that part documents in a prompt
    re.IGNORECASE,
)


def without_foreign_markup(text: str, sources: Sequence[str]) -> tuple[str, int]:
    """The text with REMOVED for each address, link, picture or tag that no source holds, and how many.

    >>> without_foreign_markup("See https://a.example and <b>this</b>.", ["It is https://a.example there."])
    ('See https://a.example and […]this[…].', 2)
    """
    removed = 0

    def kept(match: re.Match[str]) -> str:
        nonlocal removed
        if any(match[0].rstrip(".,;:!?") in source for source in sources):
            return match[0]
        removed += 1
        return REMOVED

    return _ADDRESS.sub(kept, text), removed
