"""Pages of PDFs become pictures, with boxes around the words of a span."""

from io import BytesIO

import pytest
from helpers.files import pdf_of
from PIL import Image

from spanwise.corpora.readers.pdf import page_boxes, page_picture
from spanwise.errors import DocumentRejected

PAGES = pdf_of([["The mill is old.", "The mill burned and the coun-", "cil wept."], ["Second page."]])


@pytest.mark.parametrize(
    ("words", "before", "n_boxes", "line"),
    [
        ("The mill", "", 1, 0),
        ("The mill", "The mill is old.\n", 1, 1),
        ("burned and the council", "", 2, 1),
        ("nowhere", "", 0, 0),
        ("old.\nnowhere\nwept", "", 2, 0),
    ],
)
def test_boxes_stand_around_the_words(words: str, before: str, n_boxes: int, line: int) -> None:
    n_pages, width, height, boxes = page_boxes(PAGES, 1, words, before)
    assert n_pages == 2
    assert (round(width), round(height)) == (420, 595)
    assert len(boxes) == n_boxes
    if boxes:
        x, y, _, box_height = boxes[0]
        assert 20 <= x < 200
        assert abs(y + box_height - (595 - 560 + 14 * line)) < 8


def test_a_page_is_a_png_of_the_width_within_a_limit() -> None:
    assert Image.open(BytesIO(page_picture(PAGES, 1, 300))).width == 300
    long = PAGES.replace(b"[ 0 0 419.5276 595.2756 ]", b"[ 0 0 20 14000 ]")
    picture = Image.open(BytesIO(page_picture(long, 1, 2000)))
    assert picture.width * picture.height <= 16_100_000


@pytest.mark.parametrize("page", [0, 3])
def test_a_missing_page_is_refused(page: int) -> None:
    with pytest.raises(DocumentRejected, match=f"no page {page}: the file has 2 pages"):
        page_picture(PAGES, page, 300)
