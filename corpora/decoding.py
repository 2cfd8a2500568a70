"""Bytes to text, once and for all: every offset in an index counts the code points that come out here.

The order is fixed: byte order mark, then UTF-16 without one, then UTF-8, then the encoding that the file
itself declares, then the guess of charset-normalizer among the encodings of `GUESSED`. Nothing else is
changed: line ends, NUL and other control characters stay as they are; only the byte order mark is dropped.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator

from spanwise.errors import DocumentRejected

from .binary import is_binary, unmarked_utf16

# UTF-32 first: its little-endian mark begins with that of UTF-16.
MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Western first: it wins ties, because in short texts many encodings look equally clean.
GUESSED = (
    *("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "koi8_r"),
    *("cp932", "euc_jp", "gb18030", "big5", "cp949"),
)
SAMPLE = 1 << 18  # bytes that a guess is made from
# Python also registers codecs that are no character sets, some of them slow on hostile input (punycode).
DECLARABLE = (
    *("ascii", "iso8859", "cp", "koi8", "shift_jis", "euc_", "gb", "big5", "mac-", "tis-620", "utf-16"),
)


def decode(data: bytes, declared: str | None = None) -> tuple[str, str]:
    """The text of a file and the name of its encoding; `DocumentRejected` when no encoding fits."""
    for mark, encoding in MARKS:
        if data.startswith(mark):
            return _marked(data[len(mark) :], encoding), encoding
    for encoding in _candidates(data, declared):
        text = _strict(data, encoding)
        if text is not None:
            return text, encoding
    raise DocumentRejected("not text: neither UTF-8 nor any other known encoding fits its bytes")


def _candidates(data: bytes, declared: str | None) -> Iterator[str]:
    """Encodings to try, best first; the guess is made only when the others have failed."""
    if order := unmarked_utf16(data):
        yield order
    yield "utf-8"
    if declared and (name := _declarable(declared)):
        yield name
    if name := _guess(data):
        yield name


def _marked(data: bytes, encoding: str) -> str:
    text = _strict(data, encoding)
    if text is None:
        raise DocumentRejected(f"not text: its byte order mark says {encoding}, its bytes are not")
    return text


def _strict(data: bytes, encoding: str) -> str | None:
    """The decoded text, None when the bytes do not fit. Never holds a lone surrogate."""
    try:
        text = data.decode(encoding)
        text.encode("utf-8")
    except (UnicodeError, LookupError):
        return None
    return text


def _declarable(declared: str) -> str | None:
    """The codec's own name for a declared encoding, None when it is unknown or not a character set."""
    try:
        name = codecs.lookup(declared).name
    except (LookupError, ValueError):
        return None
    return name if name.startswith(DECLARABLE) else None


def _guess(data: bytes) -> str | None:
    """The encoding that charset-normalizer finds likeliest; a tie goes to cp1252 if it is in it."""
    from charset_normalizer import from_bytes

    if is_binary(data):
        return None
    matches = from_bytes(_sample(data), cp_isolation=list(GUESSED))
    best = matches.best()
    if best is None:
        return None
    ties = [m for m in matches if (m.chaos, m.coherence) == (best.chaos, best.coherence)]
    western = any("cp1252" in match.could_be_from_charset for match in ties)
    return "cp1252" if western else best.encoding


def _sample(data: bytes) -> bytes:
    """The lines that end within the first `SAMPLE` bytes: no guessed encoding has line ends in letters."""
    return data if len(data) <= SAMPLE else data[: data.rfind(b"\n", 0, SAMPLE) + 1] or data[:SAMPLE]
