"""A server on this machine that speaks the protocols of OpenAI and Ollama and writes what it was told."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class FakeServer(ThreadingHTTPServer):
    """Streams `pieces`; a number among `statuses` is answered first, one a request; "" hangs, None dies."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.pieces: list[str | None] = ["Ada ", "built ", "it."]
        self.statuses = list[int]()
        self.requests = []
        self.field = "content"
        self.last = {}
        self.reason = "stop"
        self.pause_s = 0.0
        self.content_type = "text/event-stream"
        self.is_ollama = False
        self.n_read = 9  # tokens of the prompt, in Ollama's count
        self.vector_of = lambda text: [1.0, 10.0 * text.lower().count("mill")]

    def handle_error(self, *args: object) -> None:
        """Say nothing about a client that has enough."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    server: FakeServer

    def do_GET(self) -> None:
        model = {"name": "tiny:latest", "model": "tiny:latest", "digest": "0f" * 32}
        self._answer(200 if self.path == "/api/tags" else 404, {"models": [model]})

    def _answer(self, status: int, record: dict) -> None:
        body = json.dumps(record).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.requests.append((body, self.headers.get("authorization")))
        if self.path == "/api/embed":
            self._answer(200, {"embeddings": [self.server.vector_of(text) for text in body["input"]]})
            return
        status = self.server.statuses.pop(0) if self.server.statuses else 200
        self.send_response(status)
        self.send_header("content-type", "application/json" if status > 200 else self.server.content_type)
        self.send_header("location", "http://127.0.0.1:9/elsewhere")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        if status > 200:
            self._send(json.dumps({"error": {"message": f"no, {self.headers.get('authorization')}"}}))
        for piece in self.server.pieces if status == 200 else ():
            if piece is None:
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            self._send(self._chunk({self.server.field: piece}))
            time.sleep(self.server.pause_s if piece else 3)
        if status == 200:
            self._send(self._chunk({}, self.server.reason, **self.server.last))
            self._send("" if self.server.is_ollama else "data: [DONE]\n\n")
        self._send("")

    def _chunk(self, said: dict, reason: str | None = None, **more: object) -> str:
        if self.server.is_ollama:
            counts = {"prompt_eval_count": self.server.n_read, "eval_count": 3} if reason else {}
            record = {"message": {"role": "assistant", **said}, "done": bool(reason), "done_reason": reason}
            return json.dumps({**record, **counts}) + "\n"
        chunk = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "tiny", **more}
        choice = {"index": 0, "delta": said, "finish_reason": reason}
        return f"data: {json.dumps({**chunk, 'choices': [choice]})}\n\n"

    def _send(self, text: str) -> None:
        self.wfile.write(f"{len(text.encode()):x}\r\n{text}\r\n".encode())

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def running_server() -> Iterator[FakeServer]:
    with FakeServer() as running:
        running.daemon_threads = True
        running.block_on_close = False
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield running
        running.shutdown()
