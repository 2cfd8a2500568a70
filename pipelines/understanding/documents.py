"""Questions for all documents that mention something: "which letters mention the flood?".

Such a question names documents in general ("which letters", "all pages", "docs"), says that they mention, and
has one run of other words, which are what is mentioned. Words that request, count or fill may stand anywhere
else. A run that is a clause, or a second run, makes it another question.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ...index.analysis import STOP_WORDS
from .patterns import pattern, words

NOUNS = frozenset(words("documents.nouns"))
GENERAL = frozenset(words("documents.general"))
REQUESTS = frozenset(words("documents.requests"))
MENTIONED = frozenset(words("documents.mentioned"))
MENTIONING = MENTIONED | frozenset(words("documents.mentioning"))
WITH = frozenset(words("documents.with"))
CLAUSES = frozenset(words("documents.clauses"))
FILLING = REQUESTS | GENERAL | STOP_WORDS | frozenset(words("documents.filling"))
REJECTED = pattern("documents.rejected")
ARTICLES = ("the", "a", "an")
DETERMINERS = frozenset(words("documents.determiners"))
WORD = re.compile(r"[\"“„«](?P<quoted>[^\"“”„«»]{1,200})[\"”“»]|[^\W_](?:[\w'’./+#-]*[\w+#])?|[;:–-](?=\s)")
MAX_WORDS = 6  # of what is mentioned
MAX_MODIFIERS = 1  # words between "which" and the name for documents


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a question, or several in quotation marks.

    start, end: its place.
    word: in lower case; empty for a quote.
    quoted: the words in quotation marks, or "".
    """

    start: int
    end: int
    word: str
    quoted: str


def mentioned_words(question: str) -> str:
    """The words of a question for the documents that mention them; "" for another question.

    >>> mentioned_words("How many letters mention the flood?"), mentioned_words("How many letters are there?")
    ('the flood', '')
    >>> mentioned_words('pages with "batch job"'), mentioned_words("What does the page say about the flood?")
    ('batch job', '')
    """
    if REJECTED.search(question):
        return ""
    tokens = [
        Token(match.start(), match.end(), "" if match["quoted"] else match[0].lower(), match["quoted"] or "")
        for match in WORD.finditer(question)
    ]
    for place, token in enumerate(tokens):
        first = _first_of_phrase(tokens, place) if token.word in NOUNS else None
        if first is not None:
            rest = [*tokens[:first], *tokens[place + 1 :]]
            runs = [run for run in (_trimmed(tokens[:first]), _trimmed(tokens[place + 1 :])) if run]
            has_them = any(token.word in WITH for token in tokens[place + 1 : place + 2])
            if len(runs) == 1 and (has_them or _says_mention(rest, runs[0])):
                return _mentioned(question, runs[0])
            return ""
    is_where = bool(tokens) and tokens[0].word == "where" and tokens[-1].word in MENTIONED
    return _mentioned(question, _trimmed(tokens)) if is_where else ""


def _first_of_phrase(tokens: Sequence[Token], place: int) -> int | None:
    """The place of the word that makes documents general, such as "which"; None for certain documents."""
    first = place
    n_modifiers = 0
    while first and n_modifiers <= MAX_MODIFIERS:
        word = tokens[first - 1].word
        if word in GENERAL:
            while first and tokens[first - 1].word in GENERAL | DETERMINERS:
                first -= 1
            return first
        n_modifiers += word not in DETERMINERS
        first -= 1
    is_general = tokens[place].word.endswith("s") and tokens[0].word not in DETERMINERS
    return 0 if first == 0 and n_modifiers <= MAX_MODIFIERS and is_general else None


def _trimmed(tokens: Sequence[Token]) -> Sequence[Token]:
    """The tokens without those that request, mention or fill at either end."""
    content = [place for place, token in enumerate(tokens) if token.word not in FILLING | MENTIONING]
    if not content:
        return ()
    first = content[0]
    has_article = first > 0 and tokens[first - 1].word in ARTICLES
    return tokens[first - has_article : content[-1] + 1]


def _says_mention(tokens: Sequence[Token], run: Sequence[Token]) -> bool:
    """True if a word outside of the run says that documents mention something."""
    return any(token.word in MENTIONING for token in tokens if token not in run)


def _mentioned(question: str, run: Sequence[Token]) -> str:
    """The words of a run; "" for a clause, and for too many words."""
    if len(run) == 1 and run[0].quoted:
        return run[0].quoted
    is_clause = any(token.word in CLAUSES or not token.word for token in run)
    return "" if is_clause or len(run) > MAX_WORDS else question[run[0].start : run[-1].end]
