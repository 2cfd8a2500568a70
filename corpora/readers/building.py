"""What was written becomes a document: the last step of every reader that extracts its text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256

from spanwise.types import Document

from .text_builder import TextBuilder
from .titles import choose_title


def build_document(
    builder: TextBuilder,
    data: bytes,
    document_id: str,
    media_type: str,
    *titles: str,
    page_starts: Sequence[int] = (),
    **metadata: str,
) -> Document:
    """The document of the file `data`; its title is the first of `titles` with words, or the file name.

    Metadata without a value is left out.
    """
    return Document(
        id=document_id,
        media_type=media_type,
        sha256=sha256(data).hexdigest(),
        title=choose_title(*titles, document_id=document_id),
        text=builder.text,
        page_starts=tuple(page_starts),
        headings=tuple(builder.headings),
        labels=tuple(builder.labels),
        metadata={key: value for key, value in metadata.items() if value},
    )


def joined(remarks: Mapping[str, Sequence[str]]) -> str:
    """One sentence of what each remark lists, without those that list nothing.

    >>> joined({"hidden slides": ["2", "5"], "slides without text": []})
    'hidden slides: 2, 5'
    """
    return "; ".join(f"{remark}: {', '.join(items)}" for remark, items in remarks.items() if items)
