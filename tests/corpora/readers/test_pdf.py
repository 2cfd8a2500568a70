"""PDF pages become text with exact page starts; what cannot be read is refused by reason."""

from __future__ import annotations

import logging
from io import BytesIO

import pytest
from made_files import pdf_of
from pypdf import PdfReader, PdfWriter
from reportlab.pdfgen.canvas import Canvas

from spanwise.corpora.readers.pdf import read
from spanwise.errors import DocumentRejected

UNMAPPED = (  # a page whose font says that "A" is a character of private use
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    b"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 300 300]>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj\n"
    b"4 0 obj<</Length 40>>stream\nBT /F 12 Tf 20 200 Td (AAAA AAA) Tj ET  \nendstream endobj\n"
    b"5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 6 0 R>>endobj\n"
    b"6 0 obj<</Length 50>>stream\n1 beginbfchar <41> <E041> endbfchar               \nendstream endobj\n"
    b"trailer<</Root 1 0 R>>\n"
)


def encrypted(data: bytes, user_password: str, algorithm: str = "RC4-128") -> bytes:
    writer = PdfWriter(clone_from=PdfReader(BytesIO(data)))
    writer.encrypt(user_password, "owner", algorithm=algorithm)
    file = BytesIO()
    writer.write(file)
    return file.getvalue()


def test_pages_start_where_page_starts_say() -> None:
    document = read(pdf_of([["The mill is old."], [], ["It stands by", "the river."], []]), "a.pdf")
    assert document.text == "The mill is old.\n\nIt stands by\nthe river."
    assert document.page_starts == (0, 16, 18, 41)
    assert document.metadata == {
        "pages_without_text": "2,4",
        "remark": "without text (scanned?): pages 2 and 4 of 4",
    }


def test_ranges_of_pages_without_text_are_folded() -> None:
    blank = [2, 5, 6, 7, 9]
    document = read(pdf_of([[] if i in blank else ["words"] for i in range(1, 11)]), "a.pdf")
    assert document.metadata["pages_without_text"] == "2,5,6,7,9"
    assert document.metadata["remark"] == "without text (scanned?): pages 2, 5 to 7 and 9 of 10"


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


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-128", "AES-256", "AES-256-R5"])
def test_an_empty_password_opens(algorithm: str) -> None:
    assert read(encrypted(pdf_of([["words"]]), "", algorithm), "a.pdf").text == "words"


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-128", "AES-256", "AES-256-R5"])
def test_a_password_is_asked_for(algorithm: str) -> None:
    with pytest.raises(DocumentRejected, match="encrypted PDF: needs a password"):
        read(encrypted(pdf_of([["words"]]), "secret", algorithm), "a.pdf")


@pytest.mark.parametrize(("n_pages", "which"), [(1, "its only page"), (12, "all 12 pages")])
def test_a_scan_is_refused(n_pages: int, which: str) -> None:
    with pytest.raises(
        DocumentRejected, match=rf"^PDF without text \(scanned\?\): {which}; --ocr reads such"
    ):
        read(pdf_of([[]] * n_pages), "a.pdf")


def test_letters_without_meaning_are_not_stored() -> None:
    with pytest.raises(DocumentRejected, match="fonts that do not say which characters they show: its only"):
        read(UNMAPPED, "a.pdf")


def test_a_few_letters_without_meaning_do_no_harm() -> None:
    data = UNMAPPED.replace(b"(AAAA AAA) Tj ET  ", b"(By the mill A) Tj")
    assert read(data, "a.pdf").text == "By the mill \ue041"


def test_what_is_filled_into_a_form_is_read() -> None:
    file = BytesIO()
    canvas = Canvas(file)
    canvas.drawString(20, 700, "Miller")
    canvas.acroForm.textfield(name="miller", value="Hale", x=90, y=690)
    canvas.save()
    assert read(file.getvalue(), "a.pdf").text.split() == ["Miller", "Hale"]


def test_drawn_soft_hyphens_are_hyphens() -> None:
    assert read(pdf_of([["a well\xadknown mill"]]), "a.pdf").text == "a well-known mill"


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_footnotes_drawn_first_come_last_as_the_page_is_shown(rotation: int) -> None:
    file = BytesIO()
    canvas = Canvas(file, pagesize=(600, 600))
    canvas.setPageRotation(rotation)
    canvas.translate(300, 300)
    canvas.rotate(rotation)  # against the clock, so that the words are shown upright
    canvas.drawString(-200, -200, "is old.")
    canvas.drawString(-200, 200, "The mill")
    canvas.save()
    assert read(file.getvalue(), "a.pdf").text == "The mill\nis old."


def test_columns_are_read_one_after_the_other() -> None:
    file = BytesIO()
    canvas = Canvas(file)
    for x, column in ((20, ("The mill", "is old.")), (300, ("The river", "is older."))):
        for y, line in enumerate(column):
            canvas.drawString(x, 700 - 14 * y, line)
    canvas.save()
    assert read(file.getvalue(), "a.pdf").text == "The mill\nis old.\nThe river\nis older."


def test_too_much_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spanwise.corpora.readers.pdf.MAX_TEXT", 9)
    with pytest.raises(DocumentRejected, match="more than 9 characters of text by page 2"):
        read(pdf_of([["words"], ["words"]]), "a.pdf")


def test_a_damaged_cross_reference_is_repaired() -> None:
    assert read(pdf_of([["words"]]).replace(b"startxref\n", b"startxref\n1"), "a.pdf").text == "words"


def test_an_outline_that_runs_in_a_circle_is_read_once_in_silence(capfd: pytest.CaptureFixture[str]) -> None:
    outline = b"/Outlines 7 0 R/X 1>>endobj\n7 0 obj<</First 8 0 R>>endobj\n"
    entry = b"8 0 obj<</Title(By the mill)/Dest[3 0 R/Fit]/Next 8 0 R/First 8 0 R>>endobj\n"
    data = UNMAPPED.replace(b"(AAAA AAA) Tj ET  ", b"(By the mill) Tj  ").replace(
        b">>endobj\n", outline + entry, 1
    )
    logging.getLogger("pypdfium2").propagate = False  # as without pytest, whose handler would hear it
    try:
        assert [heading.text for heading in read(data, "a.pdf").headings] == ["By the mill"]
    finally:
        logging.getLogger("pypdfium2").propagate = True
    assert capfd.readouterr() == ("", "")


def test_a_page_that_is_none_costs_the_others_nothing() -> None:
    writer = PdfWriter(clone_from=PdfReader(BytesIO(pdf_of([["one"], ["two"], ["three"]]))))
    file = BytesIO()
    writer.write(file)
    data = file.getvalue().replace(b"/Type /Page\n", b"/Type /Pane\n", 1)
    assert data != file.getvalue()
    assert "two" in read(data, "a.pdf").text


@pytest.mark.parametrize("junk", [b"", b" and then nothing", b"\n1 0 obj<</Type/Catalog>>endobj\n%%EOF"])
def test_what_has_no_pages_is_refused(junk: bytes) -> None:
    with pytest.raises(DocumentRejected, match=r"damaged PDF|without pages"):
        read(b"%PDF-1.7" + junk, "a.pdf")


def test_a_page_tree_that_holds_itself_is_refused() -> None:
    pages = b"2 0 obj<</Type/Pages/Kids[2 0 R]/Count 1>>endobj\n"
    data = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n" + pages
    with pytest.raises(DocumentRejected, match=r"^PDF damaged: its only page$"):
        read(data + b"trailer<</Root 1 0 R>>\nstartxref\n0\n%%EOF", "a.pdf")
