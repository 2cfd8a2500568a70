"""Documents and passages over HTTP, by their ids in the index alone."""

from __future__ import annotations

import pytest


def test_documents_are_listed_in_parts_by_id(client):
    record = client.get("/api/documents", params={"limit": 2, "offset": 1}).json()
    assert [one["document"] for one in record["documents"]] == ["sub/weir.html", "tram.txt"]
    assert record["total"] == 3


def test_a_pattern_confines_the_list(client):
    record = client.get("/api/documents", params={"path": "sub/**"}).json()
    assert [one["title"] for one in record["documents"]] == ["Weir"]


def test_a_document_comes_with_its_text_and_headings(client, library):
    record = client.get("/api/document", params={"id": "mill.md"}).json()
    stored = library.document("mill.md")
    assert record["text"] == stored.text
    assert [(one["start"], one["text"]) for one in record["headings"]] == [
        (one.start, one.text) for one in stored.headings
    ]


def test_a_part_of_a_document_says_where_it_stands(client, folder, library):
    (folder / "clef.txt").write_text("a𝄞b𝄞c", encoding="utf-8")
    library.sync(vectors=False)
    record = client.get("/api/document", params={"id": "clef.txt", "start": 2, "end": 4}).json()
    assert (record["text"], record["utf16"]) == ("b𝄞", {"start": 3, "end": 6})


def test_passages_of_a_document_and_one_by_its_id_are_the_same(client):
    listed = client.get("/api/passages", params={"document": "mill.md"}).json()["passages"]
    assert [client.get(f"/api/passages/{one['id']}").json() for one in listed] == listed


@pytest.mark.parametrize(
    ("path", "status", "kind"),
    [
        ("/api/document?id=mil.md", 404, "DocumentNotFound"),
        ("/api/document?id=/etc/hostname", 404, "DocumentNotFound"),
        ("/api/document?id=mill.md&start=9999", 400, "BadRequest"),
        ("/api/passages?document=none", 404, "DocumentNotFound"),
        ("/api/passages/999999", 404, "PassageNotFound"),
        ("/api/passages/99999999999999999999", 400, "BadRequest"),
        ("/api/documents?limit=0", 400, "BadRequest"),
        ("/api/nothing", 404, "NotFound"),
    ],
)
def test_what_is_not_there_is_told(client, path, status, kind):
    response = client.get(path)
    assert (response.status_code, response.json()["error"]["type"]) == (status, kind)


def test_the_nearest_names_are_told(client):
    told = client.get("/api/document", params={"id": "mil.md"}).json()["error"]["message"]
    assert "the nearest are mill.md" in told


def test_the_status_names_no_folder_of_the_machine(client, folder):
    told = client.get("/api/status").text
    assert str(folder.parent) not in told
    assert '"documents":3' in told
