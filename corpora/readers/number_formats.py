"""Values of spreadsheet cells as a person sees them: dates, times, percentages; other numbers as they are.

Thousands separators, currency signs and a fixed number of decimals are left out: 1234.5 is found as 1234.5.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from .sheet_writer import number_text

MAX_CODE = 255  # characters of a number format, as Excel allows
PERCENT = re.compile(r"^[#0,]*0(?:\.(0{1,15}))?%$")
TIME_PARTS = re.compile(r"[hHsS]|AM/PM")
DATE_PARTS = re.compile(r"[yYdD]|mmm")
NO_PART = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]|_.|\*.')  # quoted text, colours, fillers


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """How cells of one style show their numbers; `decimals` is of a percentage, None for other formats."""

    code: str = ""
    decimals: int | None = None
    is_moment: bool = False

    @classmethod
    def of(cls, code: str) -> NumberFormat:
        """The format that a code means."""
        from openpyxl.styles.numbers import is_date_format

        code = code[:MAX_CODE]
        percent = PERCENT.match(code)
        return cls(code, len(percent[1] or "") if percent else None, is_date_format(code))

    def shown(self, value: float, epoch: datetime) -> str:
        """A number as a person sees it; `epoch` is the day that serial dates count from."""
        if self.decimals is not None:
            return f"{value:.{self.decimals}%}"
        return self._moment(value, epoch) if self.is_moment else number_text(value)

    def _moment(self, value: float, epoch: datetime) -> str:
        from openpyxl.utils.datetime import from_excel

        try:
            moment = from_excel(value, epoch, timedelta="[h" in self.code.lower())
        except (OverflowError, ValueError):  # no day of any calendar: spreadsheets show ####
            return number_text(value)
        return moment_text(moment, self.code)


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
