"""Questions that are typed in small letters, and without their mark, as people would write them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .words import ASKING, Word, words_of

_ENDS_SENTENCE = (".", "!", "?", ":")
_POSSESSIVE = ("'s", "’s")


def as_written(question: str, evidence: Sequence[str]) -> str:
    """The question with its first letter raised, its names as the evidence has them, and its mark.

    One that has a capital anywhere is returned as it stands. A word is a name when the evidence raises it
    inside a sentence and never has it in small letters, or raises it together with the word beside it.

    >>> as_written("who built the weir bridge", ["The bridge", "Ada Rook built the Weir Bridge in Ely."])
    'Who built the Weir Bridge?'
    """
    words = question.split()
    if not words or any(letter.isupper() for letter in question):
        return question
    alone, together = _names(evidence)
    plain = [_bare(word) for word in words_of(question)]
    raised: dict[int, str] = {at: alone[word] for at, word in enumerate(plain) if word in alone}
    for at in range(len(plain) - 1):
        if (pair := together.get((plain[at], plain[at + 1]))) is not None:
            raised |= {at: pair[0], at + 1: pair[1]}
    for at, name in raised.items():
        words[at] = words[at].replace(plain[at], name, 1)
    text = " ".join(words)
    text = text[0].upper() + text[1:]
    return f"{text}?" if not ASKING.isdisjoint(plain[:2]) and text[-1].isalnum() else text


def _names(evidence: Iterable[str]) -> tuple[dict[str, str], dict[tuple[str, str], tuple[str, str]]]:
    """From small letters to names as they stand: of single words, and of two that stand together."""
    alone: dict[str, str] = {}
    together: dict[tuple[str, str], tuple[str, str]] = {}
    small: set[str] = set()
    for piece in evidence:
        before, opens = "", True
        for word in words_of(piece):
            core = _bare(word)
            is_raised = any(letter.isupper() for letter in core)
            if not is_raised:
                small.add(core)
            elif not opens:
                alone.setdefault(core.lower(), core)
            if is_raised and before:
                together.setdefault((before.lower(), core.lower()), (before, core))
            before = core if is_raised and not opens and not word.ends_part else ""
            opens = word.text.endswith(_ENDS_SENTENCE)
    return {key: name for key, name in alone.items() if key not in small}, together


def _bare(word: Word) -> str:
    """A word without the stop behind it, and without its possessive ending."""
    core = word.core.rstrip(".!?:")
    return next((core.removesuffix(end) for end in _POSSESSIVE if core.endswith(end)), core)
