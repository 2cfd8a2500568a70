"""A server on this machine that speaks OpenAI's protocol and writes what it was told."""

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

    def handle_error(self, *args: object) -> None:
        """Say nothing about a client that has enough."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    server: FakeServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.requests.append((body, self.headers.get("authorization")))
        status = self.server.statuses.pop(0) if self.server.statuses else 200
        self.send_response(status)
        self.send_header("content-type", "application/json" if status > 200 else "text/event-stream")
        self.send_header("location", "http://127.0.0.1:9/elsewhere")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        if status > 200:
            self._send(json.dumps({"error": {"message": f"no, {self.headers.get('authorization')}"}}))
        for piece in self.server.pieces if status == 200 else ():
            if piece is None:
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            chunk = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "tiny"}
            choice = {"index": 0, "delta": {"content": piece}, "finish_reason": None}
            self._send(f"data: {json.dumps({**chunk, 'choices': [choice]})}\n\n")
            time.sleep(0 if piece else 3)
        self._send("" if status > 200 else "data: [DONE]\n\n")
        self._send("")

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
