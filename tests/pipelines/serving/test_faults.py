"""What an index suffers from is told by name, and a path never is."""

from __future__ import annotations

import sqlite3

import pytest

from spanwise import errors
from spanwise.pipelines.serving.faults import fault_of

ASKED = {"question": "Who built the mill?", "retriever": "bm25"}


@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [
        (errors.IndexLocked("locked by {path}"), 503, "IndexLocked"),
        (errors.IndexCorrupt("{path}/catalog.sqlite is damaged"), 500, "IndexCorrupt"),
        (errors.IndexEmpty("{path} holds no passages"), 503, "IndexEmpty"),
        (errors.ModelNotFound("no model at {path}"), 500, "ModelNotFound"),
        (errors.FilterUnknown("no document in {path} is of type 'x'"), 400, "FilterUnknown"),
        (sqlite3.DatabaseError("malformed {path}"), 500, "ServerError"),
        (ValueError("no such thing in {path}/segments"), 400, "BadRequest"),
        (RuntimeError("{path}"), 500, "ServerError"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_an_error_is_told_by_name_without_its_path(serve, library, monkeypatch, error, status, kind):
    told = type(error)(str(error).replace("{path}", str(library.store.path)))

    def failing(self, *given, **named):
        raise told

    client = serve()
    monkeypatch.setattr(type(library), "search_many", failing)
    response = client.post("/api/search", json=ASKED)
    assert (response.status_code, response.json()["error"]["type"]) == (status, kind)
    assert str(library.store.path.parent) not in response.text


def test_an_index_that_is_damaged_is_told_and_not_answered_from(serve, library):
    client = serve()
    for segment in (library.store.path / "segments").rglob("*"):
        if segment.is_file():
            segment.write_bytes(bytes(segment.stat().st_size))
    response = client.post("/api/search", json=ASKED)
    assert (response.status_code, response.json()["error"]["type"]) == (500, "IndexCorrupt")
    assert client.get("/health").status_code == 200


def test_an_index_without_vectors_says_where_to_look(client):
    response = client.post("/api/search", json={**ASKED, "retriever": "colbert"})
    assert (response.status_code, response.json()["error"]["type"]) == (503, "IndexEmpty")


@pytest.mark.parametrize("name", [name for name in vars(errors) if name[0].isupper()])
def test_every_named_error_has_a_status(name):
    assert 400 <= fault_of(vars(errors)[name]("told")).status < 600
