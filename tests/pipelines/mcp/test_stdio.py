"""`spanwise mcp` as a process: stdout carries the protocol and nothing else, whatever is printed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import anyio
import pytest
from mcp import StdioServerParameters
from mcp.client.client import Client

import spanwise

SERVE = ["-m", "spanwise", "mcp", "--retriever", "bm25", "--no-cache", "--index"]
# A model that is loaded may print, warn, and write to the file descriptor below Python.
NOISY = """
import os, sys, warnings
from spanwise.pipelines.cli import main
from spanwise.pipelines.library import Library

search = Library.search

def noisy(*given, **named):
    print("loading a model", "x" * 100_000)
    warnings.warn("a warning")
    os.write(1, b"from C\\n")
    os.system("echo from a child")
    sys.stdout.write("without an end of line")
    return search(*given, **named)

Library.search = noisy
main(sys.argv[1:])
"""


@pytest.fixture
def indexed(folder):
    with spanwise.open(folder) as library:
        library.sync(vectors=False)
    return folder


def started(indexed, stderr=subprocess.PIPE, arguments=SERVE):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": stderr}
    return subprocess.Popen([sys.executable, *arguments, str(indexed)], text=True, **pipes)


def request(number, method, **params):
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n"


HELLO = (
    request(
        *(1, "initialize"),
        protocolVersion="2025-06-18",
        capabilities={},
        clientInfo={"name": "test", "version": "1"},
    )
    + '{"jsonrpc": "2.0", "method": "notifications/initialized"}\n'
)


def test_stdout_carries_the_protocol_alone_while_models_print(indexed, tmp_path):
    asked = HELLO + request(2, "tools/call", name="search", arguments={"question": "mill"}) + "no JSON\n"
    with (
        (tmp_path / "stderr").open("w+") as talk,
        started(indexed, talk, ["-c", NOISY, *SERVE[2:]]) as server,
    ):
        server.stdin.write(asked)
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in range(2)]
        out, _ = server.communicate(timeout=60)  # which ends stdin
        talk.seek(0)
        err = talk.read()
    answers += [json.loads(line) for line in out.splitlines()]
    assert all(answer["jsonrpc"] == "2.0" for answer in answers)
    [found] = [answer["result"] for answer in answers if answer.get("id") == 2]
    assert found["structuredContent"]["hits"][0]["document"] == "mill.md"
    assert server.returncode == 0
    for said in ("loading a model", "a warning", "from C", "from a child", "without an end of line"):
        assert said in err


def test_the_official_client_calls_tools_over_stdio_in_both_eras(indexed):
    server = StdioServerParameters(
        command=sys.executable, args=[*SERVE, str(indexed)], env=dict(os.environ), cwd=str(indexed)
    )

    async def found(mode):
        async with Client(server, mode=mode) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            result = await client.call_tool("search", {"question": "tram", "k": 1})
            wrong = await client.call_tool("search", {"question": "tram", "k": 0})
            return len(names), result.structured_content["hits"][0]["document"], wrong.is_error

    for mode in ("auto", "legacy"):
        assert anyio.run(found, mode) == (6, "tram.txt", True)


def test_a_process_is_interrupted_while_it_waits(indexed):
    with started(indexed) as server:
        server.stdin.write(HELLO)
        server.stdin.flush()
        assert json.loads(server.stdout.readline())["id"] == 1
        server.send_signal(signal.SIGINT)
        _, err = server.communicate(timeout=60)
    assert (server.returncode, "Traceback" in err) == (130, False)


def test_without_an_index_it_says_so_in_one_line(run):
    code, out, err = run("mcp")
    assert (code, out, len(err.splitlines())) == (1, "", 1)
    assert "spanwise index" in err


@pytest.mark.parametrize(
    ("missing", "extra", "how"),
    [("mcp.server.stdio", "mcp", ()), ("uvicorn", "serve,mcp", ("--http",))],
)
def test_without_the_extra_it_says_what_to_install(run, indexed, monkeypatch, missing, extra, how):
    ours = [f"spanwise.pipelines.mcp.{name}" for name in ("stdio", "http", "server")]
    ours += ["spanwise.pipelines.serving.listening"]
    for name in [name for name in sys.modules if name in ours]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    code, out, err = run("mcp", "--index", indexed, *how)
    assert (code, out) == (1, "")
    assert f"pip install 'spanwise[{extra}]'" in err
    assert len(err.splitlines()) == 1
