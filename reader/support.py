"""Checks without a model whether evidence supports a generated sentence.

A sentence is aligned with up to three pieces of evidence (sentences of the passages) that hold most of its
content words. Its score is the mean of two shares of these words: those in the best piece, and those in all
aligned pieces. Whatever the score, a sentence is unsupported if the pieces lack its numbers, names or
addresses. It is also unsupported if one side denies what the other affirms. The same holds for a single word,
for the first or second person, for exclamations and for questions. A piece that is repeated word by word is
always supported.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from spanwise.types import Finding

from ..eval.quantities import Value, covered_values, values_in, without_values

MIN_SUPPORTED = 0.8  # score; most sentences of a small model below it are wrong
MIN_BEST = 2 / 3  # share of the words in one piece; below it, a sentence mixes unrelated pieces
MAX_PIECES = 3
MIN_WORDS = 2  # of a sentence
MIN_GAIN = 0.1  # share of the words that each further piece must add
NEGATION_REACH = 3  # content words after a negation that it denies

_OWN_VOICE = re.compile(r"\b(?:I|we|you|my|our|your|me)\b(?!['’]?\w)|\b(?:I|we|you)['’]\w+", re.IGNORECASE)
_QUOTED = re.compile(r"[\"“][^\"“”]*[\"”]")
_ADDRESS = re.compile(
    r"!?\[[^\[\]\n]{0,200}\]\([^()\s]{1,2000}\)"  # a picture or link of Markdown
    r"|(?:https?|ftp|file|data|javascript|mailto):[^\s<>()\[\]\"'`]{2,2000}"
    r"|\bwww\.[^\s<>()\[\]\"'`]{2,2000}"
    r"|</?[A-Za-z!][^<>]{0,2000}>",  # a tag of HTML, or a comment
    re.IGNORECASE,
)
WORD = re.compile(r"[^\W_]+(?:[.'’&-][^\W_]+)*")
NEGATION = re.compile(
    r"\b(?:not(?! only\b)|never|no|none|nobody|nothing|neither|nor|without|cannot|hardly|barely|rarely|"
    r"seldom|unable|fails?|failed|lacks?|lacked|refused?|refuses|denied|denies|\w+n['’]t)\b",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[.;:!?,()]|\b(?:but|although|though|while|whereas|because)\b", re.IGNORECASE)
Terms = Callable[[str], Sequence[str]]
Term = str | Value


@dataclass(frozen=True, slots=True)
class Support:
    """How well evidence supports a sentence.

    score: 0..1.
    aligned: the numbers of the aligned pieces of evidence, best first.
    findings: the reasons why the sentence is not supported.
    """

    score: float
    aligned: tuple[int, ...]
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Checker:
    """Checks sentences against evidence.

    terms: gives the terms of a text.
    content: gives its content terms, without stop words.
    """

    terms: Terms
    content: Terms

    def check(self, sentence: str, evidence: Sequence[str]) -> Support:
        """The support of a sentence by pieces of evidence, usually sentences of passages."""
        plain = sentence.split()
        for number, piece in enumerate(evidence):
            if plain and plain == piece.split():
                return Support(1.0, (number,))
        words: list[Term] = [*dict.fromkeys(self.content(without_values(sentence))), *values_in(sentence)]
        held = [self._held(piece) for piece in evidence]
        aligned = _aligned(words, held)
        if not words or not aligned:
            nothing = Finding("extrinsic", sentence, "the passages have none of its words")
            return Support(0.0, (), (nothing, *_style(sentence, evidence)))
        best = held[aligned[0]]
        union = frozenset(chain.from_iterable(held[number] for number in aligned))
        score = (_share(words, best) + _share(words, union)) / 2
        pieces = [evidence[number] for number in aligned]
        findings = [*self._facts(sentence, pieces, union), *_style(sentence, pieces)]
        if len(plain) < MIN_WORDS:
            findings.append(Finding("extrinsic", sentence, "a single word is not a statement"))
        if not findings and (score < MIN_SUPPORTED or _share(words, best) < MIN_BEST):
            findings.append(self._added(sentence, union))
        return Support(score, aligned, tuple(findings))

    def _held(self, piece: str) -> frozenset[Term]:
        """The terms of a piece and the values that it covers."""
        return frozenset([*self.terms(piece), *covered_values(piece)])

    def _facts(self, sentence: str, pieces: Sequence[str], held: frozenset[Term]) -> Iterator[Finding]:
        """Numbers, days, names and addresses that the pieces lack, and terms denied on one side only."""
        for value, text in values_in(sentence).items():
            if value not in held:
                cited = dict.fromkeys(chain.from_iterable(values_in(piece).values() for piece in pieces))
                reason = f"the cited words have {', '.join(cited) or 'no number or date'}"
                yield Finding("factual", text, reason)
        for name in names(sentence, lambda word: not self.content(word)):
            if not set(self.terms(name)) <= held:
                yield Finding("extrinsic", name, "the cited words do not have this name")
        for match in _ADDRESS.finditer(sentence):
            if not any(match[0].rstrip(".,;:!?") in piece for piece in pieces):
                yield Finding("extrinsic", match[0], "the cited words do not have this address or markup")
        for term in contradicted(sentence, pieces[0], self.content):
            yield Finding("factual", term, "negated only in the sentence or only in the cited words")
        negation = NEGATION.search(sentence)
        if negation and not any(map(NEGATION.search, pieces)):
            yield Finding("factual", negation[0], "the cited words have no negation")

    def _added(self, sentence: str, held: frozenset[Term]) -> Finding:
        """The words that no aligned piece holds, or else the whole sentence."""
        terms = {word: self.content(word) for word in sentence.split()}
        added = [word for word in sentence.split() if terms[word] and held.isdisjoint(terms[word])]
        return Finding("extrinsic", " ".join(added) or sentence, "the passages do not say so")


def names(text: str, is_common: Callable[[str], bool]) -> list[str]:
    """The words of names in order: capitalised words except common ones, such as "the" and "I".

    The first word of a sentence is always capitalised. So it counts only if it has another capital (FDA) or
    the next word is capitalised, too.

    >>> names("Mills fell. Ada Rook and the FDA left.", {"and", "the"}.__contains__)
    ['Ada', 'Rook', 'FDA']
    """
    words = [match for match in WORD.finditer(text) if not match[0].isdigit()]
    capital = [match[0][0].isupper() and not is_common(match[0].lower()) for match in words]
    in_names = []
    for position, match in enumerate(words):
        has_next = position + 1 < len(words) and capital[position + 1]
        following = words[position + 1] if has_next else None
        followed = following is not None and text[match.end() : following.start()] == " "
        has_inner_capital = any(letter.isupper() for letter in match[0][1:])
        is_sure = followed or has_inner_capital or not _begins_sentence(text, match.start())
        if capital[position] and is_sure:
            in_names.append(match[0])
    return in_names


def contradicted(claim: str, evidence: str, terms: Terms) -> list[str]:
    """The terms that one text denies and the other affirms, sorted; none if both deny a common term."""
    denied_in_claim = denied(claim, terms)
    denied_in_evidence = denied(evidence, terms)
    if denied_in_claim & denied_in_evidence:
        return []
    only_in_claim = denied_in_claim.intersection(terms(evidence))
    return sorted(only_in_claim.union(denied_in_evidence.intersection(terms(claim))))


def denied(text: str, terms: Terms) -> frozenset[str]:
    """The terms of the first NEGATION_REACH content words after each negation, up to the end of its clause.

    `terms` gives the content terms of a text in order. Terms that the text also affirms are left out.

    >>> sorted(denied("The mill did not burn, it sank.", str.split))
    ['burn']
    """
    counts: Counter[str] = Counter()
    for negation in NEGATION.finditer(text):
        clause_end = _CLAUSE_END.search(text, negation.end())
        clause = text[negation.end() : clause_end.start() if clause_end else len(text)]
        counts.update(list(terms(clause))[:NEGATION_REACH])
    total = Counter(terms(text)) if counts else Counter()
    return frozenset(term for term, times in counts.items() if total[term] <= times)


def _begins_sentence(text: str, start: int) -> bool:
    """True at the start of a text or after the end of a sentence; quotes and brackets are ignored."""
    before = text[:start].rstrip(" \t\n\"'“‘(").rstrip("'\"”’)")
    return not before or before[-1] in ".!?:"


def _aligned(words: Sequence[Term], held: Sequence[frozenset[Term]]) -> tuple[int, ...]:
    """The numbers of the pieces that together hold most of the words, best first; ties by number."""
    chosen: list[int] = []
    left = set(words)
    while left and len(chosen) < MAX_PIECES:
        gains = [len(left & piece) for piece in held]
        gain = max(gains, default=0)
        if gain == 0 or (chosen and gain < MIN_GAIN * len(words)):
            break
        number = gains.index(gain)
        chosen.append(number)
        left -= held[number]
    return tuple(chosen)


def _share(words: Sequence[Term], held: frozenset[Term]) -> float:
    return sum(term in held for term in words) / len(words)


def _style(sentence: str, pieces: Sequence[str]) -> list[Finding]:
    """Findings for the first or second person, an exclamation or a question, unless the evidence has them."""
    plain = _QUOTED.sub(" ", sentence)
    findings = []
    voice = _OWN_VOICE.search(plain)
    if voice and not any(_OWN_VOICE.search(piece) for piece in pieces):
        findings.append(Finding("style", voice[0], "speaks in the first or second person"))
    if plain.rstrip().endswith("!") and not any("!" in piece for piece in pieces):
        findings.append(Finding("style", "!", "is an exclamation"))
    if plain.rstrip().endswith("?"):
        findings.append(Finding("style", sentence, "is a question, not a statement"))
    return findings
