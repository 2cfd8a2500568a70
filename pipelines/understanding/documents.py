"""Questions for all documents that mention something: "which letters mention the flood?".

Such a question names documents in general ("which letters", "all pages", "docs") and what they mention: words
in quotation marks or behind "the word", with a verb of presence anywhere; or else the words behind a verb
that says that documents mention something, or before its passive. A negation, a clause or a second condition
makes it another question.
"""

from __future__ import annotations

import re

from .patterns import pattern, words

NOUN = pattern("documents.noun")
NAMED = pattern("documents.named")
PRESENT = pattern("documents.present")
BEHIND = pattern("documents.behind")
BEFORE = pattern("documents.before")
REJECTED = pattern("documents.rejected")
CLAUSES = frozenset(words("documents.clauses"))
EDGES = frozenset(words("documents.edges"))
ARTICLES = frozenset(words("documents.articles"))
MAX_WORDS = 6  # of what is mentioned


def mentioned_words(question: str) -> str:
    """The words of a question for the documents that mention them; "" for another question.

    >>> mentioned_words("How many letters mention the flood?"), mentioned_words("How many letters are there?")
    ('the flood', '')
    >>> mentioned_words('pages with "batch job"'), mentioned_words("What does the page say about the flood?")
    ('batch job', '')
    """
    if REJECTED.search(question):
        return ""
    named = list(NAMED.finditer(question))
    if len(named) > 1:
        return ""
    for match in named:
        rest = f"{question[: match.start()]} “ {question[match.end() :]}"
        if NOUN.search(rest) and PRESENT.search(rest):
            return match[1] or match[2] or _without_edges(match[3])
    for anchored in (*BEHIND.finditer(question), *BEFORE.finditer(question)):
        start, end = anchored.span(anchored.lastgroup or 0)
        mentioned = _without_edges(question[start:end])
        rest = f"{question[:start]} – {question[end:]}"
        parts = re.split(r"[\s/]+", mentioned.lower())
        if mentioned and len(parts) <= MAX_WORDS and CLAUSES.isdisjoint(parts) and NOUN.search(rest):
            return mentioned
    return ""


def is_quoted(words: str, question: str) -> bool:
    """True if the words stand in quotation marks.

    >>> is_quoted("the flood", "Which letters mention “the flood”?"), is_quoted("", "")
    (True, False)
    """
    return bool(words) and any(words == named[1] or words == named[2] for named in NAMED.finditer(question))


def _without_edges(text: str) -> str:
    """The words without those at either end that are none of what is mentioned; an article stays."""
    parts = text.strip(" \t\n.,;:?!\"'“”„«»()").split()
    while parts and parts[-1].lower().strip(".,?!") in EDGES | ARTICLES:
        parts.pop()
    while parts and parts[0].lower() in EDGES - ARTICLES:
        parts.pop(0)
    return " ".join(parts).strip(" .,;:?!")
