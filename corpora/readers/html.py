"""HTML: the text that a browser would show, in lines; tags, scripts and navigation are left out.

What becomes of the elements stands in `page_writer`. Nothing is fetched, and lxml's parser takes time
linear in the page where the standard library's is quadratic in unclosed tags.
"""

from __future__ import annotations

import re
from hashlib import sha256

from spanwise.types import Document

from ..decoding import decode
from .page_writer import write_page
from .titles import choose_title, first_line

MEDIA_TYPE = "text/html"
CHARSET = re.compile(rb"""charset\s{0,9}=\s{0,9}["']?([A-Za-z0-9_.:-]{1,40})""", re.I)
CHARSET_WITHIN = 2048  # bytes


def read(data: bytes, document_id: str) -> Document:
    """The document of an HTML page; title from `<title>`, else the first heading, line or file name."""
    from bs4 import BeautifulSoup

    declared = CHARSET.search(data[:CHARSET_WITHIN])
    source, encoding = decode(data, declared[1].decode("ascii") if declared else None)
    # The doctype in front keeps bs4 from taking a short text for a path and an XHTML prolog for XML.
    page = BeautifulSoup("<!DOCTYPE html>" + source, "lxml")
    builder = write_page(page)
    text = builder.text
    title = page.title.get_text() if page.title else ""
    heading = builder.headings[0].text if builder.headings else ""
    return Document(
        id=document_id,
        media_type=MEDIA_TYPE,
        sha256=sha256(data).hexdigest(),
        title=choose_title(title, heading, first_line(text), document_id=document_id),
        text=text,
        headings=tuple(builder.headings),
        metadata={"encoding": encoding},
    )
