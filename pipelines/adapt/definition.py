"""A sentence that says what something is, as a question: "A weir is a low dam" answers "What is a weir?"."""

from __future__ import annotations

from ...index.analysis.stop_words import ENGLISH

LONGEST = 400  # characters of a sentence
_VERBS, _ARTICLES = ("is", "are"), ("a", "an", "the")
_MOST_WORDS = 6  # before the verb
_INSIDE = set(',;:.!?()[]{}|*_`"“”#<>=/\\')


def definition(sentence: str) -> str | None:
    """The question, or None when the sentence does not begin "[A] X is a …".

    >>> definition("A weir is a low dam across a river."), definition("It is a low dam.")
    ('What is a weir?', None)
    """
    words = sentence[:LONGEST].split()
    at = next((i for i, word in enumerate(words[1 : _MOST_WORDS + 1], 1) if word in _VERBS), None)
    if at is None or words[at + 1 : at + 2] == [] or words[at + 1] not in _ARTICLES:
        return None
    article = [words[0].lower()] if words[0].lower() in _ARTICLES else []
    subject = words[len(article) : at]
    if not subject or any(word.lower() in ENGLISH for word in (subject[0], subject[-1])):
        return None
    named = " ".join([*article, *subject])
    if _INSIDE.intersection(named) or not any(c.isalpha() for c in named):
        return None
    return f"What {words[at]} {named}?"
