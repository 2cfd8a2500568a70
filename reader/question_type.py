"""What kind of answer a question wants: a short span, or the sentences that explain or list.

A rule on the question's first words and its nouns; it never looks at the documents. Kinds: "factoid"
(who, when, where, how many …), "how" (a manner or procedure), "why" (a reason), "list" (several things).
"""

from __future__ import annotations

import re
from typing import Literal

QuestionType = Literal["factoid", "how", "why", "list"]

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
_PLURAL_OF = re.compile(r"^(?:what|which) (?:are|were) (?:all |some of )?(?:the|its|their|these|those) (.+)")


def question_type(question: str) -> QuestionType:
    """The kind of a question.

    >>> [question_type(q) for q in ("Why is it shut?", "How many rooms?", "How do I apply?", "Who built it?")]
    ['why', 'factoid', 'how', 'factoid']
    >>> question_type("What are the three stages of brewing?")
    'list'
    """
    text = " ".join(question.lower().split())
    if _WHY.search(text):
        return "why"
    if _LIST.search(text) or _asks_for_plural(text):
        return "list"
    if _MEASURE.search(text) or not _HOW.search(text):
        return "factoid"
    return "how"


def _asks_for_plural(text: str) -> bool:
    match = _PLURAL_OF.search(text)
    if match is None:
        return False
    head = re.split(r" (?:of|for|in|on|at|that|which|to|by|with|from)\b", match[1])[0].rstrip("?. ")
    return head.endswith("s") and not head.endswith("ss")
