"""Decodes the bytes of files; every offset in an index counts the code points of this text.

The encodings are tried in this order: the byte order mark, UTF-16 full of NUL bytes, a declared encoding
whose bytes look like ASCII, UTF-8, UTF-8 with a few damaged bytes, another declared encoding, the guess of
charset-normalizer among `GUESSED`. The byte order mark is dropped, and what colours and overstrikes of a
terminal add; line ends and control characters stay.
"""

import codecs
import re
from collections.abc import Iterator

from spanwise.errors import DocumentRejected

# UTF-32 first: its little-endian mark begins with that of UTF-16.
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Western first: it wins ties, because many encodings look equally clean in short texts.
GUESSED = "cp1252 cp1250 cp1251 cp1253 cp1254 cp1255 cp1256 koi8_r cp932 euc_jp gb18030 big5 cp949".split()
# Other codecs of Python are not character sets, and some are slow on hostile input (punycode).
DECLARABLE = tuple("ascii iso2022 hz iso8859 cp koi8 shift_jis euc_ gb big5 mac- tis-620 utf-16".split())
ESCAPING = ("iso2022", "hz")  # their bytes look like ASCII; only their declaration shows them
# In HTML and XML.
DECLARED = re.compile(rb"""(?:charset|encoding)\s{0,9}=\s{0,9}["']?([A-Za-z0-9_.:-]{1,40})""", re.I)
DECLARED_WITHIN = 2048  # bytes
SAMPLE = 1 << 18  # bytes that are examined
# Control characters that do not occur in text; white space, backspace and escape do.
CONTROLS = bytes(sorted({*range(32), 127} - {*b"\t\n\v\f\r\b\x1b"}))
MAX_CONTROLS = 0.005  # share in text; in compressed data it is about 0.1
UTF16_CONTROLS = 0.1  # share in UTF-16; UTF-8 with a few NUL bytes has less
MIN_UTF16_UNITS = 16
MAX_ODD = 0.02  # share of code units of UTF-16 that are controls, private or unassigned
MIN_SPACES = 0.005  # share of white space, and of full stops of Chinese and Japanese
# Colours and titles of a terminal, and a letter that the next one is printed over.
TERMINAL = re.compile(
    r"\x1b\[[0-?]*+[ -/]*+[@-~]|\x1b\][^\x07\x1b\r\n]*+(?:\x07|\x1b\\)?|\x1b[@-Z\\^_]|[^\r\n\x08]\x08"
)
MAX_DAMAGED = 100  # bytes that are replaced; and at most one in a thousand, or one
SPACES = frozenset(" \t\n\r\u3000\u3001\u3002")


def decode(data: bytes, declared: str = "") -> tuple[str, str]:
    """The text of a file, and the name of its encoding; `DocumentRejected` if no encoding fits.

    The number of bytes that are replaced follows the name: "utf-8, 2 damaged bytes replaced".
    """
    text, encoding = _decoded(data, declared)
    if "\x1b" in text or "\b" in text:
        text = TERMINAL.sub("", text)
    return text, encoding


def _decoded(data: bytes, declared: str) -> tuple[str, str]:
    for mark, encoding in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            text = _strict(data[len(mark) :], encoding)
            if text is None:
                raise DocumentRejected(
                    f"not text: its byte order mark says {encoding}, but its bytes do not fit"
                )
            return text, encoding
    for encoding in _candidates(data, declared):
        text = _strict(data, encoding)
        if text is None and encoding == "utf-8":
            text, n_damaged = _repaired(data)
            encoding = f"utf-8, {n_damaged} damaged byte{'s'[: n_damaged > 1]} replaced"
        if text is not None:
            return text, encoding
    raise DocumentRejected("not text: its bytes are neither UTF-8 nor another known encoding")


def declared_encoding(data: bytes) -> str:
    """The encoding that a page or an XML file declares, or the empty string."""
    declared = DECLARED.search(data[:DECLARED_WITHIN])
    return declared[1].decode() if declared else ""


def is_text(data: bytes) -> bool:
    """True when the bytes are text in a known encoding."""
    if is_binary(data):
        return False
    try:
        decode(data)
    except DocumentRejected:
        return False
    return True


def is_binary(data: bytes) -> bool:
    """True when many of the first bytes are control characters and the bytes are not UTF-16.

    >>> is_binary(b"words"), is_binary(bytes(range(32)))
    (False, True)
    """
    if _control_share(data) <= MAX_CONTROLS:
        return False
    return not data.startswith((b"\xff\xfe", b"\xfe\xff")) and unmarked_utf16(data) is None


def unmarked_utf16(data: bytes) -> str | None:
    """The encoding of UTF-16 text without a byte order mark, or None.

    >>> unmarked_utf16("A mill by the river.".encode("utf-16-be"))
    'utf-16-be'
    """
    head = data[:SAMPLE]
    if len(data) % 2 or len(head) < 2 * MIN_UTF16_UNITS or b"\0" not in head:
        return None
    # Spaces and line ends have NUL as their high byte in every script.
    high_nul = {"utf-16-be": head[0::2].count(0), "utf-16-le": head[1::2].count(0)}
    likeliest = max(high_nul, key=high_nul.__getitem__)
    text = head.decode(likeliest, errors="replace")
    if "\0" in text:
        return None
    odd = sum(not (character.isprintable() or character.isspace()) for character in text)
    odd += text.count("\ufffd")
    spaces = sum(map(SPACES.__contains__, text))
    return likeliest if odd <= MAX_ODD * len(text) and spaces > MIN_SPACES * len(text) else None


def _control_share(data: bytes) -> float:
    """The share of control characters in the first bytes; about half in UTF-16, less in Chinese text."""
    head = data[:SAMPLE]
    return 1 - len(head.translate(None, CONTROLS)) / max(1, len(head))


def _candidates(data: bytes, declared: str) -> Iterator[str]:
    """The encodings to try, best first; the slow guess comes last."""
    order = unmarked_utf16(data)
    if order and _control_share(data) > UTF16_CONTROLS:
        yield order
    name = _codec(declared)
    if name.startswith(ESCAPING):
        yield name
    yield "utf-8"
    if name.startswith(DECLARABLE):
        yield name
    if order:
        yield order
    if guess := _guess(data):
        yield guess


def _strict(data: bytes, encoding: str) -> str | None:
    """The decoded text, or None if the bytes are not in this encoding."""
    try:
        return data.decode(encoding)
    except UnicodeError:
        return None


def _repaired(data: bytes) -> tuple[str | None, int]:
    """The text of UTF-8 with a few damaged bytes, or None, and their number.

    Other encodings have more such bytes than letters that are valid in UTF-8.
    """
    text = data.decode("utf-8", "replace")
    n_damaged = text.count("\ufffd") - data.count("\ufffd".encode())
    n_valid = len(text.encode()) - len(text) - 2 * n_damaged
    most = min(MAX_DAMAGED, max(1, len(data) // 1000))
    return (text if n_damaged <= most and n_valid > n_damaged else None), n_damaged


def _codec(declared: str) -> str:
    """The name of the codec for a declared encoding, empty if it is unknown."""
    try:
        name = codecs.lookup(declared).name
    except (LookupError, ValueError):
        return ""
    return "cp1252" if name == "iso8859-1" else name  # as browsers do


def _guess(data: bytes) -> str | None:
    """The most likely encoding by charset-normalizer; cp1252 wins a tie."""
    from charset_normalizer import from_bytes

    if is_binary(data):
        return None
    matches = from_bytes(data, cp_isolation=GUESSED)
    best = matches.best()
    if best is None:
        return None
    ties = [match for match in matches if (match.chaos, match.coherence) == (best.chaos, best.coherence)]
    western = any("cp1252" in match.could_be_from_charset for match in ties)
    return "cp1252" if western else best.encoding
