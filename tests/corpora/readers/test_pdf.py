"""PDF pages become text with exact page starts; what cannot be read is refused by reason."""

from __future__ import annotations

import logging
from io import BytesIO

import pytest
from made_files import pdf_of
from pypdf import PdfReader, PdfWriter

from spanwise.corpora.readers.pdf import read
from spanwise.errors import DocumentRejected


def encrypted(data: bytes, user_password: str) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(BytesIO(data)))
    writer.encrypt(user_password, "owner", algorithm="RC4-128")
    file = BytesIO()
    writer.write(file)
    return file.getvalue()


def test_pages_start_where_page_starts_say() -> None:
    document = read(pdf_of([["The mill is old."], [], ["It stands by", "the river."], []]), "a.pdf")
    assert document.text == "The mill is old.\n\nIt stands by\nthe river."
    assert document.page_starts == (0, 16, 18, 41)
    assert document.metadata == {"pages_without_text": "2,4"}


def test_a_sentence_that_crosses_pages_stays_whole() -> None:
    document = read(pdf_of([["The mill by the"], ["river is old."]]), "a.pdf")
    assert document.text == "The mill by the\nriver is old."


def test_broken_words_are_made_whole() -> None:
    document = read(
        pdf_of([["The coun-", "cil met at the well-", "known mill. A well-known place."]]), "a.pdf"
    )
    assert document.text == "The council\nmet at the well-known\nmill. A well-known place."


def test_outline_entries_are_headings_where_their_words_stand() -> None:
    outline = {"1 Mill": 1, "Owners": 2}
    document = read(pdf_of([["1 Mill", "Old owners", "Owners", "Hale."]], outline=outline), "a.pdf")
    assert [(h.level, h.text, h.start) for h in document.headings] == [(1, "1 Mill", 0), (2, "Owners", 18)]


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("The Mill", "The Mill"),
        ("", "First line"),
        ("untitled", "First line"),
        ("Microsoft Word - x.doc", "First line"),
    ],
)
def test_title(title: str, expected: str) -> None:
    assert read(pdf_of([["First line", "second"]], title=title), "a.pdf").title == expected


def test_an_empty_password_opens() -> None:
    assert read(encrypted(pdf_of([["words"]]), ""), "a.pdf").text == "words"


def test_a_password_is_asked_for() -> None:
    with pytest.raises(DocumentRejected, match="encrypted PDF: needs a password"):
        read(encrypted(pdf_of([["words"]]), "secret"), "a.pdf")


@pytest.mark.parametrize(("n_pages", "which"), [(1, "its only page"), (12, "any of its 12 pages")])
def test_a_scan_is_refused(n_pages: int, which: str) -> None:
    with pytest.raises(DocumentRejected, match=f"no text on {which}"):
        read(pdf_of([[]] * n_pages), "a.pdf")


def test_too_much_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spanwise.corpora.readers.pdf.MAX_TEXT", 9)
    with pytest.raises(DocumentRejected, match="more than 9 characters of text by page 2"):
        read(pdf_of([["words"], ["words"]]), "a.pdf")


def test_repairs_are_not_printed(capfd: pytest.CaptureFixture[str]) -> None:
    data = pdf_of([["words"]]).replace(b"startxref\n", b"startxref\n1")
    propagate, logging.getLogger("pypdf").propagate = logging.getLogger("pypdf").propagate, False
    try:
        assert read(data, "a.pdf").text == "words"
    finally:
        logging.getLogger("pypdf").propagate = propagate
    assert capfd.readouterr() == ("", "")


def test_a_page_tree_that_holds_itself_is_refused() -> None:
    pages = b"2 0 obj<</Type/Pages/Kids[2 0 R]/Count 1>>endobj\n"
    data = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n" + pages
    with pytest.raises(DocumentRejected, match="damaged PDF"):
        read(data + b"trailer<</Root 1 0 R>>\nstartxref\n0\n%%EOF", "a.pdf")
