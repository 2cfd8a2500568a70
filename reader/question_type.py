"""The kind of answer that a question wants, and whether an answer has the form of it.

A rule on the question's first words and its nouns; it never looks at the documents. Kinds: "factoid"
(who, when, where, how many …), "how" (a manner or procedure), "why" (a reason), "list" (several things),
"definition" (what something is), "yes-no" (whether something is so).
"""

from __future__ import annotations

import re
from typing import Literal

QuestionType = Literal["factoid", "how", "why", "list", "definition", "yes-no"]

MEASURES = (
    "many|much|long|old|far|tall|high|deep|big|large|wide|fast|often|heavy|frequently|soon|late|early|hot|cold"
    "|strong|thick|likely|common"
)
_WHY = re.compile(
    r"\b(?:why|how come|what for|for (?:what|which) reason|what (?:caused|causes|led to|motivates|motivated)"
    r"|what (?:is|was|are|were) the (?:reason|reasons|cause|causes|purpose|motivation|rationale))\b"
)
_MEASURE = re.compile(rf"\bhow (?:{MEASURES})\b")
_HOW = re.compile(r"\b(?:how|in what (?:way|manner)|by what (?:means|method)|what (?:happens|should|must))\b")
_LIST = re.compile(
    r"^(?:list|name|enumerate) (?:all|the|some|both|two|three|four|five)\b"
    r"|\b(?:what|which) (?:two|three|four|five|six|seven|eight|nine|ten|kinds|types|sorts|steps|things|items"
    r"|stages|rules|conditions|reasons|ways)\b"
)
_TERM = (  # a word that can be part of what is to be defined
    r"(?!(?:the|an?|some|other|this|that|these|those|your|my|their|its|about|at|by|called|for|from|in|like|made|of|on"
    r"|to|used|with)\b)[\w+#./'\"-]+"
)
_DEFINITION = re.compile(
    r"^define\b|\bwhat (?:do|does|did) .+ mean(?: by .+)?\s*\??$"
    r"|\bwhat (?:is|are|was|were) (?:meant by|(?:the|a) (?:meaning|definition) of)\b"
    rf"|^what(?: is| are|'s) (?:an? )?{_TERM}(?: {_TERM}){{0,2}}\s*\?*$"
)
_YES_NO = re.compile(
    r"^(?:is|are|was|were|do|does|did|can|could|will|would|shall|should|may|might|must|has|have|had)(?:n't)? "
    r"(?!.*\bor\b)"
)
_PLURAL_OF = re.compile(r"^(?:what|which) (?:are|were) (?:all |some of )?(?:the|its|their|these|those) (.+)")
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


def question_type(question: str) -> QuestionType:
    """The kind of a question.

    >>> [question_type(q) for q in ("Why is it shut?", "How many rooms?", "How do I apply?", "Who built it?")]
    ['why', 'factoid', 'how', 'factoid']
    >>> [question_type(q) for q in ("What are the three stages of brewing?", "What is a tun?", "Is it old?")]
    ['list', 'definition', 'yes-no']
    """
    text = " ".join(question.lower().split())
    if _WHY.search(text):
        return "why"
    if _LIST.search(text) or _asks_for_plural(text):
        return "list"
    if _DEFINITION.search(text):
        return "definition"
    if _YES_NO.search(text):
        return "yes-no"
    if _MEASURE.search(text) or not _HOW.search(text):
        return "factoid"
    return "how"


def _asks_for_plural(text: str) -> bool:
    match = _PLURAL_OF.search(text)
    if match is None:
        return False
    head = re.split(r" (?:of|for|in|on|at|that|which|to|by|with|from)\b", match[1])[0].rstrip("?. ")
    return head.endswith("s") and not head.endswith("ss")


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
