"""Messages over a pipe: a JSON header and a fixed number of blocks of bytes, their lengths in front.

Both sides refuse a message that is larger than allowed before they read it. JSON and bytes alone: nothing in
a message can run code.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any, BinaryIO

MAX_HEADER = 64 * 2**20  # bytes
MAX_BLOCK = 256 * 2**20


class BrokenFrame(ValueError):
    """What came over the pipe is no message, or one that is too large to send."""


def send(stream: BinaryIO, header: Mapping[str, object], *blocks: bytes) -> None:
    """Write one message and flush it; `BrokenFrame`, and nothing written, when it is over the limits."""
    parts = [json.dumps(header, ensure_ascii=False).encode("utf-8"), *blocks]
    lengths = [len(part) for part in parts]
    _check(lengths)
    stream.write(_lengths(len(blocks)).pack(*lengths))
    for part in parts:
        stream.write(part)
    stream.flush()


def receive(stream: BinaryIO, n_blocks: int) -> tuple[dict[str, Any], list[bytes]] | None:
    """The next message, None where the stream ends between two; `BrokenFrame` when it is none."""
    layout = _lengths(n_blocks)
    start = stream.read(layout.size)
    if not start:
        return None
    if len(start) < layout.size:
        raise BrokenFrame("the stream ends inside a message")
    lengths = layout.unpack(start)
    _check(lengths)
    header, *blocks = (_exactly(stream, length) for length in lengths)
    return _object(header), blocks


def _lengths(n_blocks: int) -> struct.Struct:
    return struct.Struct(f">{1 + n_blocks}Q")


def _check(lengths: tuple[int, ...] | list[int]) -> None:
    header, *blocks = lengths
    if header > MAX_HEADER or max(blocks, default=0) > MAX_BLOCK:
        raise BrokenFrame(f"a message of {sum(lengths):,} bytes is over the limits")


def _exactly(stream: BinaryIO, length: int) -> bytes:
    data = stream.read(length)
    if len(data) < length:
        raise BrokenFrame("the stream ends inside a message")
    return data


def _object(data: bytes) -> dict[str, Any]:
    try:
        header = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BrokenFrame(f"the header is not JSON: {error}") from error
    if not isinstance(header, dict):
        raise BrokenFrame("the header is no JSON object")
    return header
