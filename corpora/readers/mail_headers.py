"""The headers of a mail message as a person reads them, however broken they are.

They are decoded here, because the standard library's newer policy fails on some broken headers and takes
quadratic time on some long ones.
"""

from __future__ import annotations

import codecs
from datetime import UTC
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.policy import Compat32
from email.utils import parsedate_to_datetime

from spanwise.errors import DocumentRejected

from ..decoding import decode

MAX_HEADER = 10_000  # characters
ESCAPING = ("iso2022", "hz")  # whose bytes look like ASCII, so that only the declaration tells them


class ShortHeaders(Compat32):
    """Headers cut to `MAX_HEADER`: the standard library takes quadratic time on parameters."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        """The name and the value of a header that stands on these lines."""
        name, value = super().header_source_parse(sourcelines)
        return name, value[:MAX_HEADER]


def header(message: Message, name: str) -> str:
    """The decoded value of the first header of that name on one line, or the empty string."""
    values = (value for key, value in message.raw_items() if key.lower() == name.lower())
    return readable(str(next(values, "")))


def sent(message: Message) -> str:
    """The time in the Date header in ISO 8601, or the empty string where that holds none."""
    try:
        moment = parsedate_to_datetime(header(message, "Date"))
    except (TypeError, ValueError, OverflowError):
        return ""
    # The zone -0000 says that the time is of UTC and the sender somewhere else.
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat()


def readable(raw: str) -> str:
    """Encoded words and bare bytes as text on one line; what cannot be decoded stays as it stands."""
    # The parser keeps bytes that are no ASCII as surrogates.
    text = raw if raw.isascii() else in_charset(raw.encode("utf-8", "surrogateescape"), None)
    try:
        parts = decode_header(text)
    except HeaderParseError:
        parts = [(text, None)]
    words = "".join(_part(words, charset) for words, charset in parts)
    return " ".join(words.split()) or " ".join(text.split())


def in_charset(data: bytes, charset: str | None) -> str:
    """Text in a declared character set; where that is wrong or missing, in the one that fits."""
    try:
        if charset and codecs.lookup(charset).name.startswith(ESCAPING):
            return data.decode(charset, "replace")
    except (LookupError, ValueError):
        pass  # no such character set: it is guessed
    try:
        return decode(data, charset)[0]
    except DocumentRejected:
        return data.decode("latin-1")


def file_name(part: Message) -> str:
    """The name that an attachment carries, or the empty string."""
    try:
        return readable(part.get_filename() or "")
    except (LookupError, TypeError, ValueError):  # parameters that are split or encoded the wrong way
        return ""


def _part(words: str | bytes, charset: str | None) -> str:
    """A piece of a header; between encoded words it comes as bytes in Python's own escape."""
    if isinstance(words, str):
        return words
    return in_charset(words, charset) if charset else words.decode("raw-unicode-escape", "replace")
