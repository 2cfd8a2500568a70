"""Checks sentences that a model wrote against the passages that it points at.

A sentence is dropped for a wrong number, unit, date, name or negation, and for nothing else. Other content
words that the passages do not have are underlined. Numbers, dates and measures count by value.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from spanwise.types import Finding

from ..eval.quantities import (
    PERIODS,
    SHORT,
    UNIT_SIZES,
    dates_in,
    measures_in,
    names_of,
    unit_of,
    without_values,
)

MIN_SIMILAR = 6  # letters of words that may differ by one edit
PARTS = {"an?|once|single|each|per": "1", "twice|double|both|couple|pair": "2", "half": "0.5", "dozen": "12"}
PERIOD_UNITS = {unit_of(name) for name in ("minute", "hour", "day", "week", "fortnight", "month", "year")}
UNIT_SIGNS = {sign.casefold() for sign, (dimension, _) in UNIT_SIZES.items() if dimension != "dollars"}
NEGATION_REACH = 3  # content words after a negation that it denies
ADDRESS = re.compile(
    r"!?\[[^\[\]\n]{0,200}\]\([^()\s]{1,2000}\)"  # a picture or link of Markdown
    r"|(?:https?|ftp|file|data|javascript|mailto):[^\s<>()\[\]\"'`]{2,2000}"
    r"|\bwww\.[^\s<>()\[\]\"'`]{2,2000}"
    r"|</?[A-Za-z!][^<>]{0,2000}>",  # a tag of HTML, or a comment
    re.IGNORECASE,
)
WORD = re.compile(r"[^\W_]+(?:[.'’&-][^\W_]+)*")
NEGATION = re.compile(
    r"\b(?!(?:not?|never) (?:more|less|later|longer|fewer|earlier|greater|higher|lower) than\b)"
    r"(?:not(?! only\b)|never|no|none|nobody|nothing|neither|nor|without|cannot|hardly|barely|rarely|"
    r"seldom|unable|fails?|failed|lacks?|lacked|refused?|refuses|denied|denies|\w+n['’]t)\b",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(
    r"[.;:!?,()]|\b(?:but|although|though|while|whereas|because|except|unless|until|if|when|where)\b",
    re.IGNORECASE,
)
_ORDINAL = re.compile(r"\b(first|second|third|fourth|last)\s+(\w+)", re.I)
_DIGITS = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
_VERDICT = re.compile(r"\A\W*(?:yes|no(?! \w)|not (?:quite|exactly|really))\b[,.;:–—-]*\s*", re.I)
_WORDS = re.compile(r"[^\W_]+")
# Words that deny in other ways than a negation does.
_DENIES = re.compile(
    r"\b(?:only|until|unless|except\w*|exempt\w*|instead|rather than|other than|optional\w*|avoid\w*"
    r"|prohibit\w*|forbid\w*|banned|exclud\w+|exclusion|stop\w*|prevent\w*|disabl\w+|alone|outside|missing"
    r"|absent|omit\w*|skip\w*|leav\w+ (?:off|out)|free|impossible|invalid|unavailable|illegal|ineligible"
    r"|deprecated|too|at (?:most|least)|(?:more|less|later|longer|fewer) than|maximum|minimum|up to"
    r"|exceed\w*)\b",
    re.I,
)
PRONOUNS = ("none", "nobody", "nothing", "neither")  # what they deny stands elsewhere


@dataclass(frozen=True, slots=True)
class WrittenCheck:
    """What a check finds in a written sentence.

    findings: the reasons to drop it.
    underlined: other words that the passages do not have.
    """

    findings: tuple[Finding, ...]
    underlined: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WrittenChecker:
    """Checks sentences.

    content: gives the content terms of a text, without stop words.
    is_common: true for a name that many of the documents have, such as that of the user's own company.
    """

    content: Callable[[str], Sequence[str]]
    is_common: Callable[[str], bool] = lambda name: False

    def check(
        self,
        sentence: str,
        cited: Sequence[str],
        above: Sequence[str] = (),
        around: Sequence[str] = (),
        question: str = "",
    ) -> WrittenCheck:
        """The check of a sentence.

        `cited` are the sentences that it points at. `above` are their headings, the heads of their columns,
        and the names of their files. Numbers, dates, names and negations are those of both; a name may be
        that of the question. Words of `around`, the passages, are not underlined either.
        """
        plain = _VERDICT.sub("", sentence)
        text = "\n".join([*cited, *above])
        findings = (
            *_numbers(plain, text),
            *_periods(plain, text),
            *_dates(plain, text),
            *self._names(plain, text, question),
            *self._negations(plain, "\n".join(cited), text),
        )
        return WrittenCheck(findings, tuple(self._added(plain, "\n".join([text, *around, question]))))

    def _names(self, sentence: str, text: str, question: str) -> Iterator[Finding]:
        """Names, identifiers and addresses that the passages do not have."""
        known = f"{text}\n{question}"
        plain = without_values(sentence)
        held = {word.casefold() for word in _WORDS.findall(known)} | set(self.content(known))
        first = WORD.search(plain)
        for name in dict.fromkeys(names(plain, lambda word: not self.content(word))):
            if first and name == first[0] and name[1:].islower():
                continue  # capitalised because it is the first word
            parts = [
                part.casefold() for part in _WORDS.findall(name) if len(part) > 1 and part not in UNIT_SIGNS
            ]
            known_parts = (part in held or held.issuperset(self.content(part)) for part in parts)
            if not (all(known_parts) or all(map(self.is_common, parts))):
                yield Finding("extrinsic", name, "the cited words do not have this name")
        folded = _letters(text)
        for name in _identifiers(sentence):
            if not (_is_quantity(name) or _letters(name) in folded or self.is_common(name)):
                yield Finding("extrinsic", name, "the cited words do not have this name")
        for match in ADDRESS.finditer(sentence):
            if match[0].rstrip(".,;:!?") not in text:
                yield Finding("extrinsic", match[0], "the cited words do not have this address or markup")

    def _negations(self, sentence: str, cited: str, text: str) -> Iterator[Finding]:
        """Terms that are denied on one side only."""
        said = [word for word in NEGATION.findall(sentence) if word.lower() != "without"]
        held = NEGATION.findall(cited)
        cues = _cues(sentence) - _cues(cited)
        if said and not (NEGATION.search(text) or _cues(text) or cues):
            yield Finding("factual", said[0], "denied only in the sentence")
        else:
            near = denied(sentence, self.content, reach=1) - denied(cited, self.content, anywhere=True)
            for term in sorted(near.intersection(self.content(cited))):
                yield Finding("factual", term, "denied only in the sentence")
        if len(said) < len(held) and not cues:
            near = denied(cited, self.content, reach=1) - denied(sentence, self.content, anywhere=True)
            for term in sorted(near.intersection(self.content(sentence))):
                yield Finding("factual", term, "denied only in the cited words")

    def _added(self, sentence: str, text: str) -> Iterator[str]:
        """The content words that a text does not have; a long one may differ by one edit."""
        words = {word.casefold() for word in _WORDS.findall(text)}
        held = words | set(self.content(text))
        for match in WORD.finditer(sentence):
            terms = self.content(match[0])
            if match[0].isdigit() or held.issuperset(terms) or match[0].casefold() in held:
                continue
            long = match[0].casefold()
            if len(long) < MIN_SIMILAR or not any(is_one_edit(long, word) for word in words):
                yield match[0]


def _cues(text: str) -> set[str]:
    """The words of a text that deny in other ways than a negation does."""
    return {match.casefold() for match in _DENIES.findall(text)}


def _numbers(sentence: str, text: str) -> Iterator[Finding]:
    """Numbers that a text does not have, and those with another unit."""
    held = list(measures_in(text))
    numbers = {measure.value.number for measure in held} | _numerals(text)
    decades = {measure.value.whole for measure in held if measure.value.kind == "year"}
    sizes = {(measure.dimension, measure.size) for measure in held if measure.dimension}
    words = set(_WORDS.findall(text.casefold()))
    said = list(measures_in(sentence))
    for measure in said:
        if (measure.dimension, measure.size) in sizes or measure.value in decades:
            continue
        if measure.value.number not in numbers:
            yield Finding("factual", measure.words, "the cited words do not have this number")
        elif (
            measure.dimension
            and measure.value.unit != "th"
            and (
                not words.intersection(names_of(measure))
                or (measure.value.number != 1 and any(each.dimension == measure.dimension for each in held))
            )
        ):
            yield Finding("factual", measure.words, "the cited words do not have this number with this unit")


def _periods(sentence: str, text: str) -> Iterator[Finding]:
    """Units of time without a number, such as "a few weeks", where a text has only others."""
    words = _WORDS.findall(text.casefold())
    held = {unit for word in words if (unit := unit_of(word)) in PERIOD_UNITS}
    held |= {UNIT_SIZES[PERIODS[word]] for word in words if word in PERIODS}
    held |= {(each.dimension, each.size) for each in measures_in(text) if each.dimension == "time"}
    measured = " ".join(measure.words for measure in measures_in(sentence))
    for word in _WORDS.findall(sentence):
        unit = unit_of(word) if len(word) > SHORT else None
        if held and unit in PERIOD_UNITS and unit not in held and word not in measured:
            yield Finding("factual", word, "the cited words have another unit")


def _numerals(text: str) -> set[Decimal]:
    """The numbers of all digits in a text, also within words, and of words such as "twice"."""
    digits = {Decimal(match.replace(",", "")) for match in _DIGITS.findall(text)}
    return digits | {Decimal(value) for word, value in PARTS.items() if re.search(rf"\b{word}\b", text, re.I)}


def _dates(sentence: str, text: str) -> Iterator[Finding]:
    """Days and months that a text does not have, and another "first" or "second"."""
    held = {covered for day in dates_in(text) for covered in (day, day.whole)}
    for day, words in dates_in(sentence).items():
        if day not in held:
            yield Finding("factual", words, "the cited words do not have this date")
    ordinals = {(match[2].casefold(), match[1].casefold()) for match in _ORDINAL.finditer(text)}
    for match in _ORDINAL.finditer(sentence):
        noun = match[2].casefold()
        if (noun, match[1].casefold()) not in ordinals and any(noun == other for other, _ in ordinals):
            yield Finding("factual", match[0], "the cited words have another one")


def _is_quantity(text: str) -> bool:
    """True for a number with a unit, and for an ordinal."""
    return any(each.dimension or each.value.unit for each in measures_in(text))


def _identifiers(text: str) -> list[str]:
    """The words of a text with both a letter and a digit, such as "E-18", without marks around them."""
    words = (word.strip("\"'“”‘’`.,;:!?()[]{}*") for word in text.split())
    return [word for word in words if any(map(str.isdigit, word)) and any(map(str.isalpha, word))]


def _letters(text: str) -> str:
    """The letters and digits of a text, without case."""
    return "".join(character for character in text.casefold() if character.isalnum())


def is_one_edit(first: str, second: str) -> bool:
    """True where one letter is added, lost, changed, or changes places with the next one.

    >>> is_one_edit("recieve", "receive"), is_one_edit("colour", "color"), is_one_edit("mill", "milling")
    (True, True, False)
    """
    if abs(len(first) - len(second)) > 1:
        return False
    same = next((i for i, pair in enumerate(zip(first, second, strict=False)) if len({*pair}) > 1), -1)
    if same < 0:
        return True
    rest = first[same:]
    other = second[same:]
    swapped = rest[1:2] + rest[:1] + rest[2:]
    return rest[1:] == other[1:] or rest[1:] == other or rest == other[1:] or swapped == other


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


def denied(
    text: str,
    terms: Callable[[str], Sequence[str]],
    reach: int = NEGATION_REACH,
    anywhere: bool = False,
) -> frozenset[str]:
    """The terms of the first content words after each negation, up to the end of its clause.

    `terms` gives the content terms of a text in order. Terms that the text also affirms are left out, unless
    they may be denied `anywhere`.

    >>> sorted(denied("The mill did not burn, it sank.", str.split))
    ['burn']
    """
    counts: Counter[str] = Counter()
    for negation in NEGATION.finditer(text):
        if negation[0].lower() in PRONOUNS:
            continue
        clause_end = _CLAUSE_END.search(text, negation.end())
        clause = text[negation.end() : clause_end.start() if clause_end else len(text)]
        counts.update(list(terms(clause))[:reach])
    total = Counter(terms(text)) if counts else Counter()
    return frozenset(term for term, times in counts.items() if anywhere or total[term] <= times)


def _begins_sentence(text: str, start: int) -> bool:
    """True at the start of a text or after the end of a sentence; quotes and brackets are ignored."""
    before = text[:start].rstrip(" \t\n\"'“‘(").rstrip("'\"”’)")
    return not before or before[-1] in ".!?:"
