"""Plain text: the file itself, code point for code point."""

from __future__ import annotations

from hashlib import sha256

from spanwise.types import Document

from ..decoding import decode
from .titles import choose_title, first_line

MEDIA_TYPE = "text/plain"


def read(data: bytes, document_id: str) -> Document:
    """The document of a plain text file; line ends and control characters are kept."""
    text, encoding = decode(data)
    return Document(
        id=document_id,
        media_type=MEDIA_TYPE,
        sha256=sha256(data).hexdigest(),
        title=choose_title(first_line(text), document_id=document_id),
        text=text,
        metadata={"encoding": encoding},
    )
