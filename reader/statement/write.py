"""The one way in: question, answer and sentence to a statement, or None where its form is not certain."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .as_subject import as_subject, at_the_end
from .asked import Asked, Kind, asks, is_plain, parsed
from .inflection import has_form, is_noun, parts_of_speech
from .phrase import MOST_WORDS
from .standing import Standing, standing
from .task import Task
from .verify import holds
from .with_be import with_be
from .with_do import with_do, with_modal
from .with_have import with_have
from .words import (
    ARTICLES,
    ASKING,
    BE,
    CLOSED,
    DO,
    HAVE,
    MODAL,
    PRONOUNS,
    Word,
    is_preposition,
    joined,
    words_of,
)

MOST_CHARACTERS = 400  # of a question or an answer
_SENTENCE_INSIDE = re.compile(r"[.!?] [A-Z\"“]|[\n\r]")
_ENDS = re.compile(r"\.[\"'”’)]*$")
_IN_SITU: dict[str, Kind] = {
    "what": "thing",
    "which": "thing",
    "who": "who",
    "when": "time",
    "where": "place",
}


def statement(question: str, answer: str, sentence: str) -> str | None:
    """A declarative sentence that says the answer to the question in the answer's exact words, or None.

    `sentence` is where the answer stands: its article and preposition are taken from there, and it tells
    which of two words is the verb. Only the first letter may differ in case. None where the question's form
    is not one that can be turned for certain, where the answer does not fit it, and for any other text.
    What the question takes for granted is said again: whether it is supported is for the caller to check.

    >>> statement("When did Ada Rook build the mill?", "1811", "Built in 1811, the mill burned in 1871.")
    'Ada Rook built the mill in 1811.'
    >>> statement("Is the mill old?", "yes", "The mill is old.") is None
    True
    """
    question, answer = question.strip(), _without_stop(answer.strip(" \t\n,;:"))
    if not _can_be_read(question, answer):
        return None
    words = words_of(question[:-1])
    if len(words) < 3 or not is_plain(words):
        return None
    stands = standing(answer, sentence)
    seen = frozenset(word.lower for word in words_of(sentence))
    if _is_clause_on(answer, words):
        return None
    text = _turned(words, _fitted(answer, stands), stands, seen)
    if text is None:
        return None
    text = _finished(text)
    return text if holds(text, answer, words) else None


def _is_clause_on(answer: str, question: Sequence[Word]) -> bool:
    """Whether the answer says something of its own about a name of the question."""
    first, *others = words_of(answer)
    named = any(first.core == word.core for word in question if word.is_name and word.lower not in ARTICLES)
    return named and any(has_form(word.core, "VBD") for word in others if word.core.islower())


def _turned(words: Sequence[Word], answer: str, stands: Standing, seen: frozenset[str]) -> str | None:
    """The words of the statement without its stop."""
    if asks(words) == 1 and (asked := _asked_at_the_end(words)) is not None:
        return at_the_end(words, Task(asked, answer, stands, seen))
    asked = parsed(words)
    if asked is None:
        return None
    task = Task(asked, answer, stands, seen)
    if asked.first in BE:
        text = with_be(task)
    elif asked.first in DO:
        text = with_do(task)
    elif asked.first in HAVE:
        text = with_have(task)
    else:
        text = with_modal(task) if asked.first in MODAL else as_subject(task)
    return f"{joined(asked.fronted)} {text}" if text and asked.fronted else text


def _asked_at_the_end(words: Sequence[Word]) -> Asked | None:
    """What the last words of a question ask for, when they are the ones that ask: "in what town"."""
    at = next(at for at, word in enumerate(words) if word.lower in ASKING and not word.quoted)
    if at < 3 or words[at].lower not in _IN_SITU or words[0].lower in PRONOUNS:
        return None
    head = tuple(words[at + 1 :])
    if len(head) == 3 and head[0].lower in ("kind", "type", "sort") and head[1].core == "of":
        head = (*head[2:],)
    if len(head) > 2 or (head and words[at].lower not in ("what", "which")):
        return None
    if any(word.is_name or is_preposition(word) or not _is_thing(word.lower) for word in head):
        return None
    return Asked(_IN_SITU[words[at].lower], (), "", head, "", (*words[:1],))


def _is_thing(word: str) -> bool:
    return is_noun(word) and "ADJ" not in parts_of_speech(word)


def _without_stop(answer: str) -> str:
    """The answer without the stop of its sentence; that of an abbreviation stays."""
    last = answer.split()[-1] if answer.split() else ""
    return answer[:-1] if last.endswith(".") and "." not in last[:-1] and len(last) > 5 else answer


def _fitted(answer: str, stands: Standing) -> str:
    """The answer as it would be inside a sentence: an article is not raised only for opening its own."""
    first = answer.split()[0]
    opened = stands.begins and (first.lower() in CLOSED) and not first.isupper()
    return first.lower() + answer[len(first) :] if opened else answer


def _finished(text: str) -> str:
    """A sentence with its first letter raised and one stop; words such as "iPhone" keep their case."""
    first = text.split()[0]
    raised = text if any(letter.isupper() for letter in first) else text[0].upper() + text[1:]
    return raised if _ENDS.search(raised) else f"{raised}."


def _can_be_read(question: str, answer: str) -> bool:
    """Whether both are short, the question begins and ends as one, and the answer is one piece."""
    if (
        not question.endswith("?")
        or not question[0].isupper()
        or max(len(question), len(answer)) > MOST_CHARACTERS
    ):
        return False
    if not answer or len(answer.split()) > MOST_WORDS or not any(map(str.isalnum, answer)):
        return False
    if answer.endswith(("?", "!")) or _SENTENCE_INSIDE.search(answer) or ";" in answer:
        return False
    pairs = (answer.count("(") == answer.count(")"), answer.count("“") == answer.count("”"))
    return all(pairs) and answer.count('"') % 2 == 0
