"""Writes the PDF and Word documents of the sample corpus from the texts in `source/`.

    python corpora/sample/make.py

`source/reports/ferry-2023.docx.md` becomes `docs/reports/ferry-2023.docx`: the suffix before `.md` names
the format. The sources use six constructs of Markdown, each a block between blank lines: `#` headings,
paragraphs, `-` lists, `1.` lists, `|` tables, and `---` for a new page. Inline markup is not interpreted.

Two runs give the same bytes: dates and identifiers are fixed, and members of Word archives carry no time.
"""

from __future__ import annotations

import argparse
import io
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal
from xml.sax.saxutils import escape

import docx
from reportlab.lib.pagesizes import A5  # type: ignore[import-untyped]
from reportlab.lib.styles import ParagraphStyle, getSampleStyleSheet  # type: ignore[import-untyped]
from reportlab.lib.units import mm  # type: ignore[import-untyped]
from reportlab.platypus import (  # type: ignore[import-untyped]
    Flowable,
    KeepTogether,
    PageBreak,
    Paragraph,
    SimpleDocTemplate,
    Table,
    TableStyle,
)

HERE = Path(__file__).parent
AUTHOR = "The spanwise authors"
DATE = datetime(2024, 7, 1, 12, 0)

Kind = Literal["heading", "paragraph", "bullets", "numbers", "table", "page"]


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a source: the text of its lines, items or cells, without their marks.

    `rows` holds one row of one cell for a heading or paragraph, one such row an item for a list, and the
    cells of each row for a table. `level` is that of a heading, and 0 otherwise.
    """

    kind: Kind
    rows: tuple[tuple[str, ...], ...] = ()
    level: int = 0

    @property
    def text(self) -> str:
        """The words of a heading or a paragraph."""
        return self.rows[0][0]


def blocks(source: str) -> Iterator[Block]:
    """The blocks of a source, in order.

    >>> [block.kind for block in blocks("# Ice\\n\\nCold.\\n\\n- one\\n- two")]
    ['heading', 'paragraph', 'bullets']
    """
    for chunk in re.split(r"\n{2,}", source.strip()):
        lines = chunk.split("\n")
        if chunk == "---":
            yield Block("page")
        elif chunk.startswith("#"):
            marks, _, words = chunk.partition(" ")
            yield Block("heading", ((words,),), len(marks))
        elif chunk.startswith("- "):
            yield Block("bullets", tuple((line[2:],) for line in lines))
        elif chunk.startswith("1. "):
            yield Block("numbers", tuple((line.split(" ", 1)[1],) for line in lines))
        elif chunk.startswith("|"):
            cells = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines]
            yield Block("table", (cells[0], *cells[2:]))  # cells[1] is the rule |---|---|
        else:
            yield Block("paragraph", ((" ".join(lines),),))


class PdfTemplate(SimpleDocTemplate):  # type: ignore[misc]
    """A page layout with a footer, which adds every heading to the outline."""

    def afterPage(self) -> None:  # noqa: N802 (reportlab's name)
        """Writes the title and the page number below the text of a page."""
        self.canv.setFont("Times-Italic", 8)
        self.canv.drawCentredString(A5[0] / 2, 9 * mm, f"{self.title} - page {self.page}")

    def afterFlowable(self, flowable: Flowable) -> None:  # noqa: N802 (reportlab's name)
        """Puts a heading that has just been set into the outline."""
        name = getattr(getattr(flowable, "style", None), "name", "")
        if name in ("Heading1", "Heading2"):
            key = f"heading-{self.page}-{flowable.text}"
            self.canv.bookmarkPage(key)
            self.canv.addOutlineEntry(flowable.text, key, level=int(name[-1]) - 1)


def pdf(source: str) -> bytes:
    """The source as a PDF of A5 pages with an outline."""
    parsed = list(blocks(source))
    out = io.BytesIO()
    margin = 17 * mm
    template = PdfTemplate(
        out,
        pagesize=A5,
        leftMargin=margin,
        rightMargin=margin,
        topMargin=margin,
        bottomMargin=margin,
        title=parsed[0].text,
        author=AUTHOR,
        invariant=1,
    )
    template.build([pdf_flowable(block) for block in parsed])
    return out.getvalue()


def pdf_flowable(block: Block) -> Flowable:
    """The block as reportlab sets it."""
    styles = getSampleStyleSheet()
    body = ParagraphStyle("Body", styles["BodyText"], fontName="Times-Roman", fontSize=9.5, leading=12)
    match block.kind:
        case "page":
            return PageBreak()
        case "heading":
            return Paragraph(escape(block.text), styles[f"Heading{block.level}"])
        case "paragraph":
            return Paragraph(escape(block.text), body)
        case "table":
            look = [("GRID", (0, 0), (-1, -1), 0.4, "grey"), ("FONT", (0, 0), (-1, -1), "Times-Roman", 9)]
            return Table(block.rows, style=TableStyle(look), spaceBefore=4, spaceAfter=8)
        case "bullets" | "numbers":
            item = ParagraphStyle("Item", body, leftIndent=14, bulletIndent=2)
            marks = [f"{n}." if block.kind == "numbers" else "-" for n in range(1, len(block.rows) + 1)]
            pairs = zip(marks, block.rows, strict=True)
            return KeepTogether([Paragraph(escape(text), item, bulletText=mark) for mark, (text,) in pairs])


def word(source: str) -> bytes:
    """The source as a Word document with heading, list and table styles."""
    document = docx.Document()
    for block in blocks(source):
        add_to_word(document, block)
    core = document.core_properties
    core.title = next(blocks(source)).text
    core.author = core.last_modified_by = AUTHOR
    core.comments = ""
    core.created = core.modified = DATE
    out = io.BytesIO()
    document.save(out)
    return without_times(out.getvalue())


def add_to_word(document: Any, block: Block) -> None:
    """Appends the block to the document."""
    match block.kind:
        case "page":
            document.add_page_break()
        case "heading":
            document.add_heading(block.text, block.level)
        case "paragraph":
            document.add_paragraph(block.text)
        case "table":
            table = document.add_table(len(block.rows), len(block.rows[0]), style="Table Grid")
            for row, texts in zip(table.rows, block.rows, strict=True):
                for cell, text in zip(row.cells, texts, strict=True):
                    cell.text = text
        case "bullets" | "numbers":
            style = "List Bullet" if block.kind == "bullets" else "List Number"
            for (item,) in block.rows:
                document.add_paragraph(item, style)


def without_times(archive: bytes) -> bytes:
    """The zip archive with the same members in the same order, all dated 1 January 1980."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(out, "w") as new:
        for member in old.infolist():
            info = zipfile.ZipInfo(member.filename)
            new.writestr(info, old.read(member), zipfile.ZIP_DEFLATED)
    return out.getvalue()


WRITERS = {".pdf": pdf, ".docx": word}


def make(folder: Path) -> list[Path]:
    """The paths of the documents written under `folder`, in sorted order of their sources."""
    written = []
    for source in sorted((HERE / "source").glob("*/*.md")):
        target = folder / source.relative_to(HERE / "source").with_suffix("")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(WRITERS[target.suffix](source.read_text(encoding="utf-8")))
        written.append(target)
    return written


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write the PDF and Word documents of the sample corpus.")
    parser.add_argument("folder", type=Path, nargs="?", default=HERE / "docs", help="default: %(default)s")
    print(f"{len(make(parser.parse_args().folder))} documents written")
