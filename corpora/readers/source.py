"""Documents whose stored text is the file itself, so that its lines are those that an editor shows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from hashlib import sha256

from spanwise.types import Document, Heading, Label

from ..decoding import decode
from .titles import choose_title

LINE = re.compile(r"[^\r\n]*+(?:\r\n|\r|\n|\Z)")


def source_document(
    data: bytes,
    document_id: str,
    media_type: str,
    decoded: tuple[str, str],
    title: str = "",
    headings: Sequence[Heading] = (),
    labels: Sequence[Label] = (),
    remark: str = "",
) -> Document:
    """The document of a file and of what `decode` made of it: its text and the name of its encoding."""
    text, encoding = decoded
    return Document(
        id=document_id,
        media_type=media_type,
        sha256=sha256(data).hexdigest(),
        title=choose_title(title, document_id=document_id),
        text=text,
        headings=tuple(headings),
        labels=tuple(labels),
        metadata={"encoding": encoding, **({"remark": remark} if remark else {})},
    )


def unparsed(data: bytes, document_id: str, declared: str | None, reason: str) -> Document:
    """A file that is text but not of its format, as plain text, with a remark that says why."""
    remark = f"{reason}; it is read as plain text"
    return source_document(data, document_id, "text/plain", decode(data, declared), remark=remark)


def lines_of(text: str) -> Iterator[tuple[int, str]]:
    """The offset and words of each line, no white space at their right; "\\\\r" alone ends one too."""
    for line in LINE.finditer(text):
        yield line.start(), line[0].rstrip()


def title_of(headings: Sequence[Heading]) -> str:
    """The words of the first heading if it is of the highest level, or the empty string."""
    if not headings or headings[0].level > min(heading.level for heading in headings):
        return ""
    return headings[0].text
