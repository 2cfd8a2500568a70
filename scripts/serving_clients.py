"""Clients of a server: so many at a time, each asking one question after another on its own connection."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

AGAIN_S = 1.0  # what Retry-After says


@dataclass
class Load:
    """What came of it: how many responses of each status, and the seconds that each answer took."""

    seconds: float = 0.0
    statuses: Counter[int] = field(default_factory=Counter)
    took: list[float] = field(default_factory=list)

    def quantile(self, share: float) -> float:
        """The seconds within which this share of the answers came; NaN without any."""
        ordered = sorted(self.took)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")

    @property
    def per_second(self) -> float:
        """Answers a second."""
        return self.statuses[200] / self.seconds if self.seconds else 0.0


def load(port: int, path: str, bodies: Sequence[dict[str, Any]], clients: int, seconds: float) -> Load:
    """The bodies, in turn, posted by so many clients for so long; a 503 is asked again when it says."""
    return asyncio.run(_load(port, path, [json.dumps(body).encode() for body in bodies], clients, seconds))


async def _load(port: int, path: str, bodies: Sequence[bytes], clients: int, seconds: float) -> Load:
    found, numbers, began = Load(), count(), time.perf_counter()
    until = began + seconds
    await asyncio.gather(*[_client(port, path, bodies, numbers, until, found) for _ in range(clients)])
    found.seconds = time.perf_counter() - began
    return found


async def _client(
    port: int, path: str, bodies: Sequence[bytes], numbers: Iterator[int], until: float, found: Load
) -> None:
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n".encode()
    connected = None
    while time.perf_counter() < until:
        body = bodies[next(numbers) % len(bodies)]
        began = time.perf_counter()
        try:
            connected = connected or await asyncio.open_connection("127.0.0.1", port)
            connected[1].write(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
            status, is_kept = await _response(connected[0])
        except (OSError, asyncio.IncompleteReadError):
            status, is_kept = 0, False
        found.statuses[status] += 1
        if status == 200:
            found.took.append(time.perf_counter() - began)
        if not is_kept and connected:
            connected[1].close()
            connected = None
        if status == 503:
            await asyncio.sleep(AGAIN_S)
    if connected:
        connected[1].close()


async def _response(reader: asyncio.StreamReader) -> tuple[int, bool]:
    """The status of a response that was read whole, and whether the connection stays."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0])
    await reader.readexactly(length)
    return int(head[9:12]), b"connection: close" not in head
