"""Words over all planes that go into an office file, a book or a mail come out where they were put."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_office import NOT_IN_XML, OFFICE_MAKERS, workbook

from spanwise.corpora.passages import split
from spanwise.corpora.reading import Skipped, parse
from spanwise.types import Document

Texts = Sequence[str]


def on_one_line(text: str) -> str:
    return " ".join(NOT_IN_XML.sub("", text).split())


LINES = st.text(st.characters(exclude_categories=["Cs"]), max_size=20).map(on_one_line)
MANY_LINES = st.lists(LINES.filter(bool), min_size=1, max_size=30)


def made(name: str, texts: Texts) -> Document:
    """The document of a file that holds each text as a paragraph, slide, chapter or cell of its own."""
    between = {"a.xlsx": "\n", "a.ods": "\t", "a.odp": "\f", "a.epub": "\f"}.get(name, "\n\n")
    document = parse(OFFICE_MAKERS[name](between.join(texts)), name)
    assert not isinstance(document, Skipped)
    return document


def check(document: Document, texts: Texts) -> None:
    """Every text is in the document, behind the one before, and in a passage that quotes it exactly."""
    place = 0
    for text in texts:
        place = document.text.find(text, place)
        assert place >= 0, text
        place += len(text)
    passages = split(document, words=20, overlap=5)
    assert all(document.text[p.start : p.end] == p.text for p in passages)


@pytest.mark.parametrize("name", OFFICE_MAKERS)
@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(texts=MANY_LINES)
def test_every_text_comes_back_in_order(name: str, texts: list[str]) -> None:
    if name == "a.rtf":  # striprtf marks cells so
        texts = [text.replace("|", "/") for text in texts]
    check(made(name, texts), texts)


@given(rows=st.lists(st.lists(LINES, min_size=1, max_size=5), min_size=1, max_size=5))
def test_every_cell_is_labelled_with_its_place(rows: list[list[str]]) -> None:
    document = parse(workbook({"One": [["top"]], "Two": rows}), "a.xlsx")
    assert isinstance(document, Document)
    expected = {
        f"Two!{'ABCDE'[column]}{number}": cell
        for number, row in enumerate(rows, start=1)
        for column, cell in enumerate(row)
        if cell
    }
    found = {label.text: document.text[label.start :] for label in document.labels}
    assert set(found) - {"One", "One!A1", "Two"} == set(expected)
    assert all(found[place].startswith(cell) for place, cell in expected.items())
