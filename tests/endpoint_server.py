"""A server that speaks the chat protocol, or breaks it as the model's name says; a process of its own.

`python endpoint_server.py` prints its port. The model "cut:7" plays the scene `cut`; what follows the colon
only keeps tests apart. GET /log/<model> gives back what was asked of it, with headers.
"""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import endpoint_scenes

MODELS = {"/v1": ["llama3", "qwen\x1b[2J"], "/one": ["only"], "/none": [], "/closed": None, "/odd": "models"}


@dataclass(frozen=True)
class Running:
    """A server that runs: its address, and what it was asked."""

    root: str

    @property
    def v1(self) -> str:
        return f"{self.root}/v1"

    def asked(self, model: str) -> list[dict[str, Any]]:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"{self.root}/log/{model}", timeout=10) as answer:
            return json.load(answer)  # type: ignore[no-any-return]


@contextmanager
def running() -> Iterator[Running]:
    """The server in a process of its own, until the block ends."""
    with subprocess.Popen([sys.executable, __file__], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield Running(f"http://127.0.0.1:{int(process.stdout.readline())}")
        finally:
            process.terminate()


class Handler(BaseHTTPRequestHandler):
    """Answers with the scene that the model's name names."""

    protocol_version = "HTTP/1.1"
    log: dict[str, list[dict[str, Any]]] = {}  # noqa: RUF012

    def do_GET(self) -> None:
        prefix, _, name = self.path.rpartition("/")
        if prefix == "/log":
            self.send_json(200, self.log.get(name, []))
        elif name != "models" or MODELS.get(prefix) is None:
            self.send_json(401 if prefix == "/closed" else 404, {"error": "not here"})
        elif prefix == "/odd":
            self.send_json(200, {"data": MODELS[prefix]})
        else:
            self.send_json(200, {"data": [{"id": model} for model in MODELS[prefix] or ()]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked = self.log.setdefault(body["model"], [])
        asked.append({"path": self.path, "headers": dict(self.headers), "body": body})
        scene = getattr(endpoint_scenes, body["model"].partition(":")[0], endpoint_scenes.missing)
        try:
            scene(self, len(asked))
        except (BrokenPipeError, ConnectionResetError):  # the client had enough
            self.close_connection = True

    def do_CONNECT(self) -> None:
        self.log.setdefault("CONNECT", []).append({"path": self.path, "headers": dict(self.headers)})
        self.send_json(502, {})

    def send_json(self, status: int, value: object, **headers: str) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        for name, content in headers.items():
            self.send_header(name.replace("_", "-"), content)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def begin(self, **headers: str) -> None:
        self.send_response(200)
        for name, content in {"Content-Type": "text/event-stream", **headers}.items():
            self.send_header(name.replace("_", "-"), content)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def send(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def end(self) -> None:
        self.wfile.write(b"0\r\n\r\n")

    def cut(self) -> None:
        """Close the connection in the middle of a chunk."""
        self.wfile.write(b"ff\r\ndata: {")
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Say nothing."""


if __name__ == "__main__":
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        print(server.server_address[1], flush=True)
        server.serve_forever()
