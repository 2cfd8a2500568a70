"""Routes that are answered without FastAPI's own work answer as they do with it."""

from __future__ import annotations

import asyncio
import json

import pytest
from fastapi import APIRouter

from spanwise.errors import IndexEmpty
from spanwise.pipelines.serving.direct import Direct
from spanwise.pipelines.serving.requests import SearchRequest
from spanwise.pipelines.serving.responses import Record
from spanwise.pipelines.serving.routes import questions

GOOD = {"question": "Who built the mill?", "retriever": "bm25"}
BODIES = [
    json.dumps(GOOD),
    json.dumps({**GOOD, "question": "\U0001d11e Mühle? \ud800"}),
    json.dumps({**GOOD, "k": 101}),
    json.dumps({**GOOD, "where": {"types": ["exe"]}}),
    json.dumps({**GOOD, "k": "3"}),
    json.dumps({**GOOD, "unknown": 1}),
    json.dumps({"k": 3}),
    json.dumps([GOOD]),
    "{",
    "null",
    "",
    "\ufeff{}",
]


def answered(client, path, body):
    """The status and the body of an answer, less the time that it took."""
    response = client.post(path, content=body.encode(), headers={"content-type": "application/json"})
    return response.status_code, {**response.json(), "timings_ms": None}


@pytest.mark.parametrize("path", ["/api/search", "/api/ask"])
def test_each_body_is_answered_as_by_fastapi(serve, monkeypatch, path):
    direct = serve()
    monkeypatch.setattr(questions, "DIRECT", {})
    of_fastapi = serve()
    assert [answered(direct, path, one) for one in BODIES] == [
        answered(of_fastapi, path, one) for one in BODIES
    ]


@pytest.mark.parametrize("error", [IndexEmpty("nothing is indexed"), KeyError("lost")])
def test_what_the_library_raises_is_told_as_by_fastapi(serve, library, monkeypatch, error):
    def fails(*given, **more):
        raise error

    monkeypatch.setattr(library, "search_many", fails)
    direct = serve()
    monkeypatch.setattr(questions, "DIRECT", {})
    told = answered(direct, "/api/search", BODIES[0])
    assert told == answered(serve(), "/api/search", BODIES[0])
    assert told[0] in (409, 500, 503)


def test_requests_are_counted_by_their_route(client):
    client.post("/api/search", json=GOOD)
    client.post("/api/search", json={**GOOD, "k": 0})
    told = client.get("/metrics").text
    for status in (200, 400):
        assert f'spanwise_requests_total{{route="/api/search",status="{status}"}} 1.0' in told


def directed(method, path, body):
    """What the application below is given, and what is sent, where /api/search is answered directly."""
    below, sent, messages = [], [], [{"type": "http.request", "body": body}]

    async def app(scope, receive, send):
        below.append((await receive())["body"])

    async def receive():
        return messages.pop()

    async def send(message):
        sent.append(message)

    router = APIRouter()

    @router.post("/api/search")
    async def searched(asked: SearchRequest, service: str) -> Record:
        return Record({"asked": asked.question, "of": service})

    direct = Direct(app, router.routes, {searched: SearchRequest}, "the service", [], None)
    asyncio.run(direct({"type": "http", "method": method, "path": path}, receive, send))
    return below, b"".join(message.get("body", b"") for message in sent)


def test_a_good_body_does_not_reach_fastapi():
    assert directed("POST", "/api/search", json.dumps(GOOD).encode()) == (
        [],
        b'{"asked":"Who built the mill?","of":"the service"}',
    )


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/api/search", b'{"question": 1}'),
        ("POST", "/api/search", b"{"),
        ("GET", "/api/search", b""),
        ("POST", "/api/search/", json.dumps(GOOD).encode()),
        ("POST", "/api/why-not", json.dumps(GOOD).encode()),
    ],
)
def test_all_else_reaches_fastapi_with_its_body(method, path, body):
    assert directed(method, path, body) == ([body], b"")
