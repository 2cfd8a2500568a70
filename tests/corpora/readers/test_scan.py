"""Pictures are levelled, the words that an engine recognises become lines, tables and columns of a page."""

import os
from io import BytesIO

import pytest
from helpers.scans import picture_of, scan_of
from PIL import Image
from pypdfium2 import PdfDocument

from spanwise.corpora.readers import pdf
from spanwise.corpora.readers.pdf import page_boxes, page_picture, waiting_pages
from spanwise.corpora.readers.scan import (
    RAPIDOCR,
    TESSERACT,
    Engine,
    RecognisedPage,
    find_engine,
    pdf_of_picture,
    recognise,
    turn_of,
)
from spanwise.errors import DocumentRejected

LINES = [
    "Your library card expires on 14 March 2027.",
    "A new card costs six euros at the desk.",
    "The reading room closes at eight in the evening.",
    "Films may be borrowed for one week only.",
]


def page_of(*lines: list[tuple[str, float, float]], degrees: float = 0.0) -> RecognisedPage:
    """A page of words at a place from the left and from the top, 6 points wide for each character."""
    words = [[(text, x, y, x + 6.0 * len(text), y + 10.0) for text, x, y in line] for line in lines]
    return RecognisedPage(432.0, 576.0, degrees, 0.9, words, "key")


def text_of(page: RecognisedPage) -> str:
    return pdf.read(scan_of([[]]), {1: page}).text


def engine_or_skip(name: str) -> Engine:
    if name == RAPIDOCR:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PATH", "/nowhere")
            engine = find_engine()
    else:
        engine = find_engine()
    if engine is None or engine.name != name:
        pytest.skip(f"{name} is not installed")
    return engine


@pytest.mark.parametrize("degrees", [-2.0, -0.5, 0.0, 1.0, 2.5])
def test_the_turn_of_a_page_is_measured(degrees: float) -> None:
    assert turn_of(picture_of(LINES * 4, degrees)) == pytest.approx(degrees, abs=0.15)


def test_a_page_without_text_is_not_turned() -> None:
    assert turn_of(Image.new("L", (80, 100), 255)) == 0.0


def test_prose_keeps_the_order_of_the_engine() -> None:
    left = [[(f"left{n}", 50, 100 + 14 * n), ("and", 84, 100 + 14 * n)] for n in range(3)]
    right = [[(f"right{n}", 320, 100 + 14 * n)] for n in range(2)]
    assert text_of(page_of(*left, *right)).split() == "left0 and left1 and left2 and right0 right1".split()


def test_columns_of_short_cells_are_rows_of_a_table() -> None:
    names = [
        [(name, 50, 100 + 20 * n)]
        for n, name in enumerate(["Building", "Old mill", "Weir bridge", "Tramway"])
    ]
    years = [[(year, 250, 101 + 20 * n)] for n, year in enumerate(["Year", "1811", "1920", "1903"])]
    assert (
        text_of(page_of(*names, *years))
        == "Building | Year\nOld mill | 1811\nWeir bridge | 1920\nTramway | 1903"
    )


def test_a_box_of_words_is_turned_with_the_page() -> None:
    data = scan_of([[]])
    level = page_of([("The", 100, 100), ("mill", 130, 100)], [("burned", 100, 120)])
    _, _, _, boxes = page_boxes(data, 1, "mill burned", "The", "", level)
    assert [tuple(map(round, box)) for box in boxes] == [(130, 100, 24, 10), (100, 120, 36, 10)]
    for degrees, width, height, box in (
        (90.0, 576.0, 432.0, (546, 100, 10, 24)),
        (180.0, 432.0, 576.0, (308, 546, 24, 10)),
        (270.0, 576.0, 432.0, (20, 308, 10, 24)),
    ):
        turned = page_of([("mill", 100, 20)], degrees=degrees)
        assert tuple(map(round, turned.turned_box([(100, 20, 124, 30)], width, height))) == box


def test_a_page_waits_if_it_shows_something_and_has_no_text() -> None:
    assert waiting_pages(scan_of([["words"], []])) == [1, 2]


def test_little_text_over_a_picture_waits_and_the_longer_text_counts() -> None:
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    file = BytesIO()
    canvas = Canvas(file, pagesize=(300, 400))
    canvas.drawImage(ImageReader(picture_of(LINES)), 0, 0, 300, 400)
    canvas.drawString(10, 10, "Scanned by a phone")
    canvas.save()
    data = file.getvalue()
    assert waiting_pages(data) == [1]
    assert pdf.read(data, {1: page_of([("short", 1, 2)])}).text == "Scanned by a phone"
    failed = pdf.read(data, {1: RecognisedPage(fault="too late")})
    assert failed.metadata["remark"] == "could not be recognised (too late): its only page"
    assert pdf.read(
        data, {1: page_of([("a longer text than the words that stand on the page", 1, 2)])}
    ).text.startswith("a longer")


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0 nothing", b"MM\0*" + bytes(40)])
def test_a_damaged_picture_is_refused(data: bytes) -> None:
    with pytest.raises(DocumentRejected, match="damaged picture"):
        pdf_of_picture(data)


def test_a_picture_file_has_a_page_for_each_of_its_pictures() -> None:
    file = BytesIO()
    picture_of(["one"]).save(file, "TIFF", save_all=True, append_images=[picture_of(["two"])], dpi=(150, 150))
    document = PdfDocument(pdf_of_picture(file.getvalue()))
    assert [tuple(map(round, page.get_size())) for page in document] == [(432, 576)] * 2


def test_a_program_that_is_no_engine_is_not_taken(tmp_path, monkeypatch) -> None:
    program = tmp_path / "tesseract"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    engine = find_engine()
    assert engine is None or engine.name == RAPIDOCR


@pytest.mark.parametrize("name", [TESSERACT, RAPIDOCR])
def test_an_engine_reads_a_page_that_is_not_level(name: str) -> None:
    engine = engine_or_skip(name)
    data = scan_of([LINES], 1.0)
    page = recognise(engine, page_picture(data, 1))
    lines = pdf.read(data, {1: page}).text.split("\n")
    assert [line.replace(" ", "") for line in lines] == [line.replace(" ", "") for line in LINES]
    assert page.certainty > 0.8


@pytest.mark.parametrize("name", [TESSERACT, RAPIDOCR])
def test_a_page_on_its_side_is_read_and_marked(name: str) -> None:
    engine = engine_or_skip(name)
    file = BytesIO()
    picture_of(LINES).rotate(-90, expand=True).save(file, "PDF", resolution=150)
    page = recognise(engine, page_picture(file.getvalue(), 1))
    assert page.degrees == 90
    assert pdf.read(file.getvalue(), {1: page}).text.replace(" ", "") == "\n".join(LINES).replace(" ", "")
    _, width, height, boxes = page_boxes(file.getvalue(), 1, "Films may be", "", "", page)
    [(x, y, w, h)] = boxes
    middle = complex(x + w / 2 - width / 2, y + h / 2 - height / 2)
    assert abs(middle * -1j - complex(-139, -178)) < 9
    assert h > w


@pytest.mark.parametrize(
    ("installed", "chosen"),
    [
        ("eng osd", "eng"),
        ("deu eng ita", "eng+deu+ita"),
        ("afr deu eng fra spa", "eng+deu+fra+spa"),
        ("ita jpn kor nld pol", "ita+jpn+kor+nld"),
    ],
)
def test_the_installed_languages_are_read_up_to_four(
    tmp_path, monkeypatch, installed: str, chosen: str
) -> None:
    program = tmp_path / "tesseract"
    program.write_text(
        f"#!/bin/sh\nprintf 'languages in \"/nowhere/\"\\n{installed.replace(' ', chr(92) + 'n')}\\n'\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    engine = find_engine()
    assert engine is not None
    assert engine.languages == chosen
