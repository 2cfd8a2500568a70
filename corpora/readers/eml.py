"""Mail messages: subject, sender, receivers and date, then the text, then what is attached.

Of several forms of the same text the plain one is taken. Attached texts and messages are read; of other
attachments the name is kept.
"""

from __future__ import annotations

import re
from email.errors import CloseBoundaryNotFoundDefect
from email.message import Message
from email.parser import BytesParser

from spanwise.errors import DocumentRejected
from spanwise.types import Document

from . import html
from .building import build_document
from .mail_headers import ShortHeaders, file_name, header, in_charset, sent
from .text_builder import TextBuilder

MEDIA_TYPE = "message/rfc822"
SHOWN = ("From", "To", "Cc", "Date")
BLANK = b"\xef\xbb\xbf\r\n"  # in front of the first header
MAX_DEPTH = 20  # parts inside parts
FLOWED = re.compile(r"(?<=\S)(?<!\n--) \n(?!>|-- \n)")  # a line end that only keeps lines short


def read(data: bytes, document_id: str) -> Document:
    """The document of an .eml file, titled with its subject; labels name what is attached.

    Its metadata hold the date on which it was sent.
    """
    message = BytesParser(policy=ShortHeaders()).parsebytes(data.lstrip(BLANK))
    if not message.keys():
        raise DocumentRejected("not a mail message: it has no header")
    writer = MailWriter()
    writer.write_message(message)
    defects = [defect for part in message.walk() for defect in part.defects]
    cut = any(isinstance(defect, CloseBoundaryNotFoundDefect) for defect in defects)
    return build_document(
        writer.builder,
        data,
        document_id,
        MEDIA_TYPE,
        header(message, "Subject"),
        date=sent(message),
        remark="truncated: it ends inside a part" if cut else "",
    )


class MailWriter:
    """Writes a message and what is inside it into `builder`."""

    def __init__(self) -> None:
        self.builder = TextBuilder()
        self._behind_attachment = False

    def write_message(self, message: Message, depth: int = 0) -> None:
        """Write the subject as heading, the headers on lines of their own, and every part."""
        self._behind_attachment = False
        self.builder.end_line(blank=True)
        start = self.builder.write(header(message, "Subject"))
        self.builder.add_heading(start, 1)
        self.builder.end_line(blank=True)
        for name in SHOWN:
            if value := header(message, name):
                self.builder.write(f"{name}: {value}")
                self.builder.end_line()
        self._write_part(message, depth)

    def _write_part(self, part: Message, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise DocumentRejected(f"more than {MAX_DEPTH} parts inside one another")
        self.builder.end_line(blank=True)
        if part.get_content_type() == "multipart/alternative" and part.is_multipart():
            self._write_part(_preferred(_parts(part)), depth + 1)
        elif part.get_content_type() == "message/rfc822" and part.is_multipart():
            self._write_attached_message(_parts(part)[0], depth)
        elif part.is_multipart():
            for child in _parts(part):
                self._write_part(child, depth + 1)
        elif part.get_content_disposition() == "attachment" or part.get_content_maintype() != "text":
            self._write_attachment(part)
        else:
            self._write_text(part)

    def _write_attached_message(self, message: Message, depth: int) -> None:
        start = self.builder.write("Attached message:")
        self.builder.add_label(start, f"attached message {header(message, 'Subject')}".rstrip())
        self.write_message(message, depth + 1)
        self._behind_attachment = True

    def _write_attachment(self, part: Message) -> None:
        """Write its name, and its text if it is one; pictures inside a page have no name of their own."""
        name = file_name(part)
        if not name and part.get_content_disposition() != "attachment":
            return
        start = self.builder.write(f"Attachment: {name or 'without a name'}")
        self.builder.add_label(start, f"attachment {name}".rstrip())
        self.builder.end_line(blank=True)
        if part.get_content_maintype() == "text":
            self._include(part)
        self._behind_attachment = True

    def _write_text(self, part: Message) -> None:
        start = self._include(part)
        if self._behind_attachment and start < self.builder.length:
            self.builder.add_label(start, "message text")
            self._behind_attachment = False

    def _include(self, part: Message) -> int:
        """The offset at which the text of a part starts."""
        text = _text(part)
        if part.get_content_type() == "text/html":
            return self.builder.include(html.read(text.encode(), "page"))
        return self.builder.write(text.strip("\n"))


def _parts(part: Message) -> list[Message]:
    return [child for child in part.get_payload() if isinstance(child, Message)]


def _preferred(forms: list[Message]) -> Message:
    """The plain form of a text if it says anything, else the last, which is the richest."""
    plain = (form for form in forms if form.get_content_type() == "text/plain" and _text(form).strip())
    return next(plain, forms[-1] if forms else Message())


def _text(part: Message) -> str:
    """The text of a part with line ends of one kind, flowed lines whole."""
    data = part.get_payload(decode=True)
    text = in_charset(data if isinstance(data, bytes) else b"", part.get_content_charset())
    text = text.replace("\r\n", "\n").encode("utf-8", "replace").decode()
    return FLOWED.sub(" ", text) if part.get_param("format") == "flowed" else text
