"""OpenDocument texts: the body in its order, then footnotes and endnotes; tracked deletions are left out."""

from __future__ import annotations

from spanwise.types import Document

from .building import build_document
from .flow_writer import FlowWriter
from .odf import body, meta_title, open_package
from .titles import first_line

MEDIA_TYPE = "application/vnd.oasis.opendocument.text"


def read(data: bytes, document_id: str) -> Document:
    """The document of an .odt file; title from its properties, else the first heading, line or file name."""
    package = open_package(data)
    root, text = body(package, "text")
    writer = FlowWriter(root)
    writer.write_blocks(text)
    writer.write_notes(text)
    builder = writer.builder
    heading = builder.headings[0].text if builder.headings else ""
    titles = (meta_title(package), heading, first_line(builder.text))
    return build_document(builder, data, document_id, MEDIA_TYPE, *titles)
