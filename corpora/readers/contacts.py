"""Reads contacts (.vcf) and calendars (.ics): a line "key: value" for each property, a block for each entry.

Dates are written in words. Pictures and what only programs need are left out.
"""

import logging
import re
from calendar import day_name
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Any

from spanwise.errors import DocumentRejected

from ..decoding import decode
from .builder import TextBuilder, one_line

CONTACTS = "text/vcard"
CALENDAR = "text/calendar"
ENTRY = re.compile(
    r"^BEGIN:(?P<kind>VCARD|VEVENT|VTODO|VJOURNAL)\s*$.*?^END:(?P=kind)\s*$", re.M | re.S | re.I
)
KEYS = {
    "FN": "Name",
    "NICKNAME": "Nickname",
    "ORG": "Organisation",
    "TITLE": "Title",
    "ROLE": "Role",
    "TEL": "Telephone",
    "EMAIL": "E-mail",
    "ADR": "Address",
    "BDAY": "Born",
    "URL": "Web page",
    "NOTE": "Note",
    "SUMMARY": "Event",
    "DTSTART": "When",
    "DUE": "Due",
    "RRULE": "Repeats",
    "LOCATION": "Where",
    "ORGANIZER": "Organiser",
    "ATTENDEE": "Invited",
    "STATUS": "Status",
    "DESCRIPTION": "Description",
}
ADDRESS = ("box", "extended", "street", "code", "city", "region", "country")
DAYS = {name[:2].upper(): name for name in day_name}
FOLD = re.compile(r"\r?\n[ \t]")
LONG_HEAD = re.compile(r"^[^:\n]{1000}[^\n]*", re.M)  # a name with parameters that take a parser's time
PLAIN_TYPES = ("internet", "pref", "voice")  # that say nothing to a reader


def read(data: bytes) -> TextBuilder:
    """The document of a file of contacts or of a calendar; entries that cannot be parsed get a remark.

    `DocumentRejected` without any entry that can.
    """
    source, encoding = decode(data)
    source = LONG_HEAD.sub("", FOLD.sub("", source))
    builder = TextBuilder()
    n_broken = 0
    number = 0
    level = logging.root.manager.disable
    logging.disable()  # the library names each line that it skips
    try:
        for entry in ENTRY.finditer(source):
            lines = _lines_of(entry)
            if not lines:
                n_broken += 1
                continue
            number += 1
            builder.add_label(builder.length, f"record {number}")
            builder.write_paragraph("\n".join(lines))
    finally:
        logging.disable(level)
    if not number:
        raise DocumentRejected("no contact and no event that can be read")
    remark = f"{n_broken} of {n_broken + number} entries cannot be read and are left out" if n_broken else ""
    is_calendar = "BEGIN:VCARD" not in source.upper()
    return builder.described(CALENDAR if is_calendar else CONTACTS, encoding=encoding, remark=remark)


def _lines_of(entry: re.Match[str]) -> list[str]:
    """The lines of an entry; none where it is broken."""
    import vobject
    from vobject.base import VObjectError

    text = entry[0]
    is_event = entry["kind"].upper() != "VCARD"
    around = f"BEGIN:VCALENDAR\n{text}\nEND:VCALENDAR\n" if is_event else text
    try:
        component = vobject.readOne(around, allowQP=True, ignoreUnreadable=True)
        return list(_lines(next(component.getChildren()) if is_event else component))
    except (VObjectError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError):
        return []  # counted by the caller


def _lines(entry: Any) -> Iterator[str]:
    """The lines of an entry, in the order of `KEYS`; a key with another value gets a number."""
    seen: dict[str, int] = {}
    children = [child for child in entry.getChildren() if child.name in KEYS]
    for child in sorted(children, key=lambda child: list(KEYS).index(child.name)):
        key = f"{KEYS[child.name]}{_kind(child)}"
        value = _when(entry, child) if child.name == "DTSTART" else _words(child)
        if value:
            seen[key] = seen.get(key, 0) + 1
            yield f"{key}{f' {seen[key]}' * (seen[key] > 1)}: {one_line(value)}"


def _kind(child: Any) -> str:
    """The kind of a telephone number, an address or a mail address, such as " (work)"."""
    if child.name not in ("TEL", "EMAIL", "ADR"):
        return ""
    named = [name.lower() for name in [*child.params.get("TYPE", ()), *child.singletonparams]]
    kinds = [kind for kind in dict.fromkeys(named) if kind not in PLAIN_TYPES]
    return f" ({', '.join(kinds)})" if kinds else ""


def _words(child: Any) -> str:
    """The value of a property as a reader sees it."""
    value = child.value
    match child.name:
        case "ADR":
            parts = [getattr(value, part) for part in ADDRESS]
            flat = [text for part in parts for text in (part if isinstance(part, list) else [part]) if text]
            return ", ".join(line.strip() for text in flat for line in text.splitlines())
        case "ORGANIZER" | "ATTENDEE":
            address = re.sub(r"^mailto:", "", value, flags=re.I)
            names = child.params.get("CN", ())
            return f"{names[0]} ({address})" if names else address
        case "RRULE":
            return _repeats(value)
        case "STATUS":
            return str(value).lower()
        case "BDAY" if re.fullmatch(r"\d{4}-?\d\d-?\d\d", value):
            return f"{_day(date.fromisoformat(value))} ({value})"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return moment_in_words(value) if isinstance(value, date) else str(value)


def _when(entry: Any, start: Any) -> str:
    """Start and end of an event, with the time zone."""
    begins = start.value
    ends = entry.dtend.value if hasattr(entry, "dtend") else None
    if ends is None and hasattr(entry, "duration"):
        ends = begins + entry.duration.value
    if not isinstance(begins, datetime):
        last = ends - timedelta(days=1) if ends else begins  # the end of whole days is the day after
        return _day(begins) if last <= begins else f"{_day(begins)} to {_day(last)}"
    text = moment_in_words(begins)
    if ends:
        text += f" to {ends:%H:%M}" if ends.date() == begins.date() else f" to {moment_in_words(ends)}"
    zone = start.params.get("X-VOBJ-ORIGINAL-TZID", ["UTC"] if begins.tzinfo else [])
    return f"{text} ({zone[0]})" if zone else text


def moment_in_words(moment: date) -> str:
    """A day, and the time if it has one: Tuesday 11 June 2024, 18:30."""
    return f"{_day(moment)}, {moment:%H:%M}" if isinstance(moment, datetime) else _day(moment)


def _day(day: date) -> str:
    return f"{day:%A} {day.day} {day:%B %Y}"


def _repeats(rule: str) -> str:
    """A rule such as "FREQ=WEEKLY;BYDAY=TH" in words."""
    parts = dict(part.split("=", 1) for part in rule.upper().split(";") if "=" in part)
    words = [parts.get("FREQ", "").lower()]
    if (every := parts.get("INTERVAL", "1")) != "1":
        words.append(f"every {every}")
    if days := [DAYS[day[-2:]] for day in parts.get("BYDAY", "").split(",") if day[-2:] in DAYS]:
        words.append(f"on {', '.join(days)}")
    if until := re.match(r"\d{8}", parts.get("UNTIL", "")):
        words.append(f"until {_day(date.fromisoformat(until[0]))}")
    if times := parts.get("COUNT"):
        words.append(f"{times} times")
    return " ".join(words)
