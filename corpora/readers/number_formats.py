"""Values of spreadsheet cells as a person sees them: dates, times, percentages; other numbers as they are.

Thousands separators, currency signs and a fixed number of decimals are left out: 1234.5 is found as 1234.5.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta

from .sheet_writer import number_text

MAX_CODE = 255  # characters of a number format, as Excel allows
PERCENT = re.compile(r"^[#0,]*0(?:\.(0{1,15}))?%$")
TIME_PARTS = re.compile(r"[hHsS]|AM/PM")
DATE_PARTS = re.compile(r"[yYdD]|mmm")
NO_PART = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]|_.|\*.')  # quoted text, colours, fillers


def shown(value: float, code: str, epoch: datetime) -> str:
    """A number in the format that its cell carries; `epoch` is the day that serial dates count from."""
    from openpyxl.styles.numbers import is_date_format
    from openpyxl.utils.datetime import from_excel

    code = code[:MAX_CODE]
    if percent := PERCENT.match(code):
        return f"{value:.{len(percent[1] or '')}%}"
    if not is_date_format(code):
        return number_text(value)
    try:
        moment = from_excel(value, epoch, timedelta="[h" in code.lower())
    except (OverflowError, ValueError):  # no day of any calendar: spreadsheets show ####
        return number_text(value)
    return moment_text(moment, code)


def moment_text(moment: datetime | date | time | timedelta | None, code: str) -> str:
    """A date, a time of day, both or a duration, in ISO's order, with the parts that the format shows."""
    if isinstance(moment, timedelta) or moment is None:
        return str(moment or "")
    parts = NO_PART.sub("", code)
    if isinstance(moment, datetime) and not TIME_PARTS.search(parts):
        return moment.date().isoformat()
    if isinstance(moment, datetime) and not DATE_PARTS.search(parts):
        return _clock(moment.time())
    if isinstance(moment, datetime):
        return f"{moment.date().isoformat()} {_clock(moment.time())}"
    return _clock(moment) if isinstance(moment, time) else moment.isoformat()


def _clock(clock: time) -> str:
    """Hours and minutes, and seconds where there are any."""
    return clock.isoformat("seconds").removesuffix(":00") if clock.second == 0 else clock.isoformat("seconds")
