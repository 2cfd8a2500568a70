"""The tools of the MCP server, called by the official client."""

import json
import subprocess
import sys
from dataclasses import replace

import anyio
import pytest
from helpers.played_model import NONE, Played
from helpers.scripted_reader import by_margin, read_by
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from starlette.testclient import TestClient

from spanwise.pipelines.json_records import search_record
from spanwise.pipelines.mcp import Tools, http_app, make_server
from spanwise.pipelines.server.security import Access, protect
from spanwise.types import SummaryOptions

BM25 = SummaryOptions(retriever="bm25")
TOOLS = ["search", "ask", "read_document", "summarize", "check_quotes", "list_documents"]
QUESTION = "who built the mill?"


def call(library, name, **arguments):
    """The result of a call by the official client, which checks it against the schema."""

    async def once():
        async with Client(make_server(library, BM25)) as client:
            await client.list_tools()
            return await client.call_tool(name, arguments)

    return anyio.run(once)


def test_every_tool_is_read_only_with_bounds_in_its_schema(library):
    async def listed():
        async with Client(make_server(library, BM25)) as client:
            return {tool.name: tool for tool in (await client.list_tools()).tools}

    tools = anyio.run(listed)
    assert list(tools) == TOOLS
    assert all(tool.annotations.read_only_hint and tool.description for tool in tools.values())
    assert tools["search"].input_schema["properties"]["question"]["maxLength"] == 4096
    assert tools["ask"].input_schema["properties"]["k"]["maximum"] == 100


def test_tools_give_the_records_of_the_command_line(library, monkeypatch):
    read_by(library, monkeypatch, ("Ada Rook", 9.0, 0.0))
    results = call(library, "search", question=QUESTION, k=2).structured_content
    assert results == search_record(library.search(QUESTION, k=2, retriever="bm25"))
    answer = call(library, "ask", question=QUESTION).structured_content["answer"]
    text = library.document(answer["document"]).text
    assert text[answer["start"] : answer["end"]] == answer["text"] == "Ada Rook"
    [quote] = call(library, "check_quotes", text='He says "Ada Rook".').structured_content["quotes"]
    assert (quote["document"], quote["match"], quote["at"]) == (answer["document"], "exact", 9)
    listed = call(library, "list_documents", path="*.md").structured_content
    assert [document["document"] for document in listed["documents"]] == ["mill.md"]
    summary = call(library, "summarize", document="tram.txt", max_sentences=2).structured_content
    assert [entry["name"] for entry in summary["overview"]["entries"]] == ["tram.txt"]


def test_tools_understand_a_question_after_its_history(library, monkeypatch):
    read_by(library, monkeypatch, ("Ada Rook", 9.0, 0.0))
    history = [{"role": "user", "content": QUESTION}]
    for tool in ("search", "ask", "summarize"):
        record = call(library, tool, question="And the weir?", history=history).structured_content
        assert record["understood"] == "who built the weir?"


def test_a_call_picks_a_reader_that_the_server_offers(library):
    tools = Tools(library, replace(BM25, reader=Played(NONE)), ["ollama:played"])
    assert tools.ask(QUESTION)["decided_by"] == "model"
    assert tools.ask(QUESTION, reader="builtin")["decided_by"] == "reader"
    with pytest.raises(ValueError, match="expected one of builtin, ollama:played"):
        tools.ask(QUESTION, reader="openai:other")


def test_a_declined_question_has_the_number_of_unread_files_and_a_hint(library, folder, monkeypatch):
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    library.sync(vectors=False)
    read_by(library, monkeypatch, ("Ada Rook", 0.0, 9.0))
    record = call(library, "ask", question="Wer hat den Zeppelin verkauft?").structured_content
    assert record["outcome"] == "not found"
    assert record["unread_files"] == 1
    assert "read English" in record["hint"]


def test_long_lists_and_texts_are_cut_and_a_refusal_is_short(library, folder, monkeypatch):
    for number in range(120):
        (folder / f"{number}.txt").write_text(f"{number}: " + "A windmill. " * 400)
    library.sync(vectors=False)
    record = call(library, "ask", question='Which documents mention "windmill"?').structured_content
    assert (record["values"], len(record["computed"]["documents"])) == (["120 documents"], 100)
    assert "read_document" in record["cut"]
    read_by(library, monkeypatch, ("A windmill", 0.0, 9.0))
    declined = call(library, "ask", question="who sold the windmill?").structured_content
    assert declined["outcome"] == "not found"
    assert len(json.dumps(declined)) < 4_000


def test_candidates_of_a_long_question_are_within_the_limit_of_a_refusal(library, folder, monkeypatch):
    for number in range(9):
        (folder / f"{'n' * 200}{number}.txt").write_text(
            f"The windmill {number} was sold in 19{number}0. " * 40
        )
    library.sync(vectors=False)
    script = [(f"19{number}0", 9.0, 8.0) for number in range(9)]
    read_by(library, monkeypatch, *script, calibration=by_margin(0.99))
    result = call(library, "ask", question="when was the windmill sold? " * 140)
    assert result.structured_content["candidates"][0]["sentence"]
    assert len(result.content[0].text) <= 4_000


def test_a_document_is_read_in_windows_by_the_end_of_its_id(library):
    text = library.document("sub/weir.html").text
    window = call(library, "read_document", document="weir.html", start=4, end=9).structured_content
    assert window["text"] == text[4:9]
    assert window["characters"] == len(text)


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("search", {"question": "x", "k": 1000}, "less than or equal to 100"),
        ("ask", {}, "Field required"),
        ("read_document", {"document": "nowhere"}, "nowhere"),
        ("read_document", {"document": "weir.html", "start": 10_000}, "nothing to read"),
        ("summarize", {"question": "x", "document": "mill.md"}, "question"),
    ],
)
def test_bad_arguments_are_tool_errors_without_paths(library, name, arguments, message):
    result = call(library, name, **arguments)
    assert result.is_error
    assert message in result.content[0].text
    assert str(library.store.path.parent) not in result.content[0].text


def test_over_http_the_checks_of_the_server_stand_in_front(library):
    app = http_app(library, BM25)
    protect(app, Access(token="a token of nineteen"))
    hello = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    headers = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}
    with TestClient(app, base_url="http://127.0.0.1:8766") as client:
        assert client.post("/mcp", json=hello, headers=headers).status_code == 401
        headers["authorization"] = "Bearer a token of nineteen"
        listed = client.post("/mcp", json=hello, headers=headers).json()
        assert [tool["name"] for tool in listed["result"]["tools"]] == TOOLS
        foreign = {**headers, "origin": "https://evil.example"}
        assert client.post("/mcp", json=hello, headers=foreign).status_code == 403


def test_over_stdio_stdout_carries_nothing_else(library):
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "spanwise", "mcp", "--retriever", "bm25", "--index", str(library.store.path)],
    )

    async def once():
        async with Client(stdio_client(server)) as client:
            return await client.call_tool("search", {"question": QUESTION})

    assert anyio.run(once).structured_content["hits"][0]["document"] == "mill.md"
    done = subprocess.run(
        [server.command, *server.args], input="", capture_output=True, text=True, check=True
    )
    assert all(json.loads(line) for line in done.stdout.splitlines())
