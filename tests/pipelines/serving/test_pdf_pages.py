"""The routes of the page's own data: pages of PDFs, and similarities of tokens."""

from __future__ import annotations

import pytest
from made_files import pdf_of
from starlette.testclient import TestClient

from spanwise.pipelines.serving.app import create_app
from spanwise.pipelines.serving.settings import Settings

BASE = "http://127.0.0.1:8765"


@pytest.fixture
def pages(library, folder):
    (folder / "town.pdf").write_bytes(pdf_of([["The mill stands here."], ["The tram runs there."]]))
    library.sync(vectors=False)
    with TestClient(create_app(library, Settings()), base_url=BASE) as client:
        yield client


def test_a_page_has_its_size_and_the_boxes_of_a_span(pages):
    start = pages.get("/api/document", params={"id": "town.pdf"}).json()["text"].index("tram")
    found = pages.get(
        "/api/document/page", params={"id": "town.pdf", "start": start, "end": start + 4}
    ).json()
    assert {key: found[key] for key in ("document", "page", "pages", "width", "height")} == {
        "document": "town.pdf",
        "page": 2,
        "pages": 2,
        "width": 419.53,
        "height": 595.28,
    }
    [box] = found["boxes"]
    assert 0 < box["x"] < box["x"] + box["width"] < found["width"]


def test_a_picture_is_a_png_that_is_not_kept(pages):
    response = pages.get("/api/document/page.png", params={"id": "town.pdf", "page": 1, "width": 200})
    assert response.headers["content-type"] == "image/png"
    assert response.headers["cache-control"] == "no-store"
    assert response.content.startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("parameters", "status"),
    [
        ({"id": "town.pdf", "page": 3}, 422),
        ({"id": "mill.md", "page": 1}, 422),
        ({"id": "../notes/town.pdf", "page": 1}, 404),
        ({"id": "/etc/passwd", "page": 1}, 404),
        ({"id": "town.pdf", "page": 0}, 400),
        ({"id": "town.pdf", "page": 1, "width": 2001}, 400),
        ({"id": "town.pdf"}, 400),
    ],
)
def test_what_is_no_page_is_refused_by_name(pages, folder, parameters, status):
    response = pages.get("/api/document/page.png", params=parameters)
    assert response.status_code == status
    assert response.json()["error"]["message"]
    assert str(folder) not in response.text


def test_a_file_that_changed_is_a_conflict(pages, folder):
    (folder / "town.pdf").write_bytes(pdf_of([["Another one."]]))
    response = pages.get("/api/document/page", params={"id": "town.pdf", "page": 1})
    assert (response.status_code, response.json()["error"]["type"]) == (409, "DocumentChanged")
    assert "spanwise index" in response.json()["error"]["message"]
