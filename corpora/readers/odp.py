"""OpenDocument presentations: a page a slide, its title as heading, its notes after it."""

from __future__ import annotations

from spanwise.types import Document

from .building import build_document, joined
from .flow_writer import FlowWriter
from .odf import body, children, meta_title, open_package, words
from .package import Element, attribute
from .text_builder import TextBuilder

MEDIA_TYPE = "application/vnd.oasis.opendocument.presentation"


def read(data: bytes, document_id: str) -> Document:
    """The document of an .odp file; slide n is page n, title from its properties or the first slide's."""
    package = open_package(data)
    root, show = body(package, "presentation")
    unseen = {attribute(style, "name") for style in root.iter("{*}style") if _is_unseen(style)}
    builder = TextBuilder()
    page_starts, hidden = [], []
    for number, slide in enumerate(show.iterfind("{*}page"), start=1):
        if attribute(slide, "style-name") in unseen:
            hidden.append(str(number))
        builder.end_line(blank=True)
        page_starts.append(builder.include(_written(root, slide, number)))
    heading = builder.headings[0].text if builder.headings else ""
    return build_document(
        builder,
        data,
        document_id,
        MEDIA_TYPE,
        meta_title(package),
        heading,
        page_starts=page_starts,
        remark=joined({"hidden slides": hidden}),
    )


def _is_unseen(style: Element) -> bool:
    return any(attribute(settings, "visibility") == "hidden" for settings in style)


def _written(root: Element, slide: Element, number: int) -> TextBuilder:
    """The text of one slide with its labels."""
    writer = FlowWriter(root)
    shapes = [shape for shape in slide if not shape.tag.endswith("}notes")]
    for shape in sorted(shapes, key=lambda shape: attribute(shape, "class") != "title"):
        if attribute(shape, "class") == "title":
            writer.write_heading(shape, 1)
        else:
            writer.write_blocks(shape)
    builder = writer.builder
    if builder.length:
        builder.add_label(0, f"slide {number}")
    for notes in slide.iterfind("{*}notes"):
        said = "\n".join(filter(None, map(words, children(notes, "p"))))
        builder.end_line(blank=True)
        if said:
            builder.add_label(builder.write(f"Notes: {said}"), f"slide {number}, notes")
    return builder
