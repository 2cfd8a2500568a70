"""What cannot stand alone: headings, rows, code, crumbs of lists, and sentences that lean on the one before.

Rules for English text and Markdown, nothing learnt. A summary takes sentences out of their place, so that
"However, it fell again." says little there, and a heading nothing.
"""

from __future__ import annotations

import re

WHOLE, LEANING, FRAGMENT = 1.0, 0.7, 0.2
FEWEST_WORDS = 6  # a sentence of fewer words is a crumb

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_HEADING_LINE = re.compile(r"#{1,6}\s|[=\-*_]{3,}\s*\Z")
_TABLE_ROW = re.compile(r"\s*\||.*(?: \| .*\||\t.*\t| \| )", re.DOTALL)
_CODE_LINE = re.compile(
    r"\s*(?:```|~~~|>>>|\$ |[{}\[\]();]+\s*\Z)|.*(?:[;{}]\s*\Z|\w\(\)\s*\Z|[=!]=|->|:=|</\w)", re.DOTALL
)
_ENDS_IN_STOP = re.compile(r".*[.!?…。！？｡।॥؟۔։][\"'”’»)\]」』）】*_`]*(?:\[\w{1,3}\])*\s*\Z", re.DOTALL)
_OPENING_MARKS = re.compile(r"\s*(?:[-*+•▪◦‣·●■>]\s+|\(?\w{1,3}[.)]\s+|[\"'“‘«(\[*_]+)*")
_OPENS = frozenset(
    """also although and because besides but consequently conversely furthermore hence however instead
    likewise meanwhile moreover nevertheless nonetheless nor or otherwise similarly so still then therefore
    though thus yet he her hers him his it its she their them these they this those that such""".split()
)
_POINTS_FORWARD = re.compile(
    r"it (?:is|was|has been|seems?|appears?|follows|takes?|took) (?:\w+ ){0,3}(?:that|to|who|whether)\b",
    re.IGNORECASE,
)


def wholeness(sentence: str) -> float:
    """WHOLE, LEANING or FRAGMENT: the factor that the score of a sentence is multiplied by.

    FRAGMENT: no word or fewer than FEWEST_WORDS, a heading, a row of a table, a line of code, or no stop at
    its end. LEANING: its first word, behind marks of lists and quotations, is a pronoun or a connective that
    points to what was said before; "it is known that" and its kind point forward, and are whole.

    >>> wholeness("The mill on the river burnt down in May.")
    1.0
    >>> wholeness("However, it was built again in 1811.")
    0.7
    >>> wholeness("## The mill on the river and its past")
    0.2
    """
    if _is_fragment(sentence):
        return FRAGMENT
    opening = sentence[_OPENING_MARKS.match(sentence).end() :]  # type: ignore[union-attr]  # it matches nothing, too
    first = _WORD.match(opening)
    leans = first is not None and first[0].lower() in _OPENS and not _POINTS_FORWARD.match(opening)
    return LEANING if leans else WHOLE


def _is_fragment(sentence: str) -> bool:
    unspaced = not sentence.isascii() and len(sentence) >= 3 * FEWEST_WORDS  # Chinese has no spaces to count
    if len(_WORD.findall(sentence)) < FEWEST_WORDS and not unspaced:
        return True
    if _HEADING_LINE.match(sentence) or _TABLE_ROW.match(sentence) or _CODE_LINE.match(sentence):
        return True
    return not _ENDS_IN_STOP.match(sentence)
