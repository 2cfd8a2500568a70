"""The lines of a slide: its title as heading, then text, tables, charts and diagrams, then the notes.

Paragraphs of a shape stand on lines of their own, items of lists begin with "- ", cells are separated by "
| ", a chart is the table of its numbers, a diagram the list of its boxes. Pictures, footers, dates and
slide numbers are left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from .opc import relation_id, relations, targets
from .package import Element, Package, attribute, local_name
from .text_builder import TextBuilder

TITLES = ("title", "ctrTitle")
BODIES = ("", "body", "obj")  # placeholders whose paragraphs carry bullets unless they say otherwise
FURNITURE = ("dt", "ftr", "hdr", "sldNum", "sldImg")
BULLETS = ("buChar", "buAutoNum", "buBlip")


def is_hidden(slide: Element) -> bool:
    """True for a slide that is passed over in the show."""
    return slide.get("show") in ("0", "false")


def write_slide(package: Package, part: str, slide: Element, number: int) -> TextBuilder:
    """The text of one slide with its heading and its labels; empty when the slide has no text."""
    writer = SlideWriter(package, part)
    shapes = list(_shapes(slide))
    for shape in sorted(shapes, key=lambda shape: _placeholder(shape) not in TITLES):
        writer.write_shape(shape)
    builder = writer.builder
    if builder.length:
        builder.add_label(0, f"slide {number} (hidden)" if is_hidden(slide) else f"slide {number}")
    for notes in targets(package, part, "notesSlide"):
        _write_notes(builder, package.xml(notes), number)
    return builder


def _write_notes(builder: TextBuilder, notes: Element, number: int) -> None:
    lines = [
        line
        for shape in _shapes(notes)
        if _placeholder(shape) == "body"
        for line in _lines(shape, bulleted=False)
        if line
    ]
    if lines:
        builder.end_line(blank=True)
        builder.add_label(builder.write("Notes: " + "\n".join(lines)), f"slide {number}, notes")


def _shapes(element: Element) -> Iterator[Element]:
    """The shapes and frames below an element, those of groups too, in the order of the file."""
    for child in element:
        match local_name(child):
            case "sp" | "graphicFrame":
                yield child
            case "Fallback":  # what older programs show instead
                continue
            case _:
                yield from _shapes(child)


def _placeholder(shape: Element) -> str | None:
    """The type of placeholder that a shape is, empty for the common one, None for other shapes."""
    found = shape.find("{*}nvSpPr/{*}nvPr/{*}ph")
    return None if found is None else attribute(found, "type")


def _lines(shape: Element, bulleted: bool) -> Iterator[str]:
    """The paragraphs of a shape, list items marked and indented; `bulleted` is for those that say nothing."""
    for paragraph in shape.iterfind("{*}txBody/{*}p"):
        words = _words(paragraph).strip()
        settings = paragraph.find("{*}pPr")
        marks = {local_name(mark) for mark in settings} if settings is not None else set()
        level = attribute(settings, "lvl", "0") if settings is not None else "0"
        item = marks.intersection(BULLETS) or (bulleted and "buNone" not in marks)
        indent = "  " * int(level) if level in tuple("012345678") else ""
        yield f"{indent}- {words}" if item and words else words


def _words(element: Element) -> str:
    """The text below an element; formulas count, line breaks are kept, deleted alternatives are not."""
    pieces = []
    for found in element.iter("{*}t", "{*}br", "{*}p"):
        if local_name(found) == "t":
            pieces.append(found.text or "")
        elif found is not element:
            pieces.append("\n")
    return "".join(pieces)


class SlideWriter:
    """Writes the shapes of one slide into `builder`."""

    def __init__(self, package: Package, part: str) -> None:
        self.builder = TextBuilder()
        self._package = package
        self._relations = relations(package, part)

    def write_shape(self, shape: Element) -> None:
        """Write a shape or frame between empty lines."""
        kind = _placeholder(shape)
        if kind in FURNITURE:
            return
        self.builder.end_line(blank=True)
        if kind in TITLES:
            start = self.builder.write(" ".join(_words(shape).split()))
            self.builder.add_heading(start, 1)
        elif local_name(shape) == "sp":
            # A body of one paragraph is no list.
            lines = [line for line in _lines(shape, kind in BODIES) if line]
            self._write_lines([lines[0].removeprefix("- ")] if len(lines) == 1 else lines)
        else:
            self._write_frame(shape)

    def _write_lines(self, lines: list[str]) -> None:
        for line in lines:
            self.builder.write(line)
            self.builder.end_line()

    def _write_frame(self, frame: Element) -> None:
        """Write a table, a chart or a diagram; of embedded objects nothing is known."""
        for found in frame.iter("{*}tbl", "{*}chart", "{*}relIds"):
            match local_name(found):
                case "tbl":
                    self._write_lines([*map(_row, found.iterfind("{*}tr"))])
                case "chart":
                    self._write_chart(found)
                case "relIds":
                    self._write_diagram(found)

    def _related(self, element: Element, name: str) -> Element | None:
        """The root of the part that an element names; None when it is not there."""
        relation = self._relations.get(relation_id(element, name))
        if relation is None or relation.target not in self._package.names:
            return None
        return self._package.xml(relation.target)

    def _write_chart(self, reference: Element) -> None:
        chart = self._related(reference, "id")
        if chart is None:
            return
        title = chart.find("{*}chart/{*}title")
        series = list(chart.iter("{*}ser"))
        lines = [] if title is None else [" ".join(_words(title).split())]
        categories = next((points for one in series if (points := _points(one, "cat", "xVal"))), {})
        if categories:
            lines.append(" | ".join(["", *categories.values()]).strip())
        for one in series:
            values = _points(one, "val", "yVal")
            name = " ".join(_points(one, "tx").values())
            lines.append(" | ".join([name, *(values.get(at, "") for at in categories or values)]))
        self._write_lines([line for line in lines if line.strip(" |")])

    def _write_diagram(self, reference: Element) -> None:
        diagram = self._related(reference, "dm")
        if diagram is not None:
            boxes = (" ".join(_words(point).split()) for point in diagram.iter("{*}pt"))
            self._write_lines([f"- {words}" for words in boxes if words])


def _row(row: Element) -> str:
    cells = (" ".join(_words(cell).split()) for cell in row.iterfind("{*}tc"))
    return " | ".join(cells).rstrip(" |")


def _points(series: Element, *names: str) -> dict[str, str]:
    """What a chart has stored of the cells it shows, by index."""
    return {
        attribute(point, "idx"): " ".join("".join(point.itertext()).split())
        for name in names
        for point in series.iterfind(f"{{*}}{name}//{{*}}pt")
    }
