"""Reads PowerPoint presentations with python-pptx: one page per slide, with its speaker notes.

Titles are headings. Each paragraph of a shape is a line, list items start with "- ", and cells are separated
by " | ". A chart is the table of its numbers. Pictures, diagrams and footers are left out.
"""

from collections.abc import Iterator
from typing import Any

from ..archive import office_file
from .builder import TextBuilder, join_remarks, one_line

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
FOOTERS = frozenset(("DATE", "FOOTER", "HEADER", "SLIDE_NUMBER"))
BODIES = frozenset(("BODY", "OBJECT", "VERTICAL_BODY", "VERTICAL_OBJECT"))
BULLETS = ("buChar", "buAutoNum", "buBlip")
MAX_GROUPS = 50  # groups of shapes inside groups


def read(data: bytes) -> TextBuilder:
    """The document of a .pptx file, titled by its properties or its first slide; slide n is page n."""
    from pptx import Presentation

    builder = TextBuilder()
    hidden: list[str] = []
    empty: list[str] = []
    with office_file(data, "PowerPoint presentation") as file:
        show = Presentation(file)
        for number, slide in enumerate(show.slides, start=1):
            page = _page(slide, number)
            builder.add_page(page)
            if slide._element.get("show") in ("0", "false"):
                hidden.append(str(number))
            if not page.length:
                empty.append(str(number))
        title = show.core_properties.title or ""
    remark = join_remarks({"hidden slides": hidden, "slides without text": empty})
    titles = (title, builder.first_heading, builder.first_line)
    return builder.described(MEDIA_TYPE, *titles, remark=remark)


def _page(slide: Any, number: int) -> TextBuilder:
    """The text of a slide with its heading and labels; empty if the slide has no text."""
    builder = TextBuilder()
    title = slide.shapes.title
    if title is not None:
        builder.write_heading(one_line(title.text_frame.text), 1)
    for shape in _shapes(slide.shapes):
        if title is None or shape.shape_id != title.shape_id:
            builder.end_line(blank=True)
            for line in _lines(shape):
                builder.write(line)
                builder.end_line()
    notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    lines = notes.text.splitlines() if notes is not None else ()
    builder.finish_slide(number, "\n".join(filter(None, map(one_line, lines))))
    return builder


def _shapes(shapes: Any, depth: int = 0) -> Iterator[Any]:
    """The shapes in the order of the file, with those inside groups."""
    for shape in shapes:
        if hasattr(shape, "shapes") and depth < MAX_GROUPS:
            yield from _shapes(shape.shapes, depth + 1)
        else:
            yield shape


def _lines(shape: Any) -> Iterator[str]:
    """The lines of a text, a table or a chart."""
    kind = shape.placeholder_format.type if shape.is_placeholder else None
    if kind is not None and kind.name in FOOTERS:
        return
    if getattr(shape, "has_table", False):
        for row in shape.table.rows:
            yield _row(cell.text for cell in row.cells)
    elif getattr(shape, "has_chart", False):
        yield from _chart_lines(shape.chart)
    elif shape.has_text_frame:
        paragraphs = [paragraph for paragraph in shape.text_frame.paragraphs if paragraph.text.strip()]
        in_list = kind is not None and kind.name in BODIES and len(paragraphs) > 1
        for paragraph in paragraphs:
            bullet = any(paragraph._p.find(f"{{*}}pPr/{{*}}{name}") is not None for name in BULLETS)
            text = paragraph.text.strip().replace("\v", "\n")
            yield "  " * paragraph.level + f"- {text}" if in_list or bullet else text


def _chart_lines(chart: Any) -> Iterator[str]:
    if chart.has_title and chart.chart_title.has_text_frame:
        yield one_line(chart.chart_title.text_frame.text)
    for plot in chart.plots:
        if categories := list(plot.categories):
            yield _row(["", *map(str, categories)])
        for series in plot.series:
            yield _row([series.name, *("" if value is None else f"{value:g}" for value in series.values)])


def _row(cells: Any) -> str:
    return " | ".join(map(one_line, cells)).rstrip(" |")
