"""The picture of a page, and boxes where words of the stored text stand on it."""

from __future__ import annotations

from contextlib import closing
from io import BytesIO

import numpy as np
import pytest
from made_files import pdf_of
from PIL import Image
from reportlab.pdfgen.canvas import Canvas

from spanwise.corpora.readers.pdf import read
from spanwise.corpora.readers.pdf_image import MAX_PIXELS, page_places, page_png
from spanwise.corpora.readers.pdf_pages import open_pdf
from spanwise.errors import DocumentRejected

LINE, LEFT, TOP = 14, 20, 595.28 - 560
"""What `pdf_of` draws: lines so far apart, from there; the height is that of A5."""


def size_of(picture: bytes) -> tuple[int, int]:
    with Image.open(BytesIO(picture)) as opened:
        return opened.size


def coloured_page() -> bytes:
    """A page of 100 points by 100: red above, blue below."""
    file = BytesIO()
    canvas = Canvas(file, pagesize=(100, 100), invariant=True)
    for colour, bottom in (((1, 0, 0), 50), ((0, 0, 1), 0)):
        canvas.setFillColorRGB(*colour)
        canvas.rect(0, bottom, 100, 50, stroke=0, fill=1)
    canvas.save()
    return file.getvalue()


def test_the_box_lies_on_the_line_of_the_words():
    data = pdf_of([["the mill", "the owl", "the weir"]])
    [box] = page_places(data, 1, "owl").boxes
    assert box.x > LEFT
    assert box.y < TOP + LINE < box.y + box.height + LINE / 2


def test_of_equal_words_those_with_the_same_surroundings_are_taken():
    data = pdf_of([["an owl sat here", "an owl sat there"]])
    around = [("an ", " sat here"), ("an ", " sat there")]
    [first], [second] = (page_places(data, 1, "owl", *words).boxes for words in around)
    assert second.y - first.y == pytest.approx(LINE, abs=0.1)


def test_a_word_that_was_broken_at_a_line_end_has_a_box_on_each_line():
    data = pdf_of([["They have always co-", "operated with the miller."]])
    text = read(data, "a.pdf").text
    assert "cooperated" in text
    assert len(page_places(data, 1, "cooperated", "They have always ", " with the").boxes) == 2


def test_lines_that_were_drawn_in_another_order_are_found_one_by_one():
    data = pdf_of([["the second line", "the first line"]])
    found = page_places(data, 1, "the first line\nthe second line").boxes
    assert [round((box.y - found[0].y) / LINE) for box in found] == [0, -1]


def test_words_that_the_page_does_not_hold_have_no_box():
    assert page_places(pdf_of([["the mill"]]), 1, "heron").boxes == ()


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_boxes_are_those_of_the_page_as_it_is_shown(turn):
    file = BytesIO()
    canvas = Canvas(file, pagesize=(300, 300), invariant=True)
    canvas.setPageRotation(turn)
    canvas.drawString(0, 290, "owl")  # in the top left corner of a page that is not turned
    canvas.save()
    found = page_places(file.getvalue(), 1, "owl")
    [box] = found.boxes
    middle = ((box.x + box.width / 2) / found.width, (box.y + box.height / 2) / found.height)
    corner = {0: (0, 0), 90: (1, 0), 180: (1, 1), 270: (0, 1)}[turn]
    assert middle == pytest.approx(corner, abs=0.1)


def test_a_picture_is_as_wide_as_was_asked_for():
    assert size_of(page_png(pdf_of([["the mill"]]), 1, 420))[0] == pytest.approx(420, abs=1)


def test_a_page_that_is_long_beyond_measure_is_drawn_smaller():
    file = BytesIO()
    canvas = Canvas(file, pagesize=(10, 14_000))
    canvas.showPage()
    canvas.save()
    width, height = size_of(page_png(file.getvalue(), 1, 2_000))
    assert width * height <= MAX_PIXELS * 1.01


def test_colours_stand_where_the_page_has_them():
    with Image.open(BytesIO(page_png(coloured_page(), 1, 100))) as picture:
        assert (picture.format, picture.mode) == ("PNG", "RGB")
        assert picture.getpixel((50, 10)) == (255, 0, 0)
        assert picture.getpixel((50, 90)) == (0, 0, 255)


def test_the_pixels_of_a_picture_are_those_that_were_drawn():
    data = pdf_of([["the mill", "the owl"]])
    with closing(open_pdf(data)) as pdf, closing(pdf[0]) as page:
        drawn = page.render(scale=840 / page.get_width(), rev_byteorder=True).to_numpy()[:, :, :3].copy()
    with Image.open(BytesIO(page_png(data, 1, 840))) as picture:
        assert np.array_equal(np.asarray(picture), drawn)


def test_a_page_that_is_not_there_is_refused():
    with pytest.raises(DocumentRejected, match="the file has 1 pages"):
        page_places(pdf_of([["the mill"]]), 2, "mill")


@pytest.mark.parametrize("width", [0, 2_001])
def test_a_width_beyond_the_limits_is_refused(width):
    with pytest.raises(ValueError, match="expected 1 to 2000"):
        page_png(pdf_of([["the mill"]]), 1, width)
