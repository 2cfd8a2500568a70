"""The form of an answer: the kind that a question wants, and the sentences or the list around a short span.

A rule on the question's first words and its nouns; it never looks at the documents. Kinds: "factoid"
(who, when, where, how many …), "how" (a manner or procedure), "why" (a reason), "list" (several things),
"definition" (what something is), "yes-no" (whether something is so).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
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


SentenceSpan = tuple[int, int]

MAX_LIST_CHARACTERS = 1200
MIN_EXPLANATION_WORDS = 12
_ITEM = re.compile(r"\s*(?:[-*+•‣–]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])\s+\S")


def enclosing_sentences(sentences: Sequence[SentenceSpan], start: int, end: int) -> SentenceSpan:
    """The half-open range of the sentences that [start, end) touches; the span itself where there are none.

    >>> enclosing_sentences([(0, 10), (11, 20)], 12, 14)
    (11, 20)
    """
    touched = [s for s in sentences if s[0] < end and s[1] > start]
    if not touched:
        return start, end
    return min(start, touched[0][0]), max(end, touched[-1][1])


def with_explanation(text: str, sentences: Sequence[SentenceSpan], span: SentenceSpan) -> SentenceSpan:
    """The span, with the sentence after it where the span is too short to explain anything by itself.

    "The reason lies in the mud." announces an explanation; what it announces stands in the next sentence
    of the same paragraph. Short means fewer than MIN_EXPLANATION_WORDS words.

    >>> text = "The cause is plain. The ward was shut."
    >>> with_explanation(text, [(0, 19), (20, 38)], (0, 19))
    (0, 38)
    """
    start, end = span
    following = next((s for s in sentences if s[0] >= end), None)
    short = len(text[start:end].split()) < MIN_EXPLANATION_WORDS
    if following is None or not short or "\n\n" in text[end : following[0]]:
        return span
    return start, following[1]


def enclosing_list(text: str, start: int, end: int) -> SentenceSpan | None:
    """The list that [start, end) belongs to, with the line that announces it, or None.

    A list is a run of lines that begin as items do ("- ", "1. ", "a) "), continuation lines and blank
    lines between items included; the announcing line is one that ends in a colon. Cut at whole items
    so that it stays within MAX_LIST_CHARACTERS.
    """
    lines = _lines(text)
    at = next((i for i, (s, e) in enumerate(lines) if s <= start < max(e, s + 1)), None)
    if at is None:
        return None
    announced = _announces(text, lines[at])
    first = _next_filled(text, lines, at + 1) if announced else _first_item(text, lines, at)
    if first is None or not _is_item(text, lines[first]):
        return None
    before = at if announced else _previous_filled(text, lines, first - 1)
    lead = before if before is not None and _announces(text, lines[before]) else first
    last = _last_item(text, lines, first, lines[lead][0] + MAX_LIST_CHARACTERS)
    if last <= first and lead == first:
        return None
    stop = lines[last][1]
    return lines[lead][0], lines[lead][0] + len(text[lines[lead][0] : stop].rstrip())


def _lines(text: str) -> list[tuple[int, int]]:
    spans, at = [], 0
    for line in text.split("\n"):
        spans.append((at, at + len(line)))
        at += len(line) + 1
    return spans


def _announces(text: str, line: tuple[int, int]) -> bool:
    return text[slice(*line)].rstrip().endswith(":")


def _is_item(text: str, line: tuple[int, int]) -> bool:
    return _ITEM.match(text[slice(*line)]) is not None


def _is_continuation(text: str, line: tuple[int, int]) -> bool:
    return text[line[0] : line[1]][:1] in (" ", "\t")


def _first_item(text: str, lines: Sequence[tuple[int, int]], at: int) -> int | None:
    """The first item of the run of items that line `at` belongs to."""
    first = None
    i = at
    while i >= 0:
        if _is_item(text, lines[i]):
            first = i
        elif text[slice(*lines[i])].strip() and not _is_continuation(text, lines[i]):
            break
        i -= 1
    return first


def _last_item(text: str, lines: Sequence[tuple[int, int]], first: int, limit: int) -> int:
    """The last line of the run of items that starts at `first`, ending before offset `limit`."""
    last = first
    for i in range(first + 1, len(lines)):
        filled = text[slice(*lines[i])].strip()
        if lines[i][1] > limit or (
            filled and not (_is_item(text, lines[i]) or _is_continuation(text, lines[i]))
        ):
            break
        if filled:
            last = i
    return last


def _next_filled(text: str, lines: Sequence[tuple[int, int]], at: int) -> int | None:
    return next((i for i in range(at, len(lines)) if text[slice(*lines[i])].strip()), None)


def _previous_filled(text: str, lines: Sequence[tuple[int, int]], at: int) -> int | None:
    return next((i for i in range(at, -1, -1) if text[slice(*lines[i])].strip()), None)
