"""A server in a process of its own, and exchanges with it byte by byte."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Self


class Served:
    """`spanwise serve` on a free port; `log` holds what it said on stderr once it has ended."""

    def __init__(self, index: Path, *options: str, env: dict[str, str] | None = None) -> None:
        command = [sys.executable, "-m", "spanwise", "serve", "--index", str(index), "--port", "0"]
        self._log = (index.parent / "server.log").open("w+b")
        self.process = subprocess.Popen([*command, *options], stderr=self._log, env=env)
        self.port = self._port()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        self._log.close()

    @property
    def log(self) -> str:
        self._log.seek(0)
        return self._log.read().decode()

    def stop(self) -> int:
        """Its exit code after SIGTERM."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)

    def connect(self, timeout_s: float = 30.0) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout_s)

    def exchange(self, sent: bytes, timeout_s: float = 30.0) -> bytes:
        """All that comes back for these bytes until the connection is closed or one response is whole."""
        with self.connect(timeout_s) as connection:
            with suppress(BrokenPipeError, ConnectionResetError):  # it was refused while it was being sent
                connection.sendall(sent)
            return received(connection)

    def post(self, path: str, body: Any, timeout_s: float = 60.0) -> tuple[int, Any]:
        """The status and the JSON value of a response."""
        return self._asked("POST", path, json.dumps(body).encode(), timeout_s)

    def get(self, path: str, timeout_s: float = 60.0) -> tuple[int, Any]:
        return self._asked("GET", path, None, timeout_s)

    def _asked(self, method: str, path: str, body: bytes | None, timeout_s: float) -> tuple[int, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout_s)
        try:
            connection.request(method, path, body, {"content-type": "application/json"} if body else {})
            response = connection.getresponse()
            return response.status, json.loads(response.read())
        finally:
            connection.close()

    def _port(self) -> int:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            if found := re.search(r" at http://[^/]*:(\d+)/", self.log):
                return int(found[1])
            if self.process.poll() is not None:
                raise RuntimeError(f"the server ended: {self.log}")
            time.sleep(0.02)
        raise TimeoutError(f"the server did not start: {self.log}")


def received(connection: socket.socket) -> bytes:
    """One response, or as much of it as comes before the end."""
    data = b""
    while True:
        head, separator, body = data.partition(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head.lower())
        if separator and length and len(body) >= int(length[1]):
            return data
        try:
            more = connection.recv(65536)
        except ConnectionResetError:
            return data
        if not more:
            return data
        data += more


def status_of(response: bytes) -> int:
    """The status of a response; 0 when nothing came."""
    found = re.match(rb"HTTP/1\.1 (\d{3}) ", response)
    return int(found[1]) if found else 0


def body_of(response: bytes) -> Any:
    """The JSON value of a response."""
    return json.loads(response.partition(b"\r\n\r\n")[2])
