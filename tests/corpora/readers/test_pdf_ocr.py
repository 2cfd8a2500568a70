"""Pages that are pictures are read by tesseract when asked; a stand-in plays its part where that suffices."""

from __future__ import annotations

import shutil
from io import BytesIO
from pathlib import Path

import pypdfium2
import pytest
from made_files import pdf_of
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from spanwise.corpora import ocr
from spanwise.corpora.ocr import check_ocr
from spanwise.corpora.options import ReadOptions
from spanwise.corpora.readers import pdf_ocr
from spanwise.corpora.readers.pdf import read
from spanwise.errors import DocumentRejected, OcrNotFound

BY_OCR = ReadOptions(ocr=True)
PAGES = [["The mill is old."], [], ["The river is older."]]


def put_tesseract(folder: Path, monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    """A stand-in for tesseract: knows English, and gives what the shell commands in `answer` print."""
    program = folder / "tesseract"
    langs = '[ "$1" = --list-langs ] && { echo "List of languages:"; echo eng; exit; }'
    program.write_text(f"#!/bin/sh\n{langs}\nexec 3<&0\n{answer}\ncat <&3 >/dev/null\n")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_pages_without_text_are_recognized(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_tesseract(tmp_path, monkeypatch, 'echo "The picture says"; echo "so."')
    document = read(pdf_of(PAGES), "a.pdf", BY_OCR)
    assert document.text == "The mill is old.\n\nThe picture says\nso.\n\nThe river is older."
    assert document.page_starts == (0, 18, 40)
    assert document.metadata == {"remark": "read by OCR: page 2 of 3"}


def test_ocr_is_not_run_unasked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_tesseract(tmp_path, monkeypatch, "echo words")
    assert "words" not in read(pdf_of(PAGES), "a.pdf").text


def test_a_page_on_which_nothing_is_found_stays_without_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_tesseract(tmp_path, monkeypatch, "echo; printf '\\f'")
    with pytest.raises(DocumentRejected, match=r"^PDF without text \(scanned\?\): all 2 pages$"):
        read(pdf_of([[], []]), "a.pdf", BY_OCR)


def test_a_failure_is_told_and_costs_one_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_tesseract(tmp_path, monkeypatch, "cat <&3 >/dev/null; exit 3")
    document = read(pdf_of(PAGES), "a.pdf", BY_OCR)
    assert document.metadata == {"pages_without_text": "2", "remark": "whose OCR failed: page 2 of 3"}


def test_time_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_tesseract(tmp_path, monkeypatch, "exec sleep 60")
    monkeypatch.setattr(ocr, "SECONDS_A_PAGE", 0.1)
    assert read(pdf_of(PAGES), "a.pdf", BY_OCR).metadata["remark"] == "whose OCR failed: page 2 of 3"


def test_pages_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_tesseract(tmp_path, monkeypatch, "echo words")
    monkeypatch.setattr(pdf_ocr, "MAX_PAGES", 2)
    remark = read(pdf_of([[], [], []]), "a.pdf", BY_OCR).metadata["remark"]
    assert remark == "read by OCR: pages 1 and 2 of 3; without text (scanned?): page 3 of 3"


@pytest.mark.parametrize(("size", "expected"), [((72, 144), (300, 600)), ((9_000, 9_000), (5_000, 5_000))])
def test_pixels_are_limited(size: tuple[int, int], expected: tuple[int, int]) -> None:
    pdf = pypdfium2.PdfDocument.new()
    pdf.new_page(*size)
    pgm = pdf_ocr._picture(pdf, 0)
    pdf.close()
    head, pixels = pgm.split(b"\n", 1)
    assert head == b"P5 %d %d 255" % expected
    assert len(pixels) == expected[0] * expected[1]


def test_tesseract_must_be_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(OcrNotFound, match="tesseract is not on the PATH"):
        check_ocr("eng")


def test_its_languages_must_be_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_tesseract(tmp_path, monkeypatch, "")
    check_ocr("eng")
    with pytest.raises(OcrNotFound, match="does not know the language deu"):
        check_ocr("eng+deu")


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="needs tesseract")
def test_tesseract_reads_a_picture_of_words() -> None:
    words = pypdfium2.PdfDocument(pdf_of([["The mill by the river is old."]]))
    picture = words[0].render(scale=3).to_pil()
    words.close()
    file = BytesIO()
    canvas = Canvas(file, pagesize=picture.size)
    canvas.drawImage(ImageReader(picture), 0, 0)
    canvas.save()
    assert read(file.getvalue(), "a.pdf", BY_OCR).text == "The mill by the river is old."
