"""Shows numbers and times in the number format of their cell: separators, zeros, currency, percent, signs.

Follows ECMA-376 part 1, 18.8.31. A format has up to four sections: for positive and negative numbers, zero
and text. Colours and widths are left out, separators are those of English, and dates are those of ISO 8601.
"""

import re
from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

MAX_CODE = 255  # characters, as in Excel
PART = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.)|[_*].|\[\$(?P<currency>[^\]-]*)[^\]]*\]|\[(?P<elapsed>h+|m+|s+)\]'
    r"|\[(?P<condition>(?:<=|>=|<>|<|>|=)-?[0-9]+(?:\.[0-9]+)?)\]|\[[^\]]*\]|(?P<general>General)|(?P<text>@)"
    r"|(?P<half>AM/PM|A/P)|(?P<exponent>E[+-][0#?]+)|(?P<fraction>(?:[#0?]+\s+)?[#0?]+/(?:[#0?]+|[1-9][0-9]*))"
    r"|(?P<split>;)|(?P<digit>[#0?])|(?P<point>\.)|(?P<comma>,)|(?P<percent>%)|(?P<clock>h+|m+|s+|y+|d+)"
    r"|(?P<other>.)",
    re.I | re.S,
)
LITERALS = ("quoted", "escaped", "currency", "percent", "other")
CONDITIONS = {1: [""], 2: [">=0", ""], 3: [">0", "<0", ""]}  # by the number of sections for numbers
EXACT = Context(prec=1200, rounding=ROUND_HALF_UP)  # holds any float in full
EMPTY = "\0"
SECONDS = {"h": 3600, "m": 60, "s": 1}
Parts = list[tuple[str, str]]
"""The kinds of the parts of a section, which are groups of PART, and their texts."""


def show_number(value: float, code: str) -> str:
    """A number in the format `code`.

    >>> show_number(-1249.5, "#,##0.00;(#,##0.00)")
    '(1,249.50)'
    """
    raw = f"{value:.15g}"
    number = Decimal(raw)
    if not number.is_finite():
        return raw
    with localcontext(EXACT):
        if code in ("", "General"):  # most cells
            sign = "-" if number < 0 else ""
            text = _general(abs(number))
        else:
            section, sign = _section(number, _sections(code[:MAX_CODE]))
            text = " ".join(_number(abs(number), section).split())
    return sign + text if any(digit in text for digit in "123456789") else text


def show_time(value: date | time | timedelta, code: str) -> str:
    """A date in ISO 8601, as far as `code` shows it, with its time; a time or a duration as shown.

    >>> show_time(timedelta(hours=26.5), "[h]:mm"), show_time(time(19, 30), "h:mm AM/PM")
    ('26:30', '7:30 PM')
    """
    section = _sections(code[:MAX_CODE])[0]
    letters = {text[0].lower() for kind, text in section if kind in ("clock", "elapsed")}
    has_clock = not letters.isdisjoint("hs")
    if isinstance(value, datetime) and (not has_clock or not letters.isdisjoint("yd")):
        shown = (value + timedelta(milliseconds=500 if value.microsecond else 0)).isoformat(" ", "seconds")
        if has_clock or not letters:
            return shown.removesuffix(":00")
        if "d" in letters:
            return shown[:10]
        return shown[:7] if "m" in letters else shown[:4]
    if isinstance(value, time):
        value = datetime.combine(date.min, value)
    if isinstance(value, datetime):
        value -= datetime.combine(value, time())
    if not letters or not isinstance(value, timedelta):
        return str(value)
    return "-" * (value.days < 0) + " ".join(_clock(abs(value).total_seconds(), section).split())


@lru_cache(maxsize=256)
def _sections(code: str) -> list[Parts]:
    sections: list[Parts] = [[]]
    for match in PART.finditer(code):
        kind = match.lastgroup
        if kind == "split":
            sections.append([])
        elif kind:
            sections[-1].append((kind, match[kind]))
    return sections


def _section(value: Decimal, sections: list[Parts]) -> tuple[Parts, str]:
    """The section for a number, and the sign that it has there."""
    numeric = [section for section in sections[:3] if "text" not in dict(section)] or sections[:1]
    explicit = [dict(section).get("condition", "") for section in numeric]
    for index, condition in enumerate(CONDITIONS[len(numeric)]):
        condition = explicit[index] or condition
        sign = condition.rstrip("-.0123456789")
        bound = Decimal(condition.removeprefix(sign) or 0)
        if not sign or "<=>"[1 + int(value.compare(bound))] in sign:
            break
    has_sign = condition not in ("<0", "<=0") and (index == 0 or any(explicit))
    return numeric[index], "-" if value < 0 and has_sign else ""


def _number(value: Decimal, section: Parts) -> str:
    """A number that is not negative. Its digits fill the places from the right; the first has the rest."""
    kinds = [kind for kind, _ in section]
    places = "".join(text for kind, text in section if kind in ("digit", "point", "comma"))
    wholes, point, decimals = places.partition(".")
    n_thousands = len(wholes) - len(wholes.rstrip(",")) + decimals.count(",")
    value = value.scaleb(2 * kinds.count("percent") - 3 * n_thousands)
    decimals = decimals.replace(",", "")
    style = "E" if "exponent" in kinds else "f"
    digits, _, power = f"{value:.{len(decimals)}{style}}".partition("E")
    whole, _, after = digits.partition(".")
    whole = whole.lstrip("0").zfill(len(wholes.replace(",", "").lstrip("#?")))
    if whole and "," in wholes.rstrip(","):
        whole = f"{int(whole):0{len(whole) + (len(whole) - 1) // 3},}"
    after = after[: max(len(after.rstrip("0")), decimals.rfind("0") + 1)]
    # Optional zeros that are not shown also have places.
    digits = whole + (point if after else EMPTY * len(point)) + after.ljust(len(decimals), EMPTY)
    n_places = kinds.count("digit") + kinds.count("point")
    shown = ""
    for kind, text in reversed(section):
        if kind in ("digit", "point"):
            n_places -= 1
            size = 1 + (digits[-2:-1] == ",") if n_places else len(digits)
            shown = digits[len(digits) - size :] + shown
            digits = digits[: len(digits) - size]
        elif kind in ("general", "text"):
            shown = _general(value) + shown
        elif kind == "fraction":
            shown = _fraction(value, text) + shown
        elif kind == "exponent":
            shown = f"E{int(power) if value else 0:+0{len(text) - 1}}{shown}"
        elif kind in LITERALS:
            shown = text + shown
    return shown.replace(EMPTY, "")


def _general(value: Decimal) -> str:
    """Up to 11 characters; a whole number in full."""
    if value and not Decimal("0.0001") <= value < Decimal("1e15"):
        mantissa, _, power = f"{value:.5E}".partition("E")
        return f"{mantissa.rstrip('0').rstrip('.')}E{int(power):+03}"
    n_decimals = max(0, 9 - max(0, value.adjusted()))
    return f"{round(value, n_decimals).normalize():f}"


def _fraction(value: Decimal, code: str) -> str:
    """A whole number and a fraction in lowest terms, as in "2 1/4"."""
    largest = 10 ** len(code.partition("/")[2]) - 1
    whole, rest = divmod(Fraction(value).limit_denominator(largest), 1)
    return f"{whole or ''} {rest or ''}" if whole or rest else "0"


def _clock(seconds: float, section: Parts) -> str:
    """A time or a duration."""
    n_decimals = [kind for kind, _ in section].count("digit")
    seconds = round(seconds, n_decimals)
    half = dict(section).get("half")
    shown = ""
    for kind, text in section:
        letter = text[:1].lower()
        if kind in ("clock", "elapsed") and letter in SECONDS:
            number = int(seconds) // SECONDS[letter]
            if kind == "clock":
                number %= 24 if letter == "h" else 60
            if half and letter == "h":
                number = number % 12 or 12
            shown += f"{number:0{len(text)}}"
        elif kind == "half":
            shown += text.split("/")[seconds % 86_400 >= 43_200]
        elif kind == "point" and n_decimals:
            shown += f"{seconds % 1:.{n_decimals}f}"[1:]
        elif kind in LITERALS:
            shown += text
    return shown
