"""Reads PowerPoint presentations with python-pptx: one page per slide, with its speaker notes.

Titles are headings. Each paragraph of a shape is a line, list items start with "- " or their number, and
cells are separated by " | ". A chart is the table of its numbers, and a diagram the list of its texts.
Pictures, footers, hidden shapes and struck text are left out.
"""

from collections.abc import Iterator
from typing import Any

from ..archive import Element, attribute, choose_alternatives, local_name, office_file, safe_parser
from .builder import (
    DOWN,
    UP,
    Cell,
    TextBuilder,
    formula,
    in_form,
    join_remarks,
    one_line,
    settle,
    shifted,
    whole,
)
from .cell_format import show_number

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
FOOTERS = frozenset(("DATE", "FOOTER", "HEADER", "SLIDE_NUMBER"))
BODIES = frozenset(("BODY", "OBJECT", "VERTICAL_BODY", "VERTICAL_OBJECT"))
BULLETS = "a:pPr/a:buChar | a:pPr/a:buBlip"
A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
ON = ("1", "true")
ROW = 360_000  # of a slide: a centimetre in the units of the format


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
    choose_alternatives(slide._element)
    title = slide.shapes.title
    if title is not None:
        builder.write_heading(_words(title.text_frame), 1)
    for shape in _shapes(slide.shapes):
        if title is None or shape.shape_id != title.shape_id:
            builder.end_line(blank=True)
            _write_shape(builder, shape)
    notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    lines = "" if notes is None else "\n".join(map(_text, notes.paragraphs))
    builder.finish_slide(number, "\n".join(filter(None, map(one_line, lines.splitlines()))))
    return builder


def _shapes(shapes: Any) -> Iterator[Any]:
    """The shapes that are shown, row by row, with those inside groups; at one place in the file's order.

    lxml limits the depth of groups to 256.
    """
    for shape in sorted(shapes, key=lambda each: (round((each.top or 0) / ROW), each.left or 0)):
        if shape._element.find(".//{*}cNvPr").get("hidden") in ON:
            continue
        if hasattr(shape, "shapes"):
            yield from _shapes(shape.shapes)
        else:
            yield shape


def _write_shape(builder: TextBuilder, shape: Any) -> None:
    """Write the lines of a text or a diagram, a table or a chart."""
    kind = shape.placeholder_format.type.name if shape.is_placeholder else ""
    if kind in FOOTERS:
        return
    if getattr(shape, "has_table", False):
        builder.write_table(
            [
                Cell.spanning(_words(cell.text_frame), cell.span_height, cell.span_width)
                for cell in row.cells
                if not cell.is_spanned
            ]
            for row in shape.table.rows
        )
    elif getattr(shape, "has_chart", False):
        _write_chart(builder, shape.chart)
    elif shape.has_text_frame:
        paragraphs = [paragraph for paragraph in shape.text_frame.paragraphs if _text(paragraph).strip()]
        in_list = kind in BODIES and len(paragraphs) > 1
        counts: dict[int, int] = {}  # the last number of each level
        for paragraph in paragraphs:
            level = paragraph.level
            mark = "- " if in_list or paragraph._p.xpath(BULLETS) else ""
            numbered = paragraph._p.find("{*}pPr/{*}buAutoNum")
            counts = {depth: n for depth, n in counts.items() if depth < level + (numbered is not None)}
            if numbered is not None:
                counts[level] = counts.get(level, whole(numbered.get("startAt"), 1) - 1) + 1
                mark = in_form(counts[level], numbered.get("type", "")[:5]) + ". "
            line = "  " * level * bool(mark) + mark + _text(paragraph).strip()
            builder.write_paragraph(line, blank=False)
    elif (diagram := shape._element.find(".//{*}relIds")) is not None:
        for line in _diagram_lines(shape.part.rels.get(attribute(diagram, "dm"))):
            builder.write_paragraph(line, blank=False)


def _words(frame: Any) -> str:
    """The text of a frame on one line."""
    return one_line("\n".join(map(_text, frame.paragraphs)))


def _text(paragraph: Any) -> str:
    return settle("".join(_texts(paragraph._p, "")))


def _texts(element: Element, mark: str) -> Iterator[str]:
    """The pieces of text in an element that are not struck; `mark` is that of `shifted`."""
    properties = element.find(f"{A}rPr")
    if properties is not None:
        if properties.get("strike", "noStrike") != "noStrike":
            return
        baseline = properties.get("baseline", "0").strip("0%")
        mark = mark if not baseline else DOWN if baseline.startswith("-") else UP
    for child in element:
        name = local_name(child)
        if name == "t":
            yield shifted(child.text or "", mark)
        elif name == "br":
            yield "\n"
        elif name == "oMath":
            yield formula(child)
        else:
            yield from _texts(child, mark)


def _diagram_lines(relation: Any) -> Iterator[str]:
    """The texts of a diagram."""
    from lxml import etree

    if relation is not None:
        for point in etree.fromstring(relation.target_part.blob, safe_parser()).iterfind(".//{*}pt/{*}t"):
            yield one_line(settle("".join(_texts(point, ""))))


def _write_chart(builder: TextBuilder, chart: Any) -> None:
    """Write the title of a chart and a table of its numbers; a row for each series."""
    if chart.has_title and chart.chart_title.has_text_frame:
        builder.write_paragraph(_words(chart.chart_title.text_frame), blank=False)
    for plot in chart.plots:
        rows = [["", *map(str, plot.categories)]]
        for series in plot.series:
            code = series._element.findtext("{*}val//{*}formatCode", "")
            values = ("" if value is None else show_number(value, code) for value in series.values)
            rows.append([series.name, *values])
        builder.write_table([Cell(one_line(text)) for text in row] for row in rows)
