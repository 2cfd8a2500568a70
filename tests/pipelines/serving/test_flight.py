"""How much is worked on at a time, and what happens to what takes too long."""

from __future__ import annotations

import threading
import time

import pytest

ASKED = {"question": "Who built the mill?", "retriever": "bm25"}


@pytest.fixture
def held(library, monkeypatch):
    """Searches wait until this is set; `begun` tells that one has begun."""
    go, begun, search = threading.Event(), threading.Event(), type(library).search_many

    def waiting(self, *given, **named):
        begun.set()
        assert go.wait(20)
        return search(self, *given, **named)

    monkeypatch.setattr(type(library), "search_many", waiting)
    go.begun = begun
    yield go
    go.set()


def in_background(client, path="/api/search", body=ASKED):
    found = []
    thread = threading.Thread(target=lambda: found.append(client.post(path, json=body)))
    thread.start()
    return thread, found


def test_one_request_too_many_is_told_to_come_again(serve, held):
    client = serve(in_flight=1)
    thread, found = in_background(client)
    assert held.begun.wait(20)
    refused = client.post("/api/search", json=ASKED)
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
    assert refused.json()["error"]["type"] == "Overloaded"
    assert client.get("/health").status_code == 200
    held.set()
    thread.join()
    assert found[0].status_code == 200
    assert client.post("/api/search", json=ASKED).status_code == 200


def test_what_takes_too_long_is_told_so_and_leaves_its_place(serve, held):
    client = serve(in_flight=1, request_s=0.3)
    began = time.monotonic()
    late = client.post("/api/search", json=ASKED)
    assert (late.status_code, late.json()["error"]["type"]) == (503, "TimedOut")
    assert time.monotonic() - began < 15
    held.set()
    assert client.post("/api/search", json=ASKED).status_code == 200


def test_documents_are_read_beside_a_long_search(serve, held):
    client = serve()
    thread, found = in_background(client)
    assert held.begun.wait(20)
    assert client.get("/api/documents").json()["total"] == 3
    assert client.get("/api/status").status_code == 200
    held.set()
    thread.join()
    assert found[0].status_code == 200


def test_a_server_that_ends_takes_no_new_work(client):
    client.app.state.service.is_draining = True
    refused = client.post("/api/search", json=ASKED)
    assert (refused.status_code, refused.json()["error"]["type"]) == (503, "ShuttingDown")
    assert client.get("/health").json() == {"status": "draining"}


def test_the_figures_count_requests_refusals_and_batches(serve, held):
    client = serve(in_flight=1)
    thread, _ = in_background(client)
    assert held.begun.wait(20)
    client.post("/api/search", json=ASKED)
    held.set()
    thread.join()
    told = client.get("/metrics").text
    assert 'spanwise_requests_total{route="/api/search",status="200"} 1.0' in told
    assert 'spanwise_refused_total{type="Overloaded"} 1.0' in told
    assert "spanwise_batch_questions_count 1.0" in told
    assert "spanwise_in_flight 0.0" in told
