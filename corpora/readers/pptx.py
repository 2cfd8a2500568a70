"""PowerPoint presentations: a page a slide, its shapes in the order of the file, then its speaker notes.

The package is read as XML: python-pptx gives no text of diagrams and alternative content, and does not open
the strict form. How the text is taken from a slide stands in `slide_writer`.
"""

from __future__ import annotations

from collections.abc import Iterator

from spanwise.types import Document

from .building import build_document, joined
from .opc import core_title, main_part, relation_id, relations
from .package import Package
from .slide_writer import is_hidden, write_slide
from .text_builder import TextBuilder
from .titles import first_line

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.presentationml.presentation"


def read(data: bytes, document_id: str) -> Document:
    """The document of a .pptx file; slide n is page n, title from its properties, else the first slide's."""
    package = Package(data)
    builder = TextBuilder()
    page_starts, hidden, bare = [], [], []
    for number, part in enumerate(_slides(package), start=1):
        slide = package.xml(part)
        written = write_slide(package, part, slide, number)
        builder.end_line(blank=True)
        page_starts.append(builder.include(written))
        if is_hidden(slide):
            hidden.append(str(number))
        if not written.length:
            bare.append(str(number))
    return build_document(
        builder,
        data,
        document_id,
        MEDIA_TYPE,
        core_title(package),
        builder.headings[0].text if builder.headings else "",
        first_line(builder.text),
        page_starts=page_starts,
        remark=joined({"hidden slides": hidden, "slides without text": bare}),
    )


def _slides(package: Package) -> Iterator[str]:
    """The parts of the slides in the order of the show."""
    main = main_part(package)
    known = relations(package, main)
    for slide in package.xml(main).iter("{*}sldId"):
        if relation_id(slide) in known:
            yield known[relation_id(slide)].target
