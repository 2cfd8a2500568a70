"""Requests that mean no good, or that are broken: each with the statuses that refuse it.

`{port}` stands for the server's own port. 0 is a connection that was closed without an answer.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

QUESTION = {"question": "who founded the mill?", "retriever": "bm25"}


@dataclass(frozen=True, slots=True)
class Hostile:
    """Bytes to send, and the statuses that are a refusal of them."""

    name: str
    sent: bytes
    statuses: tuple[int, ...]


def head(*lines: str, method: str = "GET", target: str = "/api/status", host: str | None = None) -> bytes:
    named = ["Host: 127.0.0.1:{port}"] if host is None else [f"Host: {host}"] if host else []
    return "\r\n".join([f"{method} {target} HTTP/1.1", *named, *lines, "", ""]).encode("latin-1")


def post(
    body: bytes, *lines: str, kind: str = "application/json", target: str = "/api/search", host=None
) -> bytes:
    told = [f"Content-Type: {kind}"] if kind else []
    told.append(f"Content-Length: {len(body)}")
    return head(*told, *lines, method="POST", target=target, host=host) + body


def asked(target: str = "/api/search", **changed: object) -> bytes:
    return post(json.dumps({**QUESTION, **changed}).encode(), target=target)


def nested(depth: int, opening: str = "[", closing: str = "]") -> bytes:
    deep = opening * depth + "1" + closing * depth
    return post(b'{"question": "x", "where": ' + deep.encode() + b"}")


GOOD = json.dumps(QUESTION).encode()
CHUNK = b"a" * 4000
CHUNKED = head(
    "Content-Type: application/json", "Transfer-Encoding: chunked", method="POST", target="/api/search"
)

HOSTILE = [
    # the name of the server
    Hostile("a foreign host", head(host="evil.example"), (403,)),
    Hostile("a foreign host with our port", head(host="evil.example:{port}"), (403,)),
    Hostile("a rebound name that begins with ours", head(host="127.0.0.1.evil.example:{port}"), (403,)),
    Hostile("a rebound name that begins with localhost", head(host="localhost.evil.example:{port}"), (403,)),
    Hostile("our name without our port", head(host="localhost"), (403,)),
    Hostile("our name with another port", head(host="127.0.0.1:1"), (403,)),
    Hostile("a host with a user in it", head(host="localhost:{port}@evil.example"), (400, 403)),
    Hostile("the address of everywhere as host", head(host="0.0.0.0:{port}"), (403,)),
    Hostile("an address in decimal as host", head(host="2130706433:{port}"), (403,)),
    Hostile("no host", head(host=""), (400,)),
    Hostile("an empty host", b"GET /api/status HTTP/1.1\r\nHost:\r\n\r\n", (400, 403)),
    Hostile("no host in HTTP/1.0", b"GET /api/status HTTP/1.0\r\n\r\n", (400,)),
    Hostile("two hosts", head("Host: evil.example"), (400,)),
    Hostile("an absolute target", head(target="http://evil.example/api/status"), (400,)),
    Hostile("an absolute target with our name", head(target="http://127.0.0.1/api/status"), (400,)),
    Hostile("a proxy's connect", head(method="CONNECT", target="evil.example:443"), (400, 405)),
    Hostile("a foreign name for the health check", head(target="/health", host="evil.example"), (403,)),
    Hostile("a foreign name for the page", head(target="/", host="evil.example"), (403,)),
    # the page that asks
    Hostile("a foreign origin", post(GOOD, "Origin: https://evil.example"), (403,)),
    Hostile("the origin null", post(GOOD, "Origin: null"), (403,)),
    Hostile("an origin of another port here", post(GOOD, "Origin: http://localhost:1"), (403,)),
    Hostile(
        "an origin that begins with ours", post(GOOD, "Origin: http://localhost:{port}.evil.example"), (403,)
    ),
    Hostile("two origins", post(GOOD, "Origin: http://localhost:{port}", "Origin: null"), (403,)),
    Hostile("a foreign origin that reads", head("Origin: https://evil.example"), (403,)),
    Hostile("a script of another site", head("Sec-Fetch-Site: cross-site"), (403,)),
    Hostile("a page of another port here", head("Sec-Fetch-Site: same-site"), (403,)),
    Hostile(
        "a preflight",
        head("Origin: https://evil.example", "Access-Control-Request-Method: POST", method="OPTIONS"),
        (403,),
    ),
    # the form of the body
    Hostile("a form", post(b"question=x", kind="application/x-www-form-urlencoded"), (415,)),
    Hostile("a form as plain text", post(GOOD, kind="text/plain"), (415,)),
    Hostile("a form in parts", post(b"--a--", kind="multipart/form-data; boundary=a"), (415,)),
    Hostile("no type", post(GOOD, kind=""), (415,)),
    Hostile("another character set", post(GOOD, kind="application/json; charset=utf-7"), (415,)),
    Hostile("a compressed body", post(GOOD, "Content-Encoding: gzip"), (415,)),
    Hostile("two types", post(GOOD, "Content-Type: text/plain"), (415,)),
    Hostile("a body that is no JSON", post(b"question"), (400,)),
    Hostile("a body that is no UTF-8", post(b'{"question": "\xff\xfe"}'), (400,)),
    Hostile("an empty body", post(b""), (400,)),
    Hostile("a number of 5,000 digits", post(b'{"question": "x", "k": ' + b"9" * 5000 + b"}"), (400,)),
    Hostile("arrays 10,000 deep", nested(10_000), (400,)),
    Hostile("objects 10,000 deep", nested(10_000, '{"a":', "}"), (400,)),
    Hostile("100,000 arrays that are never closed", post(b"[" * 100_000), (400,)),
    Hostile("a million quotes that are escaped", post(b'[["' + rb"\"" * 400_000), (400,)),
    # lengths
    Hostile("2 MB with their length", post(b" " * 2_000_000), (413,)),
    Hostile("2 MB in chunks", CHUNKED + b"fa0\r\n" + (CHUNK + b"\r\nfa0\r\n") * 500 + CHUNK, (413,)),
    Hostile("chunks for ever", CHUNKED + b"1\r\na\r\n" * 10, (408,)),
    Hostile("a chunk of a negative length", CHUNKED + b"-1\r\na\r\n", (400,)),
    Hostile("a length that is no number", head("Content-Length: ten", method="POST"), (400,)),
    Hostile("a negative length", head("Content-Length: -1", method="POST"), (400,)),
    Hostile("two lengths", post(GOOD, "Content-Length: 1"), (400,)),
    Hostile("a length and chunks", post(GOOD, "Transfer-Encoding: chunked"), (400,)),
    Hostile("a body that is announced and does not come", post(GOOD)[: -len(GOOD)], (408,)),
    Hostile("a reading request with a body", head("Content-Length: 2") + b"{}", (400,)),
    Hostile("a head of 100 KB", head("X: " + "a" * 100_000), (400, 431)),
    Hostile("a target of 20 KB", head(target="/" + "a" * 20_000), (400, 431)),
    Hostile("no HTTP", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(100) + b"\r\n\r\n", (400,)),
    # what is asked for
    Hostile("k of a thousand million", asked(k=10**9), (400,)),
    Hostile("k below one", asked(k=-1), (400,)),
    Hostile("NUL in the question", asked(question="a\0b"), (400,)),
    Hostile("an escape for terminals in the question", asked(question="a\x1b[2Jb"), (400,)),
    Hostile("half a character in the question", post(b'{"question": "a\\ud800"}'), (400,)),
    Hostile("a question of 5,000 characters", asked(question="x" * 5000), (400,)),
    Hostile("the path of a model", asked(target="/api/ask", reader="/etc"), (400,)),
    Hostile("a path as retriever", asked(retriever="../../etc/passwd"), (400,)),
    Hostile("a file outside of the index", head(target="/api/document?id=../../../etc/passwd"), (404,)),
    Hostile("a file outside of the page", head(target="/page/..%2f..%2fapp.py"), (404,)),
    Hostile("dots in the target", head(target="/page/../../app.py"), (404,)),
    Hostile("another verb", head(method="DELETE", target="/api/document?id=a"), (405,)),
    Hostile("the echo of a request", head(method="TRACE"), (405,)),
]
