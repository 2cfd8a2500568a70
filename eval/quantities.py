"""Numbers, dates and durations: in a sentence and in the cell of a table, and which one covers another.

The words are English. Of the amounts in a sentence only percentages have a unit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
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
_AND = r"(?:(?<=hundred )|(?<=thousand )|(?<=million ))and"
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
NUMBER_WORDS = (
    rf"\b(?P<words>(?:{_CARDINAL})(?:[ -](?:{_CARDINAL}|{_SCALE}|{_AND}(?=[ -](?:{_CARDINAL}))))*)\b"
)
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
WRITTEN_DATE = re.compile(rf"\b{_DAY}(?:,?(?: of)? {_YEAR}\b)?", re.I)
DATES = [
    re.compile(rf"(?=\D{{0,30}}[0-9])(?:[a-z]{{3,9}},? )?{WRITTEN_DATE.pattern}", re.I),
    re.compile(
        rf"(?<![0-9-]){_YEAR}-(?P<month>[01]?[0-9])-(?P<before>[0-3]?[0-9])(?:[T ][0-9:.Z+-]*)?(?![0-9])"
    ),
    re.compile(r"(?<![0-9])(?P<year>20[0-9]{2})(?P<month>0[1-9]|1[0-2])(?P<before>[0-3][0-9])(?![0-9])"),
    re.compile(rf"(?<![0-9.])(?P<before>[0-3]?[0-9])[./](?P<month>[01]?[0-9])[./]{_YEAR}(?![0-9])"),
]
MONTHS_OF_YEARS = [
    re.compile(rf"(?P<month>0?[1-9]|1[0-2])[./]{_YEAR}(?P<before>)"),
    re.compile(rf"{_YEAR}-(?P<month>0[1-9]|1[0-2])(?P<before>)"),
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
    return {value: match[0].strip() for match in QUANTITY.finditer(text) if (value := quantity_of(match))}


def dates_in(text: str) -> dict[Value, str]:
    """The days and months in a text without their years, with their words; the day 0 is a whole month.

    >>> [int(day.number) for day in dates_in("from 3 May to 2026-06-30, or in July")]
    [503, 700, 630]
    """
    days = {value: words for value, words in values_in(text).items() if value.unit == DATE}
    whole = {value: match[0] for value, match in written_dates(text) if match["year"]}
    return days | {Value(day.number % 10_000, DATE): words for day, words in whole.items()}


def written_dates(text: str) -> Iterator[tuple[Value, re.Match[str]]]:
    """The dates and months in a text with their places; the year 0 is none, the day 0 a whole month.

    >>> [(int(value.number), match[0]) for value, match in written_dates("from May to 2026-06-30")]
    [(500, 'May'), (20260630, '2026-06-30')]
    """
    for pattern in (WRITTEN_DATE, *DATES[1:]):
        for match in pattern.finditer(text):
            yield _date(**match.groupdict()), match


def without_values(text: str) -> str:
    """The text without its numbers and days."""
    return QUANTITY.sub(lambda match: " " if quantity_of(match) else match[0], text)


def quantity_of(match: re.Match[str]) -> Value | None:
    """The value of a match of QUANTITY; None for a word such as a bare "one"."""
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
    for pattern in (*DATES, *MONTHS_OF_YEARS):
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


# For each dimension the names of its units with their size. A name of one or two letters stands as it is
# written; others stand for their plural, too, in any case.
_SIZES: dict[str, dict[str, float]] = {
    "time": {
        "ms millisecond": 0.001,
        "s sec second": 1,
        "min minute": 60,
        "h hr hour": 3_600,
        "day": 86_400,
        "week": 604_800,
        "fortnight": 1_209_600,
        "month": 2_629_800,
        "yr year": 31_557_600,
        "decade": 315_576_000,
    },
    "data": {
        "B byte": 1,
        "kB KB KiB kb kilobyte": 1e3,
        "MB MiB Mb megabyte": 1e6,
        "GB GiB gigabyte": 1e9,
        "TB TiB terabyte": 1e12,
    },
    "bits": {"bit": 1, "kbit kbps": 1e3, "Mbit Mbps": 1e6, "Gbit Gbps": 1e9},
    "length": {
        "mm millimetre millimeter": 0.001,
        "cm centimetre centimeter": 0.01,
        "inch inches": 0.0254,
        "ft foot feet": 0.3048,
        "m metre meter": 1,
        "km kilometre kilometer": 1_000,
        "mile": 1_609.344,
    },
    "mass": {
        "mg milligram": 0.001,
        "g gram": 1,
        "lb pound": 453.592,
        "kg kilo kilogram": 1_000,
        "ton tonne": 1e6,
    },
    "volume": {
        "ul uL µl µL μl μL microliter microlitre": 1e-6,
        "ml mL milliliter millilitre": 0.001,
        "l L liter litre": 1,
        "gallon": 3.785,
    },
    "voltage": {"mV millivolt": 0.001, "V volt": 1},
    "frequency": {"Hz hertz": 1, "kHz kilohertz": 1e3, "MHz megahertz": 1e6, "GHz gigahertz": 1e9},
    "percent": {"% percent": 1},
    "points": {"point": 1},
    "EUR": {"€ EUR euro": 1},
    "GBP": {"£ GBP": 1},
    "dollars": {"$ dollar AUD CAD NZD USD": 1},
}
SHORT = 2  # letters of a name that is read as it is written
UNIT_SIZES = {
    name if len(name) <= SHORT else name.casefold(): (dimension, Decimal(str(size)))
    for dimension, sizes in _SIZES.items()
    for names, size in sizes.items()
    for name in names.split()
}
PERIODS = {
    "hourly": "hour",
    "daily": "day",
    "weekly": "week",
    "fortnightly": "fortnight",
    "monthly": "month",
    "yearly": "year",
    "annual": "year",
    "annually": "year",
}
_BEHIND = re.compile(r"[\s-]{0,2}(?P<first>[^\W\d_]+|[%€£$])(?:[\s-](?P<second>[^\W\d_]+))?")
_JOINED = re.compile(r"(?<=\d)(?=([A-Za-zµμ]{2,5})\b)|(?<=\d\.\d)(?=(s)\b)")  # 2GB, 0.5s
_PERIOD = re.compile(rf"\b(?:{'|'.join(PERIODS)})\b", re.I)
_RANGE = re.compile(r"\s?(?:-|–|to|and|or)\s?(?=\d)")


@dataclass(frozen=True, slots=True)
class Measure:
    """A number in a sentence.

    value: the number.
    words: the words of the number and its unit.
    dimension: of its unit, such as "time"; "" without a unit.
    size: the number in the smallest unit of its dimension.
    """

    value: Value
    words: str
    dimension: str = ""
    size: Decimal = Decimal(0)


def measures_in(text: str) -> Iterator[Measure]:
    """The numbers in a sentence with their units; not the days.

    >>> [(each.words, each.dimension, int(each.size)) for each in measures_in("In 90 minutes, $2 a page")]
    [('90 minutes', 'time', 5400), ('2', 'dollars', 2)]
    """
    text = _JOINED.sub(lambda match: " " * (unit_of(match[1] or match[2]) is not None), text)
    for match in QUANTITY.finditer(text):
        value = quantity_of(match)
        if value is None or value.unit == DATE:
            continue
        words = match[0].strip()
        sign = text[: match.start()].rstrip()[-1:]
        if match["percent"]:
            yield Measure(value, words, "percent", value.number)
        elif sign in CURRENCIES and sign in UNIT_SIZES:
            yield Measure(value, words, UNIT_SIZES[sign][0], value.number)
        else:
            unit, end = _unit_behind(text, match.end())
            dimension, size = unit or ("", Decimal(0))
            yield Measure(value, text[match.start() : end].strip(), dimension, value.number * size)
    for word in _PERIOD.finditer(text):
        if (name := PERIODS.get(word[0].lower())) and (unit := UNIT_SIZES[name]):
            yield Measure(Value(Decimal(1)), word[0], *unit)


def names_of(measure: Measure) -> set[str]:
    """The names of the unit of a measure, without case, also in the plural."""
    unit = unit_of(re.split(r"[\s\d-]", measure.words)[-1])
    names = {name.casefold() for name, other in UNIT_SIZES.items() if other == unit}
    return names | {f"{name}s" for name in names}


def unit_of(name: str) -> tuple[str, Decimal] | None:
    """The dimension and the size of a unit; None for another word.

    >>> unit_of("Hours"), unit_of("people")
    (('time', Decimal('3600')), None)
    """
    if len(name) <= SHORT:
        return UNIT_SIZES.get(name)
    word = name.casefold()
    return UNIT_SIZES.get(word) or (UNIT_SIZES.get(word[:-1]) if word.endswith("s") else None)


def _unit_behind(text: str, start: int) -> tuple[tuple[str, Decimal] | None, int]:
    """The unit that stands behind a number, also behind a word such as "working", and its end."""
    if (between := _RANGE.match(text, start)) and (last := QUANTITY.match(text, between.end())):
        return _unit_behind(text, last.end())[0], start  # 10 to 20 minutes
    match = _BEHIND.match(text, start)
    if match is None:
        return None, start
    if unit := unit_of(match["first"]):
        return unit, match.end("first")
    second = match["second"] or ""
    if len(second) > SHORT and (unit := unit_of(second)):
        return unit, match.end("second")
    return None, start
