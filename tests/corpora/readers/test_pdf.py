"""PDF pages become text with exact page starts; pages that cannot be read are refused with a reason."""

from collections.abc import Callable
from io import BytesIO

import pytest
from helpers.document_checks import documents_of
from helpers.files import pdf_of
from pypdf import PdfReader, PdfWriter
from reportlab.pdfgen.canvas import Canvas

from spanwise.corpora.readers import pdf
from spanwise.corpora.readers.pdf import rejoin_words
from spanwise.errors import DocumentRejected

read = documents_of(pdf.read)

UNMAPPED = (  # a page whose font says that "A" is a character of private use
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    b"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 300 300]>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj\n"
    b"4 0 obj<</Length 40>>stream\nBT /F 12 Tf 20 200 Td (AAAA AAA) Tj ET  \nendstream endobj\n"
    b"5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 6 0 R>>endobj\n"
    b"6 0 obj<</Length 50>>stream\n1 beginbfchar <41> <E041> endbfchar               \nendstream endobj\n"
    b"trailer<</Root 1 0 R>>\n"
)
LAYERED = (  # plain text, text of a layer that is off, of one that shows, and outside of the crop box
    b"%PDF-1.5\n1 0 obj<</Type/Catalog/Pages 2 0 R"
    b"/OCProperties<</OCGs[6 0 R 7 0 R]/D<</OFF[6 0 R]>>>>>>endobj\n"
    b"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]/CropBox[0 50 300 300]/Contents 4 0 R"
    b"/Resources<</Font<</F 5 0 R>>/Properties<</A 6 0 R/B 7 0 R>>>>>>endobj\n"
    b"4 0 obj<</Length 250>>stream\nBT /F 12 Tf 20 250 Td (The rent is 84.) Tj ET\n"
    b"/OC /A BDC BT /F 12 Tf 20 220 Td (The rent is 51.) Tj ET EMC\n"
    b"/OC /B BDC BT /F 12 Tf 20 190 Td (Pets are free.) Tj ET EMC\n"
    b"BT /F 12 Tf 20 20 Td (Proof 7.) Tj ET                                                           \n"
    b"endstream endobj\n5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\n"
    b"6 0 obj<</Type/OCG/Name(Old)>>endobj\n7 0 obj<</Type/OCG/Name(New)>>endobj\ntrailer<</Root 1 0 R>>\n"
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


def test_outline_entries_are_headings_where_their_words_stand() -> None:
    outline = {"1 Mill": 1, "Owners": 2}
    document = read(pdf_of([["1 Mill", "Old owners", "Owners", "Hale."]], outline=outline), "a.pdf")
    assert [(h.level, h.text, h.start) for h in document.headings] == [(1, "1 Mill", 0), (2, "Owners", 18)]


@pytest.mark.parametrize(
    ("title", "expected"),
    [("The Mill", "The Mill"), ("untitled", "First line"), ("Microsoft Word - x.doc", "First line")],
)
def test_the_title_is_that_of_the_metadata_or_the_first_line(title: str, expected: str) -> None:
    assert read(pdf_of([["First line", "second"]], title=title), "a.pdf").title == expected


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-256"])
def test_only_an_empty_password_opens(algorithm: str) -> None:
    assert read(encrypted(pdf_of([["words"]]), "", algorithm), "a.pdf").text == "words"
    with pytest.raises(DocumentRejected, match="encrypted PDF: needs a password"):
        read(encrypted(pdf_of([["words"]]), "secret", algorithm), "a.pdf")


@pytest.mark.parametrize(("n_pages", "which"), [(1, "its only page"), (12, "all 12 pages")])
def test_a_scan_is_refused(n_pages: int, which: str) -> None:
    with pytest.raises(DocumentRejected, match=rf"^PDF without text \(scanned\?\): {which}$"):
        read(pdf_of([[]] * n_pages), "a.pdf")


def test_characters_of_private_use_are_not_stored() -> None:
    with pytest.raises(DocumentRejected, match="fonts that do not say which characters they show: its only"):
        read(UNMAPPED, "a.pdf")


def test_the_values_of_forms_are_read() -> None:
    file = BytesIO()
    canvas = Canvas(file)
    canvas.drawString(20, 700, "Miller")
    canvas.acroForm.textfield(name="miller", value="Hale", x=90, y=690)
    canvas.save()
    assert read(file.getvalue(), "a.pdf").text.split() == ["Miller", "Hale"]


def form_of(draw: Callable[[Canvas], object]) -> str:
    file = BytesIO()
    canvas = Canvas(file, pagesize=(600, 800))
    draw(canvas)
    canvas.save()
    return read(file.getvalue(), "a.pdf").text


def test_the_values_of_forms_stand_beside_or_below_their_labels() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.drawString(50, 700, "Name:")
        canvas.drawString(350, 700, "Born:")
        canvas.drawString(50, 660, "Country")
        canvas.drawString(50, 600, "Signed")
        canvas.acroForm.textfield(name="born", value="1931", x=390, y=695, height=20, width=80)
        canvas.acroForm.textfield(name="name", value="Birgit Sand", x=90, y=695, height=20, width=200)
        canvas.acroForm.choice(
            name="land", value="NO", options=[("Norway", "NO"), ("Sweden", "SE")], x=50, y=630
        )

    assert form_of(draw) == "Name: Birgit Sand Born: 1931\nCountry\nNorway\nSigned"


def test_boxes_are_ticked_or_not_and_named_without_a_label() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.drawString(80, 700, "Married")
        canvas.acroForm.checkbox(name="married", checked=True, x=50, y=695, size=20)
        canvas.acroForm.checkbox(name="owner", tooltip="Owner of a boat", x=50, y=635, size=20)

    assert form_of(draw) == "☒ Married\n☐ Owner of a boat"


def test_the_placeholder_of_an_xfa_form_is_refused() -> None:
    lines = [
        "Please wait...",
        "If this message is not eventually replaced, your PDF",
        "viewer may not be able to",
    ]
    with pytest.raises(DocumentRejected, match="only Adobe Reader shows"):
        read(pdf_of([lines]), "a.pdf")


def shifted_text(*runs: tuple[str, float], notes: str = "") -> str:
    file = BytesIO()
    canvas = Canvas(file)
    text = canvas.beginText(50, 700)
    for words, rise in runs:
        text.setFont("Helvetica", 8 if rise else 12)
        text.setRise(rise)
        text.textOut(words)
    canvas.drawText(text)
    canvas.setFont("Helvetica", 8)
    canvas.drawString(50, 50, notes)
    canvas.save()
    return read(file.getvalue(), "a.pdf").text.rstrip()


def test_raised_digits_do_not_join_a_number() -> None:
    assert shifted_text(("3.2 x 10", 0), ("-6", 5), (" t of 1539", 0), ("5", 4)) == "3.2 x 10⁻⁶ t of 1539⁵"


def test_lowered_digits_do_not_join_a_number() -> None:
    assert shifted_text(("H", 0), ("2", -3), ("O and 3 log", 0), ("10", -2)) == "H₂O and 3 log₁₀"


def test_a_raised_number_with_a_note_is_a_reference() -> None:
    runs = [("in 1539", 0), ("5", 5), (" on 10", 0), ("5", 5), (" m", 0)]
    assert shifted_text(*runs, notes="5 Or 1540.") == "in 1539 [5] on 10⁵ m\n5 Or 1540."


def test_a_number_glued_to_a_word_is_a_reference_if_it_has_a_note() -> None:
    runs = [("480 passengers5 in 1539", 0)]
    assert shifted_text(*runs, notes="5 As certified.") == "480 passengers [5] in 1539\n5 As certified."
    assert shifted_text(*runs) == "480 passengers5 in 1539"


@pytest.mark.parametrize(
    ("letters", "words"),
    [
        ("A N N U A L     R E P O R T", "ANNUAL REPORT"),
        ("S A L E S: 5, A B C D", "SALES: 5, A B C D"),
    ],
)
def test_letters_that_are_spaced_out_are_words(letters: str, words: str) -> None:
    assert shifted_text((letters, 0)) == words


LEFT = [
    "The committee read the annual",
    "report and found that the ferry",
    "carried fewer people. It",
    "asked the treasurer why.",
]
RIGHT = [
    "In March the harbour was closed",
    "because ice had broken a pier.",
    "The board approved all of the",
    "budget for the coming year.",
]


def in_rows(*columns: list[str]) -> str:
    def draw(canvas: Canvas) -> None:
        for y, cells in enumerate(zip(*columns, strict=True)):
            for x, cell in enumerate(cells):
                canvas.drawString(50 + 200 * x, 700 - 14 * y, cell)

    return form_of(draw)


def test_prose_in_two_columns_drawn_row_by_row_is_read_by_column() -> None:
    assert in_rows(LEFT, RIGHT) == "\n".join([*LEFT, *RIGHT])


def test_rows_of_tables_stay() -> None:
    names = ["oak table", "ash chair", "elm bench", "pine shelf"]
    assert in_rows(names, RIGHT) == "\n".join(map(" ".join, zip(names, RIGHT, strict=True)))
    sentences = [f"{name.title()} with four legs of oak" for name in names]
    assert in_rows(sentences, LEFT) == "\n".join(map(" ".join, zip(sentences, LEFT, strict=True)))
    dates = ["1", "2", "3", "4"]
    assert in_rows(LEFT, RIGHT, dates).startswith(f"{LEFT[0]} {RIGHT[0]} 1\n")


def test_a_table_on_its_side_keeps_its_rows() -> None:
    file = BytesIO()
    canvas = Canvas(file, pagesize=(300, 700), invariant=True)
    canvas.setPageRotation(90)
    canvas.rotate(90)
    for number, row in enumerate(["Boat Seats Year", "Tarpan 4 1998", "Wisent 8 2011", "Luchs 2 2004"]):
        for column, cell in enumerate(row.split()):
            canvas.drawString(60 + 200 * column, -100 - 22 * number, cell)
    canvas.save()
    assert read(file.getvalue(), "boats.pdf").text.splitlines()[2] == "Wisent | 8 | 2011"


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_footnotes_drawn_first_come_last_on_rotated_pages(rotation: int) -> None:
    file = BytesIO()
    canvas = Canvas(file, pagesize=(600, 600))
    canvas.setPageRotation(rotation)
    canvas.translate(300, 300)
    canvas.rotate(rotation)  # against the clock, so that the words are shown upright
    canvas.drawString(-200, -200, "is old.")
    canvas.drawString(-200, 200, "The mill")
    canvas.save()
    assert read(file.getvalue(), "a.pdf").text == "The mill\nis old."


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("par-\nallel lines", "parallel\nlines"),
        ("a well-\nknown and well-known mill", "a well-known\nand well-known mill"),
        ("co-\noperate cooperate co-operate", "cooperate\ncooperate co-operate"),
        ("Jean-\nPaul and 1840-\n1850 and a -\nb", "Jean-Paul\nand 1840-1850\nand a -\nb"),
        ("an e-\nmail in a 24-\nhour UN-\nled day", "an e-mail\nin a 24-hour\nUN-led\nday"),
        ("well, well-\nknown, well-made known", "well, well-known,\nwell-made known"),
        (
            "the state-\nments, pay-\nments of state-owned state",
            "the statements,\npayments\nof state-owned state",
        ),
        ("in-\nform the in and form", "inform\nthe in and form"),
        ("Haupt-\nund Neben, PAR-\nALLEL", "Haupt-\nund Neben, PAR-\nALLEL"),
        ("the coun-\nAnnual report, the coun-\n12 Mills", "the coun-\nAnnual report, the coun-\n12 Mills"),
        ("by day and day-by-\nDay", "by day and day-by-Day\n"),
        ("a fee of 1,\n250 crowns, 12,345,\n678.50 m", "a fee of 1,250\ncrowns, 12,345,678.50\nm"),
        (
            "rooms 101,\n102 and 103, 1, 2,\n300 in\n1998,\n1999",
            "rooms 101,\n102 and 103, 1, 2,\n300 in\n1998,\n1999",
        ),
        ("at https://x.org/\n2024/a, https://x.org/\nNext", "at https://x.org/2024/a, https://x.org/\nNext"),
        ("end-\n\nnext", "end-\n\nnext"),
        ("the coun-\fcil, which\fmet-\f\fal", "the council,\fwhich\fmet-\f\fal"),
    ],
)
def test_words_broken_at_line_ends_are_rejoined(page: str, expected: str) -> None:
    assert rejoin_words(page.split("\f")) == expected.split("\f")


def test_text_that_a_page_does_not_show_is_left_out() -> None:
    assert read(LAYERED, "a.pdf").text == "The rent is 84.\nPets are free."


def test_attached_files_are_named_in_a_remark() -> None:
    writer = PdfWriter(clone_from=PdfReader(BytesIO(pdf_of([["The mill."]]))))
    writer.add_attachment("terms.txt", b"The rent is 84.")
    file = BytesIO()
    writer.write(file)
    assert read(file.getvalue(), "a.pdf").metadata["remark"] == "attached files are not read: terms.txt"


def test_recognised_words_below_a_scan_stay_although_they_are_never_drawn() -> None:
    drawn = b"BT /F 12 Tf 20 190 Td"
    invisible = LAYERED.replace(drawn, b"BT 3 Tr /F 12 Tf 20 190 Td").replace(b"     \n", b"\n", 1)
    assert read(invisible, "a.pdf").text == "The rent is 84.\nPets are free."
