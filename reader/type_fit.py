"""Whether an answer looks like what the question asks for: a name for who, a figure for when and how many.

Rules on letters and digits alone. They leave out what only understanding could tell, and say nothing of
questions whose answers have no form of their own (what, where, why).
"""

from __future__ import annotations

import re

_ASKS_NAME = re.compile(r"\bwho(?:m|se)?\b", re.IGNORECASE)
_ASKS_FIGURE = re.compile(
    r"\bwhen\b|\bhow (?:many|much|long|old|far|tall|high|deep|big|large|wide|fast|often)\b"
    r"|\b(?:what|which) (?:year|date|day|month|century|decade|percentage|percent|number|age)\b",
    re.IGNORECASE,
)
_NUMBER_WORD = re.compile(
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred"
    r"|thousand|million|billion|half|third|quarter|dozen|once|twice|no|none|several|monday|tuesday|wednesday"
    r"|thursday|friday|saturday|sunday|january|february|march|april|may|june|july|august|september|october"
    r"|november|december|spring|summer|autumn|winter|daily|weekly|monthly|yearly|annually|century)\b",
    re.IGNORECASE,
)


def type_fit(question: str, answer: str) -> float:
    """1.0 when the answer has the form asked for, -1.0 when it has not, 0.0 when none is expected.

    >>> [type_fit("Who built it?", text) for text in ("Ada Rook", "in the old mill")]
    [1.0, -1.0]
    >>> type_fit("When was it built?", "1811"), type_fit("What was built?", "a mill")
    (1.0, 0.0)
    """
    if _ASKS_FIGURE.search(question):
        return 1.0 if any(c.isdigit() for c in answer) or _NUMBER_WORD.search(answer) else -1.0
    if _ASKS_NAME.search(question):
        return 1.0 if any(c.isupper() for c in answer) else -1.0
    return 0.0
