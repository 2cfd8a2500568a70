"""Presentations become the titles, text, tables, charts and notes of their slides."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO

import pptx
from helpers.document_checks import documents_of
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.presentation import Presentation
from pptx.slide import Slide
from pptx.util import Inches

from spanwise.corpora.readers import pptx as reader
from spanwise.types import Document

read = documents_of(reader.read)

TITLE_AND_BODY = 1
TITLE_ONLY = 5
BLANK = 6


def made(*builds: Callable[[Slide], object], layout: int = TITLE_ONLY) -> Document:
    show = pptx.Presentation()
    for build in builds:
        build(show.slides.add_slide(show.slide_layouts[layout]))
    return read(saved(show), "talk.pptx")


def saved(show: Presentation) -> bytes:
    file = BytesIO()
    show.save(file)
    return file.getvalue()


def titled(title: str) -> Callable[[Slide], object]:
    return lambda slide: setattr(slide.shapes.title, "text", title)


def test_slides_are_pages_with_labels_and_headings() -> None:
    document = made(titled("One"), lambda slide: None, titled("Three"))
    assert document.text == "One\n\nThree"
    assert document.page_starts == (0, 3, 5)
    assert [(label.start, label.text) for label in document.labels] == [(0, "slide 1"), (5, "slide 3")]
    assert [(heading.start, heading.text) for heading in document.headings] == [(0, "One"), (5, "Three")]
    assert document.metadata["remark"] == "slides without text: 2"


def test_bodies_are_lists_with_levels_and_notes_have_a_label() -> None:
    def build(slide: Slide) -> None:
        slide.shapes.title.text = "Owners"
        frame = slide.placeholders[1].text_frame
        frame.text = "Hale"
        frame.add_paragraph().text = "of the mill"
        frame.paragraphs[1].level = 1
        slide.notes_slide.notes_text_frame.text = "said\ntwice"

    document = made(build, layout=TITLE_AND_BODY)
    assert document.text == "Owners\n\n- Hale\n  - of the mill\n\nNotes: said\ntwice"
    labels = {label.text: document.text[label.start :][:5] for label in document.labels}
    assert labels == {"slide 1": "Owner", "slide 1, notes": "Notes"}


def test_tables_are_lines_of_cells() -> None:
    def build(slide: Slide) -> None:
        table = slide.shapes.add_table(2, 2, 0, 0, Inches(2), Inches(2)).table
        for index, words in enumerate(["Town", "People", "Eskery", ""]):
            table.cell(index // 2, index % 2).text = words

    assert made(build, layout=BLANK).text == "Town | People\nEskery | "


def test_charts_are_tables_of_their_numbers() -> None:
    def build(slide: Slide) -> None:
        data = CategoryChartData()
        data.categories = ["2021", "2022"]
        data.add_series("Visitors", (19.5, 21))
        kind = XL_CHART_TYPE.COLUMN_CLUSTERED
        chart = slide.shapes.add_chart(kind, 0, 0, Inches(4), Inches(4), data).chart
        chart.has_title = True
        chart.chart_title.text_frame.text = "The fair"

    assert made(build, layout=BLANK).text == "The fair\n | 2021 | 2022\nVisitors | 19.5 | 21"
