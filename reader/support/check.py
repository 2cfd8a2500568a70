"""Whether a written sentence stands on the evidence: words aligned, facts compared exactly, no model.

A sentence is aligned with the few pieces of evidence (sentences of the passages) that hold most of its
content words. Its score is the mean of two shares of these words: those in the best piece, and those in all
of them together. Whatever the score, a sentence is unsupported when they lack a number or name of it, when
one denies what the other affirms, or when it speaks in the first person, exclaims or asks. A piece
repeated word by word is supported whatever it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from .days import days, is_named
from .denial import contradicts, denies
from .names import names
from .numbers import covers, numbers, without_numbers
from .verdict import Failure, Finding, Support, Verdict

SUPPORTED, PARTLY = 0.6, 0.4  # least scores
MOST_PIECES = 3
LEAST_WORDS = 2  # of a statement
LEAST_GAIN = 0.1  # of the words, that one more piece must hold
_OWN_VOICE = re.compile(r"\b(?:I|we|you|my|our|your|me)\b(?!['’]?\w)|\b(?:I|we|you)['’]\w+", re.IGNORECASE)
_QUOTED = re.compile(r"[\"“][^\"“”]*[\"”]")


@dataclass(frozen=True, slots=True)
class Checker:
    """The check: `terms` gives the terms of a text, `content` those of them that carry a meaning."""

    terms: Callable[[str], Sequence[str]]
    content: Callable[[str], Sequence[str]]

    def check(self, sentence: str, evidence: Sequence[str]) -> Support:
        """The verdict on a sentence by pieces of evidence, usually the sentences of its passages."""
        if (quoted := _quoted(sentence, evidence)) is not None:
            return Support(Verdict.SUPPORTED, 1.0, (quoted,))
        asked = [*dict.fromkeys([*self.content(without_numbers(sentence)), *_values(sentence)])]
        held = [self._held(piece) for piece in evidence]
        aligned = _aligned(asked, held)
        if not asked or not aligned:
            return Support(Verdict.UNSUPPORTED, 0.0, (), (_nothing(sentence), *_style(sentence, evidence)))
        best, union = held[aligned[0]], frozenset().union(*(held[at] for at in aligned))
        score = (_share(asked, best) + _share(asked, union)) / 2
        pieces = [evidence[at] for at in aligned]
        findings = (*self._facts(sentence, pieces), *_style(sentence, pieces))
        if findings:
            return Support(Verdict.UNSUPPORTED, score, aligned, findings)
        if len(sentence.split()) < LEAST_WORDS:
            short = Finding(Failure.EXTRINSIC, sentence, "too short to say what the passages say")
            return Support(Verdict.PARTLY, score, aligned, (short,))
        if score >= SUPPORTED:
            return Support(Verdict.SUPPORTED, score, aligned)
        added = self._added(sentence, union)
        verdict = Verdict.PARTLY if score >= PARTLY else Verdict.UNSUPPORTED
        return Support(verdict, score, aligned if verdict == Verdict.PARTLY else (), added)

    def _held(self, piece: str) -> frozenset[str]:
        """The terms and values of a piece, and the decades of its years."""
        values = _values(piece)
        decades = [
            f"{value[:-1]}0s" for value in values if len(value) == len("#1911") and value[1:].isdigit()
        ]
        return frozenset([*self.terms(piece), *values, *decades])

    def _facts(self, sentence: str, pieces: Sequence[str]) -> list[Finding]:
        """Numbers and names that the pieces do not hold, and what is denied on one side only."""
        there = {number.value: number.text for piece in pieces for number in numbers(piece)}
        found = [
            Finding(Failure.FACTUAL, number.text, _other_number(number.text, there.values()))
            for number in numbers(sentence)
            if not any(covers(number.value, value) for value in there)
        ]
        named = [day for piece in pieces for day in days(piece)]
        found += [
            Finding(Failure.FACTUAL, day.text, "the cited words have another date, or none")
            for day in days(sentence)
            if not is_named(day, named)
        ]
        words = {term for piece in pieces for term in self.terms(piece)}
        for name in names(sentence, self._is_common):
            if not set(self.terms(name.text)) <= words:
                found.append(Finding(Failure.EXTRINSIC, name.text, "the cited words do not name it"))
        found += [
            Finding(Failure.FACTUAL, term, "denied on one side, affirmed on the other")
            for term in contradicts(sentence, pieces[0], self.content)
        ]
        cue = denies(sentence)
        if cue and not any(map(denies, pieces)):
            found.append(Finding(Failure.FACTUAL, cue, "the cited words deny nothing"))
        return found

    def _added(self, sentence: str, held: frozenset[str]) -> tuple[Finding, ...]:
        """One finding for the words that no aligned piece holds."""
        new = [word for word in sentence.split() if (terms := self.content(word)) and not set(terms) & held]
        words = " ".join(new)
        return (Finding(Failure.EXTRINSIC, words, "the passages do not say so"),) if new else ()

    def _is_common(self, word: str) -> bool:
        return not self.content(word)


def _aligned(asked: Sequence[str], held: Sequence[frozenset[str]]) -> tuple[int, ...]:
    """The numbers of the pieces that hold most of the words together, best first; ties by place."""
    chosen: list[int] = []
    left = set(asked)
    while left and len(chosen) < MOST_PIECES:
        gains = [len(left & words) for words in held]
        at = max(range(len(held)), key=gains.__getitem__, default=-1)
        if at < 0 or gains[at] == 0 or (chosen and gains[at] < LEAST_GAIN * len(asked)):
            break
        chosen.append(at)
        left -= held[at]
    return tuple(chosen)


def _quoted(sentence: str, evidence: Sequence[str]) -> int | None:
    """The number of the first piece that is the sentence word by word, however its spaces are."""
    plain = sentence.split()
    return next((at for at, piece in enumerate(evidence) if plain and plain == piece.split()), None)


def _nothing(sentence: str) -> Finding:
    return Finding(Failure.EXTRINSIC, sentence, "nothing in the passages is like it")


def _values(text: str) -> list[str]:
    """The numbers and months of a text as terms that no word can be."""
    return [*(f"#{number.value}" for number in numbers(text)), *(f"#month {day.month}" for day in days(text))]


def _share(asked: Sequence[str], held: frozenset[str]) -> float:
    return sum(term in held for term in asked) / len(asked)


def _other_number(text: str, there: Iterable[str]) -> str:
    shown = ", ".join(dict.fromkeys(there))
    return f"the cited words have {shown}" if shown else "the cited words have no number"


def _style(sentence: str, pieces: Sequence[str]) -> list[Finding]:
    """What a report does not do, unless its evidence does: speak of itself, ask."""
    plain = _QUOTED.sub(" ", sentence)
    found = []
    voice = _OWN_VOICE.search(plain)
    if voice and not any(_OWN_VOICE.search(piece) for piece in pieces):
        found.append(Finding(Failure.STYLE, voice[0], "speaks in the first or second person"))
    if plain.rstrip().endswith("!") and not any("!" in piece for piece in pieces):
        found.append(Finding(Failure.STYLE, "!", "exclaims"))
    if plain.rstrip().endswith("?"):
        found.append(Finding(Failure.STYLE, sentence, "asks, and says nothing that could be supported"))
    return found
