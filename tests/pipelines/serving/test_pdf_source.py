"""Pages of indexed PDFs: only of what was indexed, from where it was indexed, in a process with limits."""

from __future__ import annotations

import os
import signal
from contextlib import closing
from io import BytesIO

import pytest
from made_files import pdf_of
from PIL import Image
from reportlab.lib.colors import blue, red
from reportlab.pdfgen.canvas import Canvas

import spanwise
from spanwise.corpora.readers.pdf_image import MAX_WIDTH
from spanwise.errors import DocumentChanged, DocumentNotFound, DocumentRejected
from spanwise.pipelines.parsing import drawn_page
from spanwise.pipelines.parsing.limits import Limits
from spanwise.pipelines.parsing.page_drawer import PageDrawer
from spanwise.pipelines.parsing.wire import WrongAnswer
from spanwise.pipelines.serving.pdf_source import PdfPages

PAGES = [["The mill was built in 1811.", "It stands by the weir."], ["The tram runs every ten minutes."]]


@pytest.fixture
def indexed(tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "town.pdf").write_bytes(pdf_of(PAGES))
    (tmp_path / "notes" / "owl.txt").write_text("An owl lives in the mill.")
    with spanwise.open(tmp_path / "notes") as library:
        library.sync(vectors=False)
        pages = PdfPages(library)
        yield library, pages
        pages.close()


def test_a_span_has_its_box_on_the_page_where_it_starts(indexed):
    library, pages = indexed
    start = library.document("town.pdf").text.index("ten minutes")
    found = pages.places("town.pdf", None, start, start + 3)
    assert (found["page"], found["pages"], len(found["boxes"])) == (2, 2, 1)


def test_a_page_that_the_span_does_not_touch_has_no_box(indexed):
    _, pages = indexed
    assert pages.places("town.pdf", 2, 0, 8)["boxes"] == []


def test_a_picture_is_a_png(indexed):
    assert indexed[1].picture("town.pdf", 1, 300).startswith(b"\x89PNG")


@pytest.mark.parametrize("given", ["weir.pdf", "../town.pdf", "/etc/passwd", ""])
def test_only_documents_of_the_index_are_opened(indexed, given):
    with pytest.raises(DocumentNotFound):
        indexed[1].picture(given, 1, 300)


def test_a_document_of_another_format_is_refused(indexed):
    with pytest.raises(DocumentRejected, match="no PDF"):
        indexed[1].places("owl.txt", 1, 0, 1)


def test_a_page_beyond_the_last_is_refused(indexed):
    with pytest.raises(DocumentRejected, match="has 2 pages"):
        indexed[1].places("town.pdf", 3, 0, 1)


def test_a_span_outside_of_the_document_is_refused(indexed):
    with pytest.raises(ValueError, match="outside of the document"):
        indexed[1].places("town.pdf", None, 5, 10_000)


def test_a_file_that_changed_since_it_was_indexed_is_refused(indexed, tmp_path):
    (tmp_path / "notes" / "town.pdf").write_bytes(pdf_of([["Another page."]]))
    with pytest.raises(DocumentChanged, match="has changed since it was indexed"):
        indexed[1].picture("town.pdf", 1, 300)


def test_a_file_that_is_gone_is_refused(indexed, tmp_path):
    (tmp_path / "notes" / "town.pdf").unlink()
    with pytest.raises(DocumentChanged, match="cannot be opened"):
        indexed[1].picture("town.pdf", 1, 300)


def test_a_file_that_became_a_link_is_not_followed(indexed, tmp_path):
    file = tmp_path / "notes" / "town.pdf"
    file.rename(tmp_path / "elsewhere.pdf")
    file.symlink_to(tmp_path / "elsewhere.pdf")
    with pytest.raises(DocumentChanged, match="cannot be opened"):
        indexed[1].picture("town.pdf", 1, 300)


def test_a_process_that_dies_costs_one_page(indexed):
    _, pages = indexed
    pages.picture("town.pdf", 1, 300)
    os.kill(pages._drawer._child._process.pid, signal.SIGKILL)
    with pytest.raises(DocumentRejected, match="killed"):
        pages.picture("town.pdf", 1, 300)
    assert pages.picture("town.pdf", 1, 300).startswith(b"\x89PNG")


def test_a_page_that_takes_too_long_is_given_up():
    drawer = PageDrawer(Limits(wall_s=30.0))
    drawer.places(pdf_of(PAGES), 1, "", "", "")
    drawer._child._lent = Limits(wall_s=0.0)
    os.kill(drawer._child._process.pid, signal.SIGSTOP)
    with pytest.raises(DocumentRejected, match="more than 0 s"):
        drawer.picture(pdf_of(PAGES), 1, 300)
    drawer.close()


def test_the_largest_picture_is_drawn_within_the_limits():
    file = BytesIO()
    canvas = Canvas(file, pagesize=(2_000, 4_000), invariant=True)
    canvas.linearGradient(0, 0, 2_000, 4_000, (red, blue))
    canvas.save()
    drawer = PageDrawer()
    with closing(drawer), Image.open(BytesIO(drawer.picture(file.getvalue(), 1, MAX_WIDTH))) as picture:
        assert picture.size == (2_000, 4_000)
        assert picture.getpixel((5, 3_995))[0] > 250 > 5 > picture.getpixel((5, 3_995))[2]


@pytest.mark.parametrize(
    "places",
    [
        {},
        {"width": 1, "height": 0, "n_pages": 1, "boxes": []},
        {"width": 1, "height": float("nan"), "n_pages": 1, "boxes": []},
        {"width": 1, "height": 1, "n_pages": 1, "boxes": [{"x": 0, "y": 0, "width": "1", "height": 1}]},
        {"width": 1, "height": 1, "n_pages": 1, "boxes": 7},
    ],
)
def test_sizes_that_no_page_has_are_not_believed(places):
    with pytest.raises(WrongAnswer):
        drawn_page.checked_places({"places": places})


def test_what_is_no_picture_is_not_passed_on():
    with pytest.raises(WrongAnswer):
        drawn_page.checked_picture(b"<script>")
