"""`spanwise mcp --http`: the official client, and everybody who is not to be answered."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from contextlib import contextmanager
from http.client import HTTPConnection
from urllib.parse import urlsplit

import anyio
import pytest
from mcp.client.client import Client

import spanwise
from spanwise.pipelines.mcp.http import FlightGuard
from spanwise.pipelines.serving.settings import Settings as Address

TOKEN = "a token of many letters"
MESSAGE = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})
HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


@contextmanager
def served(folder, *options, log):
    """A server process and its address."""
    command = [sys.executable, "-m", "spanwise", "mcp", "--http", "--port", "0", "--index", str(folder)]
    with log.open("w+") as talk:
        server = subprocess.Popen([*command, "--retriever", "bm25", *options], stderr=talk)
        try:
            yield server, _address(log, server)
        finally:
            server.terminate()
            server.wait(60)


def _address(log, server):
    while server.poll() is None:
        words = log.read_text().split()
        if "at" in words and words[-1] == "stops)":
            return words[words.index("at") + 1]
    raise AssertionError(log.read_text())


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The address of a server of one small folder."""
    folder = tmp_path_factory.mktemp("served")
    (folder / "mill.md").write_text("The mill was built in 1811 by Ada Rook.")
    with spanwise.open(folder) as library:
        library.sync(vectors=False, workers=1)
    with served(folder, log=tmp_path_factory.mktemp("log") / "stderr") as (process, url):
        yield folder, process, url


def sent(url, method="POST", body=MESSAGE, path=None, **headers):
    """The status and the body of an answer to one request."""
    parts = urlsplit(url)
    connection = HTTPConnection(parts.hostname, parts.port, timeout=60)
    given = {name.replace("_", "-"): value for name, value in (HEADERS | headers).items()}
    connection.request(method, path or parts.path, body, given)
    answer = connection.getresponse()
    status, said = answer.status, answer.read().decode()
    connection.close()
    return status, said


def test_the_official_client_calls_tools_in_both_eras_and_sees_what_is_synced_meanwhile(server):
    folder, _, url = server

    async def found(mode, question):
        async with Client(url, mode=mode) as client:
            tools = await client.list_tools()
            result = await client.call_tool("search", {"question": question, "k": 1})
            wrong = await client.call_tool("search", {"question": question, "k": 101})
            return len(tools.tools), result.structured_content["hits"][0]["document"], wrong.is_error

    assert anyio.run(found, "auto", "mill") == (6, "mill.md", True)
    (folder / "ferry.txt").write_text("The ferry sails at noon.")
    with spanwise.open(folder) as library:
        library.sync(vectors=False, workers=1)
    assert anyio.run(found, "legacy", "ferry") == (6, "ferry.txt", True)


@pytest.mark.parametrize(
    ("how", "status"),
    [
        ({"Host": "evil.example"}, 403),
        ({"Host": "evil.example:80"}, 403),
        ({"Host": "127.0.0.1.evil.example"}, 403),
        ({"Host": "localhost"}, 403),  # without the port it is another server's name
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec_Fetch_Site": "cross-site"}, 403),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ({"method": "OPTIONS", "body": None, "Origin": "https://evil.example"}, 403),
        ({"method": "DELETE", "body": None}, 405),
        ({"method": "PUT"}, 405),
        ({"body": '"' + "x" * 1_000_001 + '"'}, 413),
        ({"body": "[" * 10_000}, 400),
        ({"body": "no JSON"}, 400),
        ({"path": "/api/search"}, 404),
        ({"path": "/../etc/passwd"}, 404),
    ],
)
def test_a_hostile_request_is_refused_without_a_trace(server, how, status):
    got, said = sent(server[2], **how)
    assert got == status
    assert "Traceback" not in said
    assert ".py" not in said
    assert sent(server[2])[0] == 200  # and the next one is answered


def test_a_token_is_needed_where_there_is_one(server, tmp_path):
    folder, _, _ = server
    (tmp_path / "token").write_text(TOKEN + "\n")
    with served(folder, "--token-file", str(tmp_path / "token"), log=tmp_path / "stderr") as (_, url):
        for wrong in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN}):
            assert sent(url, **wrong)[0] == 401
        status, said = sent(url, Authorization=f"Bearer {TOKEN}")
    assert status == 200
    assert {tool["name"] for tool in json.loads(said)["result"]["tools"]} >= {"search", "ask"}


@pytest.mark.promise("T19")
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_an_open_address_without_a_token_is_wrong_usage(run, server, host, monkeypatch):
    monkeypatch.delenv("SPANWISE_SERVE_TOKEN", raising=False)
    code, out, err = run("mcp", "--http", "--host", host, "--index", server[0])
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert "token" in err


def test_it_ends_with_0_when_it_is_told_to_stop(server, tmp_path):
    with served(server[0], log=tmp_path / "stderr") as (process, url):
        assert sent(url)[0] == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    assert "Traceback" not in (tmp_path / "stderr").read_text()


def test_more_than_may_wait_is_refused_with_retry_after():
    go, told = asyncio.Event(), []

    async def waits(scope, receive, send):
        await go.wait()

    async def send(message):
        told.append(message)

    async def three():
        guard = FlightGuard(waits, Address(in_flight=2))
        held = [asyncio.ensure_future(guard({"type": "http"}, None, send)) for _ in range(2)]
        await asyncio.sleep(0)
        await guard({"type": "http"}, None, send)
        go.set()
        await asyncio.gather(*held)
        await guard({"type": "http"}, None, send)

    asyncio.run(three())
    start, body = told
    assert (start["status"], dict(start["headers"])[b"retry-after"]) == (503, b"1")
    assert b"Overloaded" in body["body"]


# A server in whose thread one question sleeps longer than a call may take.
SLOW = """
import sys, time
from pathlib import Path
import spanwise
from spanwise.pipelines.mcp.http import serve_http
from spanwise.pipelines.mcp.settings import Settings
from spanwise.pipelines.serving.settings import Settings as Address

class Slow:
    def __init__(self, passages):
        self.passages = passages

    def search(self, questions, k, among=None):
        if questions == ["slow"]:
            time.sleep(2)
        return [[] for _ in questions]

with spanwise.open(Path(sys.argv[1])) as library:
    library.use_retriever("slow", Slow)
    say = lambda url: print("at", url, "(Ctrl-C stops)", file=sys.stderr, flush=True)
    serve_http(library, Settings(retriever="slow", call_s=0.5), Address(port=0), say)
"""


def test_a_call_that_takes_too_long_is_a_tool_error_and_the_next_one_is_answered(server, tmp_path):
    log = tmp_path / "stderr"

    async def asked(url):
        async with Client(url) as client:
            late = await client.call_tool("search", {"question": "slow"})
            tools = await client.list_tools()
            await anyio.sleep(2)
            return late, len(tools.tools), await client.call_tool("search", {"question": "mill"})

    with log.open("w+") as talk:
        process = subprocess.Popen([sys.executable, "-c", SLOW, str(server[0])], stderr=talk)
        try:
            late, n_tools, found = anyio.run(asked, _address(log, process))
        finally:
            process.terminate()
            assert process.wait(60) == 0
    assert late.is_error
    assert late.content[0].text.startswith("search: not done within 0.5 seconds, and given up: ask for less")
    assert (n_tools, found.is_error) == (6, False)
    assert "Traceback" not in log.read_text()


@pytest.mark.parametrize(
    ("options", "seconds"),
    [(["--http"], 30.0), (["--http", "--timeout", "5"], 5.0), (["--timeout", "5"], 5.0), ([], None)],
)
def test_the_time_of_a_call_is_an_option_and_has_a_default_over_http(
    run, server, monkeypatch, options, seconds
):
    given = []
    for transport in ("http.serve_http", "stdio.serve_stdio"):
        monkeypatch.setattr(
            f"spanwise.pipelines.mcp.{transport}", lambda library, settings, *_: given.append(settings)
        )
    code, *_ = run("mcp", *options, "--index", server[0])
    assert (code, given[0].call_s) == (0, seconds)
