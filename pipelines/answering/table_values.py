"""The value of a cell: a number with its unit, a date, a duration; how values are compared and added."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

DATE = "date"
DURATION = "s"
MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
SIGNS = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY"}
MONEY = frozenset({*SIGNS.values(), "CHF", "SEK", "NOK", "DKK", "PLN", "CZK", "CAD", "AUD", "INR"})
SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "bn": 10**9}
MARKS = re.compile(r"\[[^\[\]]{1,20}\]|[*_`†‡§^~]+")
NUMBER = re.compile(
    r"(?P<before>[^\w\s]{0,3}|[A-Za-z]{1,3}[$.]?|[^\w\s]?[A-Z]{3})\s?"
    r"(?P<number>[0-9]{1,3}(?:[,\u00a0\u202f '][0-9]{3})+(?:\.[0-9]+)?|[0-9]*\.?[0-9]+)"
    r"(?P<after>.{0,40})",
    re.S,
)
UNIT = re.compile(r"\s?([%°€$£¥]|[A-Za-z]{1,12}[²³]?(?:/[A-Za-z]{1,10})?)")
MONTH = rf"(?P<month>{'|'.join(MONTHS)})[a-z]{{0,6}}\.?"
DAY = r"(?P<day>[0-3]?[0-9])(?:st|nd|rd|th)?"
YEAR = r"(?P<year>1[0-9]{3}|20[0-9]{2})"
DATES = [
    re.compile(pattern, re.I)
    for pattern in (
        rf"{YEAR}-(?P<month>[01]?[0-9])-(?P<day>[0-3]?[0-9])(?:[T ].*)?",
        rf"(?:[a-z]{{3,9}},? )?{DAY} {MONTH},?(?: {YEAR})?",
        rf"(?:[a-z]{{3,9}},? )?{MONTH} {DAY}(?:,? {YEAR})?",
        rf"{MONTH},? {YEAR}",
        r"(?P<day>[0-3]?[0-9])[./](?P<month>[01]?[0-9])[./]" + YEAR,
    )
]
CLOCK = re.compile(r"\+?(?:(?P<h>[0-9]{1,3}):)?(?P<m>[0-9]{1,3}):(?P<s>[0-9]{2}(?:\.[0-9]+)?)")


@dataclass(frozen=True, slots=True)
class Value:
    """What a cell says.

    number: the amount; of a date its year, month and day as 19550820, of a duration seconds.
    unit: such as "EUR", "km", "%", DATE, DURATION; "" without one.
    """

    number: Decimal
    unit: str = ""


def parse_value(text: str) -> Value | None:
    """The value of a cell; None for words.

    >>> parse_value("€1,249.50"), parse_value("(1,250)"), parse_value("20 August 1955").number
    (Value(number=Decimal('1249.50'), unit='EUR'), Value(number=Decimal('-1250'), unit=''), Decimal('19550820'))
    """
    shown = MARKS.sub("", text).strip()
    for pattern in DATES:
        if match := pattern.fullmatch(shown):
            return Value(_date(match.groupdict()), DATE)
    if match := CLOCK.fullmatch(shown):
        hours = int(match["h"] or 0) * 3600
        return Value(hours + int(match["m"]) * 60 + Decimal(match["s"]), DURATION)
    match = NUMBER.fullmatch(shown)
    return _number(match) if match else None


def _date(parts: dict[str, str | None]) -> Decimal:
    month = parts["month"] or "0"
    number = MONTHS.index(month[:3].lower()) + 1 if month.isalpha() else int(month)
    return Decimal(int(parts.get("year") or 0) * 10_000 + number * 100 + int(parts.get("day") or 0))


def _number(match: re.Match[str]) -> Value | None:
    before = match["before"]
    number = Decimal(re.sub(r"[,\u00a0\u202f ']", "", match["number"]))
    after = match["after"]
    if before.startswith("(") and after.strip() == ")" or before[:1] in ("-", "−", "–"):
        number = -number
    if re.match(r"[\w.:/–-]*[0-9]", after):  # such as 2007/08, 3-1, 10:15
        return None
    unit = UNIT.match(after)
    name = unit[1] if unit else ""
    if name.lower() in SCALES:
        number *= SCALES[name.lower()]
        name = ""
    currency = before.strip("(-−–+. ")
    name = SIGNS.get(currency, currency) or SIGNS.get(name, name)
    if currency and name not in MONEY and currency.isalpha():  # such as "No. 5"
        return None
    return Value(number, "" if name in ("st", "nd", "rd", "th") else name)


def common_unit(values: Sequence[Value]) -> str | None:
    """The unit that all values share; None where they differ.

    >>> common_unit([Value(Decimal(2), "EUR"), Value(Decimal(3), "USD")]) is None
    True
    """
    units = Counter(value.unit for value in values)
    named = [unit for unit in units if unit]
    if len(named) > 1:
        return None
    if named and units[""] and named[0] in (DATE, *MONEY):
        return None
    return named[0] if named else ""
