"""Who may ask: names, origins and tokens, and what a page that was allowed hears."""

from __future__ import annotations

import pytest

TOKEN = "a token of nineteen"
ALLOWED = "https://notes.example"


def test_a_name_that_was_allowed_is_answered_with_and_without_the_port(serve):
    client = serve(allowed_hosts=("Notes.example",))
    for host in ("notes.example", "NOTES.example:8765", "localhost:8765", "[::1]:8765"):
        assert client.get("/health", headers={"host": host}).status_code == 200


def test_an_origin_that_was_allowed_hears_the_answer(serve):
    client = serve(allowed_origins=(ALLOWED,))
    response = client.get("/api/status", headers={"origin": ALLOWED, "sec-fetch-site": "cross-site"})
    assert response.status_code == 200
    assert response.headers["access-control-allow-origin"] == ALLOWED


def test_a_preflight_of_an_allowed_origin_is_granted(serve):
    asked = {"origin": ALLOWED, "access-control-request-method": "POST"}
    response = serve(allowed_origins=(ALLOWED,)).options("/api/ask", headers=asked)
    assert response.status_code == 204
    assert "content-type" in response.headers["access-control-allow-headers"]


def test_without_allowance_no_header_speaks_of_origins(client):
    response = client.get("/health", headers={"origin": "http://127.0.0.1:8765"})
    assert response.status_code == 200
    assert not [name for name in response.headers if name.startswith("access-control")]


@pytest.mark.parametrize(
    ("path", "status"), [("/health", 200), ("/", 200), ("/metrics", 401), ("/openapi.json", 401)]
)
def test_a_token_guards_all_but_the_page_and_the_health_check(serve, path, status):
    assert serve(token=TOKEN).get(path).status_code == status


def test_every_response_tells_browsers_to_run_nothing_foreign(client):
    for response in (client.get("/"), client.get("/nothing"), client.get("/health", headers={"host": "a"})):
        assert response.headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["referrer-policy"] == "no-referrer"


def test_what_is_asked_is_not_kept_by_browsers(client):
    assert client.get("/api/status").headers["cache-control"] == "no-store"


def test_the_page_is_served_and_nothing_beside_it(client):
    assert client.get("/").headers["content-type"] == "text/html; charset=utf-8"
    assert client.get("/page/index.html").text == client.get("/").text
    assert client.get("/page/__init__.py").status_code == 404


def test_a_body_of_just_the_allowed_length_is_read(serve):
    client = serve(body_bytes=60)
    body = b'{"question": "x", "retriever": "bm25"}'
    typed = {"content-type": "application/json; charset=UTF-8"}
    assert client.post("/api/search", content=body.ljust(60), headers=typed).status_code == 200
    assert client.post("/api/search", content=body.ljust(61), headers=typed).status_code == 413


def test_the_description_of_the_interface_is_complete_and_loads_nothing(client):
    told = client.get("/openapi.json")
    paths = {"/api/search", "/api/ask", "/api/explain", "/api/why-not", "/api/summarize", "/api/status"}
    paths |= {"/api/documents", "/api/document", "/api/passages", "/api/passages/{id}", "/health", "/metrics"}
    assert paths | {"/v1/chat/completions", "/v1/models"} <= set(told.json()["paths"])
    assert client.get("/docs").status_code == client.get("/redoc").status_code == 404
