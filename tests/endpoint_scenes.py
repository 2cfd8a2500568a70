"""What the chat server of the tests can play: each scene answers one request, the n-th for its model."""

from __future__ import annotations

import json
import time
from typing import Any

PIECES = ("The library ", "opens at nine.")


def event(content: object = None, finish: str | None = None, **more: Any) -> bytes:
    """An event of the stream, as servers send it."""
    delta = {} if content is None else {"content": content}
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + json.dumps({"choices": [choice], **more}).encode() + b"\n\n"


def stream(page: Any, *data: bytes) -> None:
    page.begin()
    for chunk in data:
        page.send(chunk)
    page.end()


def whole(page: Any, _: int) -> None:
    role = event("")
    usage = {"completion_tokens": 6}
    stream(page, role, *map(event, PIECES), event(finish="stop", usage=usage), b"data: [DONE]\n\n")


def only_done(page: Any, _: int) -> None:
    stream(page, *map(event, PIECES), b"data: [DONE]\n\n")


def only_finish(page: Any, _: int) -> None:
    stream(page, *map(event, PIECES), event(finish="stop"))


def crlf(page: Any, _: int) -> None:
    first, second = (event(piece).replace(b"\n", b"\r\n") for piece in PIECES)
    stream(page, b"\xef\xbb\xbf: hello\r\n\r\n", first, b": ping\r\n", second, b"data: [DONE]\r\n\r\n")


def single_bytes(page: Any, _: int) -> None:
    text = b'data: {"choices": [{"delta": {"content": "%s"}}]}\n\n' % "Größe 😀 大".encode()
    stream(page, *(bytes([byte]) for byte in text), event(finish="stop"))


def halves(page: Any, _: int) -> None:
    stream(page, event("smile \ud83d"), event("\ude00 half \ud83d"), event(finish="stop"))


def controls(page: Any, _: int) -> None:
    stream(page, event("\x1b[31mred\x07\r\n\tplain\x9b2J"), event("\x1b"), event(finish="stop"))


def length(page: Any, _: int) -> None:
    stream(page, event("The"), event(finish="length"))


def content_filter(page: Any, _: int) -> None:
    stream(page, event("The"), event(finish="content_filter"))


def tool_calls(page: Any, _: int) -> None:
    stream(page, event(finish="tool_calls"))


def odd_reason(page: Any, _: int) -> None:
    stream(page, event("The"), event(finish="abort"))


def cut(page: Any, _: int) -> None:
    page.begin()
    page.send(event("The library "))
    page.cut()


def cut_once(page: Any, n: int) -> None:
    whole(page, n) if n > 1 else page.cut()


def half_once(page: Any, n: int) -> None:
    whole(page, n) if n > 1 else stream(page, event("\ud83d"))


def no_done(page: Any, _: int) -> None:
    stream(page, *map(event, PIECES))


def half_event(page: Any, _: int) -> None:
    stream(page, event("The"), event(finish="stop").rstrip())


def busy(page: Any, _: int) -> None:
    page.send_json(429, {"error": {"message": "slow down"}})


def busy_once(page: Any, n: int) -> None:
    whole(page, n) if n > 1 else page.send_json(429, {}, Retry_After="7")


def overloaded(page: Any, _: int) -> None:
    page.send_json(503, {"error": "Loading model"})


def malformed(page: Any, _: int) -> None:
    stream(page, b'data: {"choices": [\n\n')


def deep(page: Any, _: int) -> None:
    stream(page, b"data: " + b"[" * 200_000 + b"\n\n")


def no_choices(page: Any, _: int) -> None:
    stream(page, b'data: {"text": "The"}\n\n')


def parts(page: Any, _: int) -> None:
    stream(page, event([{"type": "image_url"}]))


def refused(page: Any, _: int) -> None:
    stream(page, b'data: {"choices": [{"delta": {"refusal": "I would rather not"}}]}\n\n')


def error_event(page: Any, _: int) -> None:
    message = f"out of memory\nwith {page.headers['Authorization']}"
    stream(page, event("The"), b"data: " + json.dumps({"error": {"message": message}}).encode() + b"\n\n")


def missing(page: Any, _: int) -> None:
    page.send_json(404, {"error": {"message": "no such model"}})


def unauthorized(page: Any, _: int) -> None:
    page.send_json(401, {"error": {"message": f"wrong key {page.headers['Authorization']}"}})


def bad_request(page: Any, _: int) -> None:
    page.send_json(400, {"detail": f"{'x' * 190} {page.headers['Authorization']}"})


def redirect(page: Any, _: int) -> None:
    page.send_json(307, {}, Location="/v1/elsewhere/chat/completions")


def long_line(page: Any, _: int) -> None:
    page.begin()
    for _piece in range(40):
        page.send(b"x" * 2**16)
    page.end()


def large_body(page: Any, _: int) -> None:
    page.begin()
    line = b":" + b"x" * (2**19 - 2) + b"\n"
    while True:
        page.send(line)


def not_utf8(page: Any, _: int) -> None:
    stream(page, b'data: {"choices": [{"delta": {"content": "Gr\xf6\xdfe"}}]}\n\n')


def squeezed(page: Any, _: int) -> None:
    page.begin(Content_Encoding="gzip")
    page.end()


def no_stream(page: Any, _: int) -> None:
    page.send_json(200, {"choices": [{"message": {"content": "The"}}]})


def mute(page: Any, _: int) -> None:
    time.sleep(5)


def silent(page: Any, _: int) -> None:
    page.begin()
    page.send(event("The"))
    time.sleep(5)


def endless(page: Any, _: int) -> None:
    page.begin()
    for _piece in range(250):
        page.send(event("on "))
        time.sleep(0.02)


def pings(page: Any, _: int) -> None:
    page.begin()
    page.send(event("The"))
    for _ping in range(250):
        page.send(b": ping\n\n")
        time.sleep(0.02)


def slow_header(page: Any, _: int) -> None:
    page.wfile.write(b"HTTP/1.1 200 OK\r\nX: ")
    for _byte in range(250):
        page.wfile.write(b"x")
        time.sleep(0.02)
