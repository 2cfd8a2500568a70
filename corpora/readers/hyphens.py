"""Words that a printed line broke in two, made whole again before the text is stored.

A PDF does not say whether the hyphen at a line end belongs to the word. The document's own vocabulary
decides: "co-\\noperate" keeps its hyphen if "co-operate" stands somewhere else in it and "cooperate" does
not. A word seen in neither form loses the hyphen, which is right for most of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

WORD = re.compile(r"[^\W\d_][\w-]*")
PAGE_END = "\f"
# Head, hyphen, end of line or page, tail in small letters, what sticks to the tail, and the space after it.
BROKEN = re.compile(rf"([^\W\d_]{{2,40}})-([\n{PAGE_END}])([^\W\d_]{{2,40}})(\S{{0,9}})[ \t]?(\n?)")


def rejoin(pages: Iterable[str]) -> list[str]:
    """The pages with broken words moved whole to the line, or page, on which they began.

    No page may hold a form feed.
    """
    text = PAGE_END.join(pages)
    words = {word.lower() for word in WORD.findall(text)}

    def whole(match: re.Match[str]) -> str:
        head, end, tail, rest, _ = match.groups()
        if not tail.islower():
            return match[0]
        hyphenated, joined = f"{head}-{tail}", f"{head}{tail}"
        keep = hyphenated.lower() in words and joined.lower() not in words
        return f"{hyphenated if keep else joined}{rest}{end}"

    return BROKEN.sub(whole, text).split(PAGE_END)
