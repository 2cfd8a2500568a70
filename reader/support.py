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
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain

from spanwise.types import Finding

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
_WORD = re.compile(r"[^\W_]+(?:[.'’&-][^\W_]+)*")
_NEGATION = re.compile(
    r"\b(?:not(?! only\b)|never|no|none|nobody|nothing|neither|nor|without|cannot|hardly|barely|rarely|"
    r"seldom|unable|fails?|failed|lacks?|lacked|refused?|refuses|denied|denies|\w+n['’]t)\b",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[.;:!?,()]|\b(?:but|although|though|while|whereas|because)\b", re.IGNORECASE)
_MONTHS = "january february march april may june july august september october november december".split()
_MONTH = "|".join([*_MONTHS, "jan", "feb", "apr", "aug", "sept", "sep", "oct", "nov", "dec"])
_DAY = re.compile(
    rf"\b(?:(?P<before>[0-3]?\d)(?:st|nd|rd|th)?(?: of)? )?(?P<month>{_MONTH})\b\.?"
    r"(?: (?:the )?(?P<behind>[0-3]?\d)(?:st|nd|rd|th)?(?![\w:])(?!,\d))?",
    re.IGNORECASE,
)
_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split()
_SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_SMALL = {word: number for number, word in enumerate(_UNITS)} | {
    word: 10 * number for number, word in enumerate(_TENS, start=2)
}
_SPELLED = "|".join(sorted(_SMALL, key=len, reverse=True))
_DIGITS = re.compile(
    r"(?<![\w.,])(?P<digits>\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?P<suffix>st|nd|rd|th|s)?(?![\w])"
    rf"(?:[ -](?P<scale>{'|'.join(_SCALES)})s?\b)?(?P<percent>\s?%|\s(?:percent|per cent)\b)?",
    re.IGNORECASE,
)
_NUMBER_WORDS = re.compile(
    rf"\b(?P<words>(?:{_SPELLED})(?:[ -](?:{_SPELLED}|{'|'.join(_SCALES)}|and(?=[ -](?:{_SPELLED}))))*)\b"
    r"(?P<percent>\s(?:percent|per cent)\b)?",
    re.IGNORECASE,
)
_ORDINAL = re.compile(rf"\b(?P<ordinal>{'|'.join(_ORDINALS)})\b", re.IGNORECASE)

Terms = Callable[[str], Sequence[str]]


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
        words = [*dict.fromkeys([*self.content(without_numbers(sentence)), *_values(sentence)])]
        held = [self._held(piece) for piece in evidence]
        aligned = _aligned(words, held)
        if not words or not aligned:
            nothing = Finding("extrinsic", sentence, "the passages have none of its words")
            return Support(0.0, (), (nothing, *_style(sentence, evidence)))
        best = held[aligned[0]]
        union = frozenset(chain.from_iterable(held[number] for number in aligned))
        score = (_share(words, best) + _share(words, union)) / 2
        pieces = [evidence[number] for number in aligned]
        findings = [*self._facts(sentence, pieces), *_style(sentence, pieces)]
        if len(plain) < MIN_WORDS:
            findings.append(Finding("extrinsic", sentence, "a single word is not a statement"))
        if not findings and (score < MIN_SUPPORTED or _share(words, best) < MIN_BEST):
            findings.append(self._added(sentence, union))
        return Support(score, aligned, tuple(findings))

    def _held(self, piece: str) -> frozenset[str]:
        """The terms and values of a piece, and the decades of its years."""
        values = _values(piece)
        decades = [f"{year[:-1]}0s" for year in values if len(year) == len("#1911") and year[1:].isdigit()]
        return frozenset([*self.terms(piece), *values, *decades])

    def _facts(self, sentence: str, pieces: Sequence[str]) -> Iterator[Finding]:
        """Numbers, days, names and addresses that the pieces lack, and terms denied on one side only."""
        cited_numbers = {number.value: number.text for piece in pieces for number in numbers(piece)}
        for number in numbers(sentence):
            if not any(covers(number.value, value) for value in cited_numbers):
                yield Finding("factual", number.text, _other_numbers(cited_numbers.values()))
        cited_days = [f"{day.value}-" for piece in pieces for day in days(piece)]
        for day in days(sentence):
            if not any(cited.startswith(f"{day.value}-") for cited in cited_days):
                yield Finding("factual", day.text, "the cited words have another date, or none")
        words = {term for piece in pieces for term in self.terms(piece)}
        for name in names(sentence, lambda word: not self.content(word)):
            if not set(self.terms(name)) <= words:
                yield Finding("extrinsic", name, "the cited words do not have this name")
        for match in _ADDRESS.finditer(sentence):
            if not any(match[0].rstrip(".,;:!?") in piece for piece in pieces):
                yield Finding("extrinsic", match[0], "the cited words do not have this address or markup")
        for term in contradicted(sentence, pieces[0], self.content):
            yield Finding("factual", term, "negated only in the sentence or only in the cited words")
        negation = _NEGATION.search(sentence)
        if negation and not any(map(_NEGATION.search, pieces)):
            yield Finding("factual", negation[0], "the cited words have no negation")

    def _added(self, sentence: str, held: frozenset[str]) -> Finding:
        """The words that no aligned piece holds, or else the whole sentence."""
        terms = {word: self.content(word) for word in sentence.split()}
        added = [word for word in sentence.split() if terms[word] and held.isdisjoint(terms[word])]
        return Finding("extrinsic", " ".join(added) or sentence, "the passages do not say so")


@dataclass(frozen=True, slots=True)
class Fact:
    """A number or date in a text.

    text: the words, text[start:end].
    value: of a number "2000", "12%", "3th" (an ordinal), "1930s"; of a date "5-3" for 3 May, "5" for May.
    """

    text: str
    value: str
    start: int
    end: int


def numbers(text: str) -> list[Fact]:
    """The numbers of a text in order, without days of months and without a bare "one" or "second".

    >>> [number.value for number in numbers("In the 1930s 2,000 of two million, twelve per cent, came 3rd.")]
    ['1930s', '2000', '2000000', '12%', '3th']
    """
    dates = days(text)
    outside = [n for n in _numbers(text) if not any(day.start <= n.start < day.end for day in dates)]
    return sorted(outside, key=lambda number: number.start)


def days(text: str) -> list[Fact]:
    """The months in a text with their days, in order; a lower-case "may" or "march" without a day is a verb.

    >>> [day.value for day in days("On 3 May, then June 7th, 2010, and in Sept. 1920")]
    ['5-3', '6-7', '9']
    """
    dates = []
    for match in _DAY.finditer(text):
        day = match["before"] or match["behind"]
        if match["month"] in ("may", "march") and not day:
            continue
        month = [name[:3] for name in _MONTHS].index(match["month"].lower()[:3]) + 1
        value = f"{month}-{int(day)}" if day else str(month)
        dates.append(Fact(match[0].strip(), value, match.start(), match.end()))
    return dates


def names(text: str, is_common: Callable[[str], bool]) -> list[str]:
    """The words of names in order: capitalised words except common ones, such as "the" and "I".

    The first word of a sentence is always capitalised. So it counts only if it has another capital (FDA) or
    the next word is capitalised, too.

    >>> names("Mills fell. Ada Rook and the FDA left.", {"and", "the"}.__contains__)
    ['Ada', 'Rook', 'FDA']
    """
    words = [match for match in _WORD.finditer(text) if not match[0].isdigit()]
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
    for negation in _NEGATION.finditer(text):
        clause_end = _CLAUSE_END.search(text, negation.end())
        clause = text[negation.end() : clause_end.start() if clause_end else len(text)]
        counts.update(list(terms(clause))[:NEGATION_REACH])
    total = Counter(terms(text)) if counts else Counter()
    return frozenset(term for term, times in counts.items() if total[term] <= times)


def covers(value: str, other: str) -> bool:
    """True when two numbers are equal, or when the first is a decade that holds the other, a year.

    >>> covers("1960s", "1964"), covers("12", "12%")
    (True, False)
    """
    decade = value.endswith("0s") and len(other) == len(value) - 1 and other[:-1] == value[:-2]
    return value == other or decade


def without_numbers(text: str) -> str:
    """The text without its numbers and days."""
    parts = []
    position = 0
    for start, end in sorted((fact.start, fact.end) for fact in (*numbers(text), *days(text))):
        parts.append(text[position:start])
        position = max(position, end)
    return " ".join([*parts, text[position:]])


def _numbers(text: str) -> Iterator[Fact]:
    def number(match: re.Match[str], amount: str, suffix: str, percent: str | None) -> Fact:
        return Fact(match[0], f"{amount}{suffix}{'%' if percent else ''}", match.start(), match.end())

    for match in _DIGITS.finditer(text):
        amount = Decimal(match["digits"].replace(",", "")) * _SCALES.get((match["scale"] or "").lower(), 1)
        whole = f"{amount:f}"
        suffix = (match["suffix"] or "").lower()
        plain = whole.rstrip("0").rstrip(".") if "." in whole else whole  # 1.50 is 1.5
        yield number(match, plain, suffix if suffix in ("", "s") else "th", match["percent"])
    for match in _NUMBER_WORDS.finditer(text):
        words = re.split(r"[ -]", match["words"].lower())
        if words != ["one"]:
            yield number(match, str(_spelled(words)), "", match["percent"])
    for match in _ORDINAL.finditer(text):
        word = match["ordinal"].lower()
        if word != "second":
            yield number(match, str(_ORDINALS.index(word) + 1), "th", None)


def _spelled(words: Sequence[str]) -> int:
    """The value of number words: two hundred and five thousand is 205000."""
    total = 0
    part = 0
    for word in words:
        if word == "hundred":
            part = max(1, part) * 100
        elif word in _SCALES:
            total += max(1, part) * _SCALES[word]
            part = 0
        else:
            part += _SMALL.get(word, 0)
    return total + part


def _values(text: str) -> list[str]:
    """The numbers and months of a text as terms that differ from all words."""
    return [
        *(f"#{number.value}" for number in numbers(text)),
        *(f"#month {day.value.split('-')[0]}" for day in days(text)),
    ]


def _begins_sentence(text: str, start: int) -> bool:
    """True at the start of a text or after the end of a sentence; quotes and brackets are ignored."""
    before = text[:start].rstrip(" \t\n\"'“‘(").rstrip("'\"”’)")
    return not before or before[-1] in ".!?:"


def _aligned(words: Sequence[str], held: Sequence[frozenset[str]]) -> tuple[int, ...]:
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


def _share(words: Sequence[str], held: frozenset[str]) -> float:
    return sum(term in held for term in words) / len(words)


def _other_numbers(cited: Iterable[str]) -> str:
    listed = ", ".join(dict.fromkeys(cited))
    return f"the cited words have {listed or 'no number'}"


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
