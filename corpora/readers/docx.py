"""Word documents: paragraphs and tables in the order of the body, then footnotes and endnotes.

python-docx opens the package; how the text is taken from it stands in `body_writer`.
"""

from __future__ import annotations

from hashlib import sha256
from io import BytesIO

from spanwise.errors import DocumentRejected
from spanwise.types import Document

from .body_writer import write_body
from .text_builder import TextBuilder
from .titles import choose_title, first_line
from .zip_limits import check_zip

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


def read(data: bytes, document_id: str) -> Document:
    """The document of a .docx file; title from its properties, else the first heading, line or file name."""
    check_zip(data)
    builder, title = _write(data)
    text = builder.text
    heading = builder.headings[0].text if builder.headings else ""
    return Document(
        id=document_id,
        media_type=MEDIA_TYPE,
        sha256=sha256(data).hexdigest(),
        title=choose_title(title, heading, first_line(text), document_id=document_id),
        text=text,
        headings=tuple(builder.headings),
    )


def _write(data: bytes) -> tuple[TextBuilder, str]:
    import docx

    try:
        word = docx.Document(BytesIO(data))
        return write_body(word), word.core_properties.title or ""
    except KeyError as error:  # a part that python-docx looks for by its transitional name
        raise DocumentRejected(f"damaged, or in the Strict Open XML form: {error.args[0]}") from error
    except Exception as error:  # python-docx and lxml raise what they like on a damaged package
        raise DocumentRejected(f"damaged Word document: {type(error).__name__}: {error}") from error
