"""Reads mails and mailboxes: subject, sender, receivers and date, then the text, then the attachments.

The plain form of a text is preferred to others, unless it leaves the text to them. A quotation above the
answer to it is written below. Attached messages and documents are read; other attachments are named. The date
is written in words after "Sent", so that it is no answer to when something happens. Headers are decoded here,
because the newer policy of the standard library fails on some broken headers and takes quadratic time on some
long ones.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from email.errors import CloseBoundaryNotFoundDefect, HeaderParseError
from email.header import decode_header
from email.message import Message
from email.parser import BytesParser
from email.policy import Compat32
from email.utils import parsedate_to_datetime

from spanwise.errors import DocumentRejected

from ..decoding import decode
from . import contacts, html
from .builder import TextBuilder, one_line

MEDIA_TYPE = "message/rfc822"
SHOWN = ("From", "To", "Cc")
LEADING_BLANKS = b"\xef\xbb\xbf\r\n"
MAX_DEPTH = 20  # parts inside parts
MAX_HEADER = 10_000  # characters
MAX_MAILS = 2000  # of a mailbox
MAX_REMARKS = 5  # on attachments
ReadAttached = Callable[[bytes, str], TextBuilder | None]
"""What writes an attached document, given its bytes and its name; None for an unknown format."""
# The line before each mail of a mailbox.
ENVELOPE = re.compile(rb"(?:\A|\r?\n\r?\n)From [^\r\n]{1,200}\r?\n(?=[!-9;-~]{1,76}:)")
FROM_LINE = re.compile(rb"^>(>*From )", re.M)  # as mailboxes write a line that looks like that line
PLAIN = "text/plain"
RICH = "text/html"
STUB = re.compile(r"\bhtml\b|\b(?:view|see|open|read)\b.{0,60}\b(?:browser|online|web)\b", re.I | re.S)
MAX_STUB = 600  # characters of a plain form that leaves the text to another
MUCH = 2  # times the plain form
# A quotation, below the line that names its author, and the answer without other quotations.
ANSWERED = re.compile(
    r"\A((?:(?:[^>\n][^\n]{0,300}\n){1,2}(?<=:\n)\n{0,9})?>[^\n]*+\n(?:(?:>[^\n]*+)?\n)*+)"
    r"((?!--)[^\n]++(?:\n(?!>)[^\n]*+)*+)\Z"
)
FLOWED = re.compile(r"(?<=\S)(?<!\n--)( ?) \n(?!>|-- \n)")  # a line end in the middle of a paragraph


class ShortHeaders(Compat32):
    """Cuts headers to `MAX_HEADER`, because the standard library takes quadratic time on parameters."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        """The name and the value of the header on these lines."""
        name, value = super().header_source_parse(sourcelines)
        return name, value[:MAX_HEADER]


def read(data: bytes, read_attached: ReadAttached = lambda data, name: None) -> TextBuilder:
    """The document of a mail, titled by its subject, or of a mailbox; labels name mails and attachments."""
    data = data.lstrip(LEADING_BLANKS)
    mails = (
        [FROM_LINE.sub(rb"\1", mail) for mail in ENVELOPE.split(data) if mail]
        if data.startswith(b"From ")
        else [data]
    )
    is_mailbox = len(mails) > 1
    writer = MailWriter(read_attached)
    is_cut = False
    for mail in mails[:MAX_MAILS]:
        message = BytesParser(policy=ShortHeaders()).parsebytes(mail.lstrip(LEADING_BLANKS))
        if not message.keys():
            raise DocumentRejected("not a mail message: it has no header")
        writer.write_message(message, is_mailbox=is_mailbox)
        is_cut |= any(CloseBoundaryNotFoundDefect in map(type, part.defects) for part in message.walk())
    remarks = ["truncated: it ends inside a part"] * is_cut + writer.remarks[:MAX_REMARKS]
    if len(mails) > MAX_MAILS:
        remarks.append(f"only the first {MAX_MAILS:,} of {len(mails):,} mails are read")
    described = Message() if is_mailbox else message
    return writer.builder.described(
        MEDIA_TYPE, _header(described, "Subject"), date=_date(described), remark="; ".join(remarks)
    )


class MailWriter:
    """Writes a message and its parts into `builder`; `remarks` name attachments that cannot be read."""

    def __init__(self, read_attached: ReadAttached) -> None:
        self.builder = TextBuilder()
        self.remarks: list[str] = []
        self._read_attached = read_attached
        self._after_attachment = False

    def write_message(self, message: Message, depth: int = 0, is_mailbox: bool = False) -> None:
        """Write the subject as a heading, each shown header on a line, and every part."""
        self._after_attachment = False
        subject = _header(message, "Subject") or "Without a subject" * is_mailbox
        start = self.builder.write_heading(subject, 1)
        if is_mailbox:
            day, _, _ = _date(message).partition("T")
            self.builder.add_label(start, f"mail {subject} {day}".rstrip())
        for name in SHOWN:
            if value := _header(message, name):
                self.builder.write(f"{name}: {value}")
                self.builder.end_line()
        if moment := _moment(message):
            self.builder.write(f"Sent: {contacts.moment_in_words(moment)}")
        elif raw := _header(message, "Date"):
            self.builder.write(f"Sent: {raw}")
        self._write_part(message, depth)

    def _write_part(self, part: Message, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise DocumentRejected(f"more than {MAX_DEPTH} parts inside one another")
        self.builder.end_line(blank=True)
        children = _parts(part)
        kind = part.get_content_type()
        if children and kind == "multipart/alternative":
            self._write_part(_preferred(children), depth + 1)
        elif children and kind == "message/rfc822":
            start = self.builder.write("Attached message:")
            self.builder.add_label(start, f"attached message {_header(children[0], 'Subject')}".rstrip())
            self.write_message(children[0], depth + 1)
            self._after_attachment = True
        elif children:
            for child in children:
                self._write_part(child, depth + 1)
        elif part.get_content_disposition() == "attachment" or part.get_content_maintype() != "text":
            self._write_attachment(part)
        else:
            start = self._include(part)
            if self._after_attachment and start < self.builder.length:
                self.builder.add_label(start, "message text")
                self._after_attachment = False

    def _write_attachment(self, part: Message) -> None:
        """Write the name of an attachment, and its text if it has one."""
        name = _file_name(part)
        if not name and part.get_content_disposition() != "attachment":
            return  # a picture inside a page
        start = self.builder.write(f"Attachment: {name or 'without a name'}")
        self.builder.add_label(start, f"attachment {name}".rstrip())
        self.builder.end_line(blank=True)
        if part.get_content_maintype() == "text":
            self._include(part)
        elif name:
            self._include_attached(part, name)
        self._after_attachment = True

    def _include_attached(self, part: Message, name: str) -> None:
        """Write the text of an attached document; a broken one gets a remark."""
        data = part.get_payload(decode=True)
        try:
            attached = self._read_attached(data, name) if isinstance(data, bytes) else None
        except MemoryError:
            raise
        except Exception as error:  # one bad attachment must not hide the mail
            self.remarks.append(f"attachment {name} cannot be read: {error}")
            return
        if attached is not None:
            self.builder.include(attached)

    def _include(self, part: Message) -> int:
        """Write the text of a part; returns its offset."""
        text = _text(part)
        if part.get_content_type() == RICH:
            return self.builder.include(html.read(text.encode()))
        if part.get_content_type() == contacts.CALENDAR and contacts.ENTRY.search(text):
            return self.builder.include(contacts.read(text.encode()))
        return self.builder.write(ANSWERED.sub(r"\2\n\n\1", text.strip("\n")).rstrip("\n"))


def _parts(part: Message) -> list[Message]:
    parts = part.get_payload() if part.is_multipart() else []
    return [child for child in parts if isinstance(child, Message)]


def _preferred(forms: list[Message]) -> Message:
    """The first plain form of a text unless it is blank, a stub or without attachments, else the richest."""
    plain = [form for form in forms if _words(form, PLAIN)]
    rich = [form for form in forms if _words(form, RICH)]
    if plain and rich:
        words = _words(plain[0], PLAIN)
        is_stub = len(words) < MAX_STUB and STUB.search(words)
        # Apple's programs put attachments into the rich form.
        has_attachments = rich[-1].get_content_type() == "multipart/mixed"
        if is_stub or has_attachments or len(_words(rich[-1], RICH)) > MUCH * len(words):
            return rich[-1]
    return (plain or rich or forms)[0]


def _words(form: Message, kind: str) -> str:
    """The shown text of the parts of a kind."""
    text = "".join(_text(part) for part in form.walk() if part.get_content_type() == kind)
    return html.read(text.encode()).text if kind == RICH else text.strip()


def _text(part: Message) -> str:
    """The text of a part, with "\\n" as line ends and flowed lines joined."""
    data = part.get_payload(decode=True)
    text = _in_charset(data if isinstance(data, bytes) else b"", part.get_content_charset(""))
    text = text.replace("\r\n", "\n").encode("utf-8", "replace").decode()
    space = r"\1" if part.get_param("delsp") == "yes" else " "
    return FLOWED.sub(space, text) if part.get_param("format") == "flowed" else text


def _header(message: Message, name: str) -> str:
    """The decoded value of a header on one line, or the empty string; the first one if it is repeated."""
    values = (value for key, value in message.raw_items() if key.lower() == name.lower())
    return _readable(str(next(values, "")))


def _moment(message: Message) -> datetime | None:
    """The time at which a message is sent, or None."""
    try:
        moment = parsedate_to_datetime(_header(message, "Date"))
    except (TypeError, ValueError, OverflowError):
        return None
    # The zone -0000 means UTC without a known zone.
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _date(message: Message) -> str:
    """The date of a message in ISO 8601, or the empty string."""
    moment = _moment(message)
    return moment.isoformat() if moment else ""


def _file_name(part: Message) -> str:
    """The name of an attachment, or the empty string."""
    try:
        return _readable(part.get_filename() or "")
    except (LookupError, TypeError, ValueError):  # parameters that are wrongly split or encoded
        return ""


def _readable(raw: str) -> str:
    """A header with its encoded words and bare bytes decoded, on one line; unknown codes are kept."""
    # The parser gives bytes that are not ASCII as surrogates.
    text = raw if raw.isascii() else _in_charset(raw.encode("utf-8", "surrogateescape"))
    try:
        parts = decode_header(text)
    except HeaderParseError:
        parts = [(text, None)]
    decoded = ""
    for words, charset in parts:
        if isinstance(words, bytes):  # between encoded words, the standard library escapes text
            words = _in_charset(words, charset) if charset else words.decode("raw-unicode-escape", "replace")
        decoded += words
    return one_line(decoded) or one_line(text)


def _in_charset(data: bytes, charset: str = "") -> str:
    """The text in a declared character set, or in the likeliest if that is wrong or missing."""
    try:
        return decode(data, charset)[0]
    except DocumentRejected:
        return data.decode("latin-1")
