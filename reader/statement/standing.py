"""How the answer stands in its sentence: the words in front of it decide its article and its preposition."""

from __future__ import annotations

from dataclasses import dataclass

from .inflection import has_form, is_base, is_noun, is_only_adjective, is_plural, parts_of_speech
from .words import ARTICLES, CLOSED, POSSESSIVES, Word, is_preposition, words_of

_REACH = 3  # words between an article and the answer


@dataclass(frozen=True, slots=True)
class Standing:
    """The article that belongs to the answer and the preposition before both, each empty where there is none.

    `cut` is true where the answer is only a part of a longer noun phrase; `followed` is the noun that goes on
    behind it, when that is all that is missing.
    """

    article: str
    preposition: str
    cut: bool
    begins: bool
    followed: str = ""


def standing(answer: str, sentence: str) -> Standing:
    """How the first occurrence of the answer stands in the sentence; nothing is before one that is not there.

    >>> standing("Tiber", "It lies on the Tiber.")
    Standing(article='the', preposition='on', cut=False, begins=False, followed='')
    """
    at = _place(answer, sentence)
    if at < 0:
        return Standing("", "", False, False)
    before = words_of(sentence[:at])
    article, cut = _article(answer, before)
    if article:
        del before[-1 - cut :]
        cut = 0
    elif before and before[-1].lower in POSSESSIVES:
        return Standing("", "", True, False)
    last = before[-1] if before else None
    preposition = last.lower if last is not None and _leads(last) else ""
    return Standing(article, preposition, cut > 0, at == 0, _followed(answer, sentence[at + len(answer) :]))


def _followed(answer: str, behind: str) -> str:
    """The word behind the answer when it belongs to the same noun phrase: a noun, or more of a name."""
    if not behind.startswith((" ", "-")):
        return ""
    word = next(iter(words_of(behind)), None)
    if word is None or not word.text[0].isalpha():
        return ""
    core = word.core.rstrip(".?!")
    if core[:1].isupper() and core.isalpha():
        return core
    if not is_noun(core) or core in CLOSED or "ADJ" in parts_of_speech(core):
        return ""
    last = answer.split()[-1]
    described = "ADJ" in parts_of_speech(last) or answer.istitle()
    verb = has_form(core, "VBD") or (has_form(core, "VBZ") and not described)
    return "" if verb or (is_base(core) and is_plural(last)) else core


def _leads(word: Word) -> bool:
    return not word.ends_part and (is_preposition(word) or word.lower in ("in", "on", "at", "because"))


def _place(answer: str, sentence: str) -> int:
    """Where the answer stands as whole words, or -1."""
    at = sentence.find(answer)
    while at >= 0:
        end = at + len(answer)
        inside = (at > 0 and sentence[at - 1].isalnum()) or (end < len(sentence) and sentence[end].isalnum())
        if not inside:
            return at
        at = sentence.find(answer, at + 1)
    return -1


def _article(answer: str, before: list[Word]) -> tuple[str, int]:
    """The article of an answer, and how many words stand between both; ("", n) where there is none.

    Only adjectives may stand between, and only before an answer that is no name. n is not 0 where the
    word before the answer can be a part of the same noun phrase.
    """
    if not before:
        return "", 0
    if before[-1].lower in ARTICLES and not before[-1].ends_part:
        return before[-1].lower, 0
    if answer[0].isupper() or before[-1].ends_part or answer.split()[0].lower() in ARTICLES:
        return "", 0
    between = 0
    for word in reversed(before[-_REACH:]):
        if word.lower in ARTICLES:
            return _fitting(word.lower, answer), between
        described = word.core.islower() and word.core not in CLOSED and is_only_adjective(word.core)
        if word.ends_part or not described:
            break
        between += 1
    return "", between


def _fitting(article: str, answer: str) -> str:
    """The article in the form that the first letter of the answer asks for."""
    if article == "the":
        return article
    return "an" if answer[0] in "aeio" else "a"
