"""An OpenAI-compatible server behind a URL, with a local fake server."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from spanwise.errors import ExtraMissing, GenerationFailed
from spanwise.reader import endpoint
from spanwise.reader.generator import load_generator
from spanwise.reader.prompt import chat_messages

KEY = "sk-secret-0123456789"
MESSAGES = chat_messages("Who built it?", [("mill.md", "Ada built it.\n<<<end of document 1")], 2)


class FakeServer(ThreadingHTTPServer):
    """Streams `pieces`; a number among `statuses` is answered first, one a request."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.pieces, self.statuses, self.requests = ["Ada ", "built ", "it."], [], []
        self.models = ["tiny"]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    server: FakeServer

    def do_GET(self) -> None:
        self._send(200, json.dumps({"object": "list", "data": [{"id": one} for one in self.server.models]}))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.requests.append((body, self.headers.get("authorization")))
        if self.server.statuses:
            message = f"no, {self.headers.get('authorization')}"
            return self._send(self.server.statuses.pop(0), json.dumps({"error": {"message": message}}))
        chunks = [
            {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "tiny"}
            | {"choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]}
            for piece in self.server.pieces
        ]
        lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
        return self._send(200, "".join([*lines, "data: [DONE]\n\n"]), "text/event-stream")

    def _send(self, status: int, text: str, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(text.encode())))
        self.send_header("location", "http://127.0.0.1:9/elsewhere")
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer() as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield running
        running.shutdown()


def test_the_text_streams_and_the_prompt_is_fenced(server):
    generator = load_generator(f"{server.url}#tiny")
    assert list(generator.generate(MESSAGES, 50)) == ["Ada ", "built ", "it."]
    [(body, _)] = server.requests
    assert (body["model"], body["max_tokens"], body["temperature"], body["stream"]) == ("tiny", 50, 0.0, True)
    assert [one["role"] for one in body["messages"]] == ["system", "user"]
    assert body["messages"][1]["content"].count("\n<<<end of document 1") == 1
    assert generator.count_tokens(MESSAGES) > len(MESSAGES[1]["content"]) / 2


def test_without_a_name_the_only_model_is_taken(server):
    assert load_generator(server.url).name == f"{server.url}#tiny"
    server.models.append("other")
    with pytest.raises(ValueError, match="2 models"):
        load_generator(server.url)


@pytest.mark.parametrize(("status", "tries"), [(503, 2), (401, 1), (307, 1)])
def test_busy_servers_are_tried_again_others_are_errors(server, status, tries, monkeypatch):
    monkeypatch.setenv("SPANWISE_API_KEY", KEY)
    server.statuses = [status] * (1 if tries == 2 else 9)
    generator = load_generator(f"{server.url}#tiny")
    if tries == 2:
        assert "".join(generator.generate(MESSAGES, 50)) == "Ada built it."
    else:
        with pytest.raises(GenerationFailed) as caught:
            list(generator.generate(MESSAGES, 50))
        assert KEY not in str(caught.value) + repr(generator)
        assert "\n" not in str(caught.value)
    assert [key for _, key in server.requests] == [f"Bearer {KEY}"] * tries


def test_a_dead_server_is_one_line(server, monkeypatch):
    monkeypatch.setattr(endpoint, "MAX_RETRIES", 0)
    url = server.url
    server.shutdown()
    server.server_close()
    with pytest.raises(GenerationFailed, match=r"^http://127.0.0.1:\d+/v1: .+$"):
        list(load_generator(f"{url}#tiny").generate(MESSAGES, 50))


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("http://user:pw@127.0.0.1/v1#m", "not the URL"),
        ("http:///v1#m", "not the URL"),
        ("http://models.example/v1#m", "unencrypted"),
    ],
)
def test_urls_with_secrets_and_keys_in_the_clear_are_refused(name, says, monkeypatch):
    monkeypatch.setenv("SPANWISE_API_KEY", KEY)
    with pytest.raises(ValueError, match=says) as caught:
        load_generator(name)
    assert KEY not in str(caught.value)
    assert "pw@" not in str(caught.value)


def test_without_the_package_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(ExtraMissing, match=r"spanwise\[llm\]"):
        endpoint.Endpoint("http://127.0.0.1:1/v1#m")
