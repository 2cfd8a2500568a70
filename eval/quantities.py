"""Numbers, dates and durations: in a sentence and in the cell of a table, and which one covers another.

The words are English. Of the amounts in a sentence only percentages have a unit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

DATE = "date"
DURATION = "s"
DECADE = "decade"
TIMES = (DATE, "year")
YEARS = range(1500, 2101)
DAYS = "mon tue wed thu fri sat sun".split()
SCALES = {
    "hundred": 100,
    "thousand": 1_000,
    "million": 1_000_000,
    "billion": 1_000_000_000,
    "bn": 1_000_000_000,
    "trillion": 1_000_000_000_000,
}
CURRENCIES = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY"}
MONEY = frozenset([*CURRENCIES.values(), *"CHF SEK NOK DKK PLN CZK CAD AUD INR".split()])

_CARDINAL = (
    "zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|"
    "seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
)
_ORDINAL = "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth"
_SCALE = "|".join(SCALES)
_MONTH = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    "nov(?:ember)?|dec(?:ember)?"
)
NUMBERS = dict(
    zip(f"{_CARDINAL}|{_ORDINAL}".split("|"), [*range(20), *range(20, 100, 10), *range(1, 13)], strict=True)
)
NO_QUANTITIES = frozenset("one One second Second may march".split())  # a pronoun, a time or place, and verbs
MONTHS = [month[:3] for month in _MONTH.split("|")]
_TH = "(?:st|nd|rd|th)"
_DAY = (
    rf"(?:(?P<before>[0-3]?\d){_TH}?(?: of)? )?(?P<month>{_MONTH})\b\.?"
    rf"(?: (?:the )?(?P<behind>[0-3]?\d){_TH}?(?![\w:])(?!,\d))?"
)
_YEAR = r"(?P<year>1[0-9]{3}|20[0-9]{2})"
_WEEKDAY = "(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:days?)?"
NUMBER_WORDS = rf"\b(?P<words>(?:{_CARDINAL})(?:[ -](?:{_CARDINAL}|{_SCALE}|and(?=[ -](?:{_CARDINAL}))))*)\b"
QUANTITY = re.compile(
    rf"\b{_DAY}|(?:"
    r"(?<![\w.,])(?P<digits>\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?)"
    rf"(?:(?P<th>{_TH})|(?P<decade>s))?(?!\w)(?:[ -](?P<scale>{_SCALE})s?\b)?"
    rf"|{NUMBER_WORDS}|\b(?P<ordinal>{_ORDINAL})\b)(?P<percent>\s?%|\s(?:percent|per cent)\b)?",
    re.I,
)
UNITS = {"percent": "%", "decade": DECADE, "th": "th", "ordinal": "th"}
MARKS = re.compile(r"\[[^\[\]]{1,20}\]|[*_`†‡§^~]+")
NUMBER = re.compile(
    r"(?P<before>[^\w\s]{0,3}|[^\w\s]?[A-Z]{3})\s?"
    r"(?P<number>[0-9]{1,3}(?:[,\u00a0\u202f '][0-9]{3})+(?:\.[0-9]+)?|[0-9]*\.?[0-9]+)"
    rf"(?![\w.:/–-]{{0,40}}[0-9])(?=.{{0,40}}\Z)(?:\s?(?P<unit>[%°€$£¥]|(?!{_TH}\b)[A-Za-z]{{1,12}}[²³]?(?:/[A-Za-z]{{1,10}})?))?"
    r"(?P<after>.*)",
    re.S,
)
WRITTEN_DATE = re.compile(rf"\b{_DAY}(?:,? {_YEAR}\b)?", re.I)
DATES = [
    re.compile(rf"(?=\D{{0,30}}[0-9])(?:[a-z]{{3,9}},? )?{WRITTEN_DATE.pattern}", re.I),
    re.compile(rf"{_YEAR}-(?P<month>[01]?[0-9])-(?P<before>[0-3]?[0-9])(?:[T ].*)?"),
    re.compile(rf"(?P<before>[0-3]?[0-9])[./](?P<month>[01]?[0-9])[./]{_YEAR}"),
]
CLOCK = re.compile(r"\+?(?:[0-9]{1,3}:){1,2}[0-9]{2}(?:\.[0-9]+)?")
WEEKDAY = re.compile(_WEEKDAY, re.I)
DAY_RANGE = re.compile(rf"\b({_WEEKDAY})\.? ?(?:-|–|to|until) ?({_WEEKDAY})", re.I | re.A)


@dataclass(frozen=True, slots=True)
class Value:
    """What a cell, or a quantity in a sentence, says.

    number: the amount; of a date its year, month and day as 19550820, of a duration seconds.
    unit: such as "EUR", "km", "%", DATE, DURATION, DECADE, or "th" of an ordinal; "" without one.
    """

    number: Decimal
    unit: str = ""

    @property
    def amount(self) -> Decimal:
        """The number; of a date the year."""
        return self.number // 10_000 if self.unit == DATE else self.number

    @property
    def kind(self) -> str:
        """The kind of value: a date, a duration, a year, money or another number."""
        if self.unit in (DATE, DURATION):
            return self.unit
        if self.unit in MONEY:
            return "money"
        return "year" if not self.unit and self.number in YEARS else "number"

    @property
    def whole(self) -> Value:
        """The period of a value: the month of a day, the decade of a year; another value itself."""
        if self.unit == DATE:
            return Value(self.number // 100 * 100, DATE)
        return self if self.unit else Value(self.number // 10 * 10, DECADE)


def values_in(text: str) -> dict[Value, str]:
    """The numbers and days in a sentence with their words, in order; the year of a day is a number.

    A bare "one" or "second" is no number. A lower-case "may" or "march" without a day is a verb.

    >>> [f"{value.number} {value.unit}" for value in values_in("On 3 May, 12% of two million left.")]
    ['503 date', '12 %', '2000000 ']
    """
    return {value: match[0].strip() for match in QUANTITY.finditer(text) if (value := _quantity(match))}


def covered_values(text: str) -> set[Value]:
    """The values that a sentence supports: those in it, the decades of its years and the months of its days.

    >>> sorted(f"{value.number} {value.unit}" for value in covered_values("In 1964"))
    ['1960 decade', '1964 ']
    """
    return {covered for value in values_in(text) for covered in (value, value.whole)}


def without_values(text: str) -> str:
    """The text without its numbers and days."""
    return QUANTITY.sub(lambda match: " " if _quantity(match) else match[0], text)


def _quantity(match: re.Match[str]) -> Value | None:
    if match[0].rstrip(".") in NO_QUANTITIES:
        return None
    if match["month"]:
        return _date(match["month"], match["before"], match["behind"])
    words = match["words"] or match["ordinal"]
    number = Decimal(spelled(words) if words else match["digits"].replace(",", ""))
    scale = SCALES.get((match["scale"] or "").lower(), 1)
    return Value(number * scale, UNITS.get(match.lastgroup or "", ""))


def spelled(words: str) -> int:
    """The value of number words.

    >>> spelled("two hundred and five thousand")
    205000
    """
    total = 0
    part = 0
    for word in re.split("[ -]", words.casefold()):
        scale = SCALES.get(word, 0)
        part = max(1, part) * scale if scale else part + NUMBERS.get(word, 0)
        if scale >= 1000:
            total += part
            part = 0
    return total + part


def parse_value(text: str) -> Value | None:
    """The value of a cell; None for words.

    >>> [str(parse_value(cell).number) for cell in ("€1,249.50", "(1,250)", "20 August 1955", "1:05")]
    ['1249.50', '-1250', '19550820', '65']
    """
    shown = MARKS.sub("", text).strip()
    for pattern in DATES:
        if match := pattern.fullmatch(shown):
            return _date(**match.groupdict())
    if CLOCK.fullmatch(shown):
        hours, minutes, seconds = map(Decimal, f"0:{shown}".split(":")[-3:])
        return Value(hours * 3600 + minutes * 60 + seconds, DURATION)
    match = NUMBER.fullmatch(shown)
    return _amount(**match.groupdict()) if match else None


def _date(month: str, before: str | None, behind: str | None = None, year: str | None = None) -> Value:
    """The date of a month with the day before or behind it."""
    number = int(month) if month.isdecimal() else MONTHS.index(month[:3].casefold()) + 1
    return Value(Decimal(int(year or 0) * 10_000 + number * 100 + int(before or behind or 0)), DATE)


def _amount(before: str, number: str, unit: str | None, after: str) -> Value:
    """The value of a number between other signs; it is negative after a minus or in brackets."""
    is_negative = before[:1] in {*"-−–"} or before[:1] + (unit or "") + after.strip() == "()"
    name = unit or before.strip("(-−–+. ")
    scale = SCALES.get(name.lower(), 1)
    name = "" if scale > 1 else CURRENCIES.get(name, name)
    amount = Decimal(re.sub(r"[^0-9.]", "", number)) * scale
    return Value(-amount if is_negative else amount, name if unit or name in MONEY else "")


def common_unit(values: Iterable[Value]) -> str | None:
    """The unit that all values share; None where they differ.

    >>> common_unit([Value(Decimal(2), "EUR"), Value(Decimal(3), "USD")]) is None
    True
    """
    units = {value.unit for value in values}
    named = units - {""}
    if len(named) > 1 or (len(units) > 1 and named & {DATE, *MONEY}):
        return None
    return next(iter(named), "")


def with_days(text: str) -> str:
    """The text, followed by the days of the week that a range in it holds.

    >>> with_days("Mon-Wed 9:00")
    'Mon-Wed 9:00 mon tue wed'
    """
    match = DAY_RANGE.search(text)
    if match is None:
        return text
    first, last = (DAYS.index(day[:3].lower()) for day in match.groups())
    days = (DAYS * 2)[first : last + 1 + 7 * (last < first)]
    if days == DAYS[:5]:
        days.append("weekday")
    return " ".join([text, *days])
