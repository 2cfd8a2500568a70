"""The server: its routes give the records of the command line, and its checks hold."""

import asyncio
import json
import time
from base64 import b64decode
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from threading import Event

import pytest
from helpers.played_model import BUILT, NONE, Played
from helpers.scans import FakeEngine, scan_of
from helpers.scripted_reader import asker, by_margin, read_by
from reportlab.pdfgen.canvas import Canvas
from starlette.testclient import TestClient

import spanwise
from spanwise.corpora.readers import pdf
from spanwise.errors import IndexCorrupt, IndexLocked
from spanwise.pipelines.json_records import answer_record, search_record
from spanwise.pipelines.library.library import Library
from spanwise.pipelines.plain_text import chat_text
from spanwise.pipelines.server import queue as server_queue
from spanwise.pipelines.server.app import create_app
from spanwise.pipelines.server.security import MAX_BODY_BYTES, Access
from spanwise.types import Answer, AnswerSpan, ModelOptions, Passage, SummaryOptions

BASE = "http://127.0.0.1:8765"
QUESTION = "Who built the mill?"
BY_WORDS = SummaryOptions(retriever="bm25")
BM25 = {"question": QUESTION, "retriever": "bm25"}
TOKEN = "a token of nineteen"
FILES = {
    "mill.md": "# The mill\n\nThe mill was built in 1811 by Ada Rook.\n\n## Rules\n\nLeave by six.\n",
    "tram.txt": "The tram runs every ten minutes.\nIt was opened by Ute Falk in 1903.\n",
    "sub/weir.html": "<html><title>Weir</title><body><h1>The weir</h1><p>The weir was raised in 1920.</p>",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory, encoder_folder) -> Iterator[Library]:
    """An index that no test writes to; its reader finds Ada Rook and 1920."""
    folder = tmp_path_factory.mktemp("served") / "notes"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    pdf = Canvas(str(folder / "bell.pdf"))
    for line in ("The bell was cast by Ute Falk.", "It rings at noon."):
        pdf.drawString(72, 700, line)
        pdf.showPage()
    pdf.save()
    with spanwise.open(folder, model=encoder_folder) as opened, pytest.MonkeyPatch.context() as patch:
        opened.sync(vectors=False)
        read_by(opened, patch, ("Ada Rook", 9.0, 2.0), ("1920", 8.0, 2.0))
        yield opened


@pytest.fixture
def serve(library: Library) -> Iterator[Callable[..., TestClient]]:
    """Makes a client of a server with this access."""
    with ExitStack() as stack:

        def make(options: SummaryOptions = BY_WORDS, readers=(), **access) -> TestClient:
            app = create_app(library, Access(**access), options, readers)
            return stack.enter_context(TestClient(app, base_url=BASE, raise_server_exceptions=False))

        yield make


@pytest.fixture
def client(serve) -> TestClient:
    return serve()


def error_of(response) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["type"]


def test_search_and_ask_give_the_records_of_the_command_line(client, library):
    result = library.search(QUESTION, k=2, retriever="bm25")
    record = client.post("/api/search", json={**BM25, "k": 2}).json()
    assert record == search_record(result)
    answer = client.post("/api/ask", json=BM25).json()
    expected = answer_record(library.ask(QUESTION, retriever="bm25"))
    del answer["timings_ms"], expected["timings_ms"], answer["cached"], expected["cached"]
    assert answer == json.loads(json.dumps(expected))
    assert answer["answer"]["text"] == "Ada Rook"


def test_a_question_is_understood_after_its_history(client):
    history = [{"role": "user", "content": QUESTION}, {"role": "tool", "content": ""}]
    body = {**BM25, "question": "And the weir?", "history": history}
    for route in ("search", "ask", "explain"):
        assert client.post(f"/api/{route}", json=body).json()["understood"] == "Who built the weir?"
    summary = {"question": "And the weir?", "history": history}
    assert client.post("/api/summarize", json=summary).json()["understood"] == "Who built the weir?"
    wrong = {**body, "history": [{"role": "user"}]}
    assert error_of(client.post("/api/ask", json=wrong)) == (400, "BadRequest")


def test_a_filter_confines_search_and_is_in_the_record(client):
    body = {**BM25, "question": "tram", "where": {"types": ["txt"]}}
    record = client.post("/api/search", json=body).json()
    assert {hit["document"] for hit in record["hits"]} == {"tram.txt"}
    assert record["filter"]["documents"] == 1
    unknown = client.post("/api/search", json={**BM25, "where": {"types": ["docx"]}})
    assert error_of(unknown) == (400, "FilterUnknown")


def test_documents_are_listed_and_read_in_parts(client, library):
    listing = client.get("/api/documents", params={"limit": 2, "offset": 1}).json()
    assert [document["document"] for document in listing["documents"]] == ["mill.md", "sub/weir.html"]
    assert listing["total"] == 4
    text = library.document("mill.md").text
    whole = client.get("/api/document", params={"id": "mill.md"}).json()
    assert whole["text"] == text
    assert whole["characters"] == len(text)
    assert [heading["text"] for heading in whole["headings"]] == ["The mill", "Rules"]
    part = client.get("/api/document", params={"id": "mill.md", "start": 4, "end": 12}).json()
    assert part["text"] == text[4:12]
    assert part["start"] == 4
    assert part["end"] == 12
    assert error_of(client.get("/api/document", params={"id": "../mill.md"})) == (404, "DocumentNotFound")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("sub/**", ["sub/weir.html"]),
        ("*.md", ["mill.md"]),
        ("!*.md", ["bell.pdf", "sub/weir.html", "tram.txt"]),
        ("nowhere/", []),
    ],
)
def test_a_path_selects_the_listed_documents(client, path, expected):
    record = client.get("/api/documents", params={"path": path}).json()
    assert [document["document"] for document in record["documents"]] == expected
    assert record["total"] == len(expected)


def test_a_page_of_the_list_is_one_of_the_selected_documents(client):
    params = {"path": "!*.md", "limit": 1, "offset": 1}
    record = client.get("/api/documents", params=params).json()
    assert [document["document"] for document in record["documents"]] == ["sub/weir.html"]
    assert record["total"] == 3


@pytest.mark.parametrize("path", ["a/***********/b", "", "a\x1bb", "x" * 600])
def test_a_malformed_path_is_refused(client, path):
    response = client.get("/api/documents", params={"path": path})
    assert error_of(response) == (400, "BadRequest")


def test_a_page_of_a_pdf_is_drawn_with_a_box_around_the_words(client, library):
    text = library.document("bell.pdf").text
    start = text.index("Ute Falk")
    params = {"id": "bell.pdf", "start": start, "end": start + 8}
    page = client.get("/api/document/page", params=params).json()
    assert page["page"] == 1
    assert page["pages"] == 2
    [[x, y, width, height]] = page["boxes"]
    assert 72 < x < x + width < 300
    assert page["height"] - 712 < y < y + height < page["height"] - 690
    assert b64decode(page["png"]).startswith(b"\x89PNG")
    other = client.get("/api/document/page", params={**params, "page": 2}).json()
    assert other["page"] == 2
    assert other["boxes"] == []


def test_words_that_were_read_from_a_picture_have_a_box_on_it(client, library, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", FakeEngine(tmp_path / "engine").path)
    (library.roots[0].folder / "scan.pdf").write_bytes(scan_of([["a page"]]))
    library.sync(vectors=False)
    start = library.document("scan.pdf").text.index("number")
    params = {"id": "scan.pdf", "start": start, "end": start + 6}
    page = client.get("/api/document/page", params=params).json()
    (library.roots[0].folder / "scan.pdf").unlink()
    library.sync(vectors=False)
    points = [number / pdf.DPI * 72 for number in (190, 100, 90, 30)]  # of the engine's pixels
    [box] = page["boxes"]
    assert box == pytest.approx(points, abs=0.2)


def test_the_file_of_a_document_is_downloaded_as_it_is(client, library):
    response = client.get("/api/document/file", params={"id": "sub/weir.html"})
    assert response.content == (library.roots[0].folder / "sub" / "weir.html").read_bytes()
    assert response.headers["content-disposition"] == "attachment; filename*=UTF-8''weir.html"
    assert response.headers["content-type"] == "application/octet-stream"


@pytest.mark.parametrize("name", ["../secret.txt", "/etc/hostname", "sub", "new.txt", ".spanwise/x"])
def test_only_files_of_documents_are_downloaded(client, library, name):
    (library.roots[0].folder / "new.txt").write_text("not indexed")
    assert error_of(client.get("/api/document/file", params={"id": name})) == (404, "DocumentNotFound")


def test_a_page_that_cannot_be_shown_is_an_error(client, library):
    for params in ({"id": "mill.md"}, {"id": "bell.pdf", "page": 3}):
        assert error_of(client.get("/api/document/page", params=params)) == (422, "DocumentRejected")
    file = library.roots[0].folder / "bell.pdf"
    data = file.read_bytes()
    file.write_bytes(data + b"\n")
    assert error_of(client.get("/api/document/page", params={"id": "bell.pdf"})) == (409, "DocumentChanged")
    file.write_bytes(data)


def test_a_document_has_an_overview(client):
    summary = client.post("/api/summarize", json={"document": "tram.txt"}).json()
    assert [entry["name"] for entry in summary["overview"]["entries"]] == ["tram.txt"]
    assert error_of(client.post("/api/summarize", json={"document": "nowhere"})) == (404, "DocumentNotFound")
    both = {"document": "tram.txt", "question": QUESTION}
    assert error_of(client.post("/api/summarize", json=both)) == (400, "BadRequest")


def test_a_request_picks_a_reader_that_the_server_offers(serve, client):
    model = Played(BUILT)
    model.name = "ollama:played"
    writing = serve(replace(BY_WORDS, reader=model), readers=["ollama:played"])
    assert writing.get("/api/status").json()["readers"] == ["ollama:played"]
    assert client.get("/api/status").json()["readers"] == ["builtin"]
    body = {"question": QUESTION}
    assert writing.post("/api/ask", json={**body, "reader": "builtin"}).json()["decided_by"] == "reader"
    record = writing.post("/api/ask", json=body).json()
    assert (record["decided_by"], record["written"][0]["text"]) == ("model", "Ada Rook built it in 1811.")
    response = writing.post("/api/ask", json={**body, "reader": "openai:other"})
    assert error_of(response) == (400, "BadRequest")
    assert "expected one of builtin, ollama:played" in response.json()["error"]["message"]


@pytest.mark.parametrize(
    ("reply", "content", "marks"),
    [
        (BUILT, "Ada Rook built it in 1811. [1]", ["[1]"]),
        (NONE, "The model found no answer in the", []),
    ],
)
def test_a_chat_gives_what_the_model_writes(serve, reply, content, marks):
    client = serve(replace(BY_WORDS, reader=Played(reply)))
    body = {"messages": [{"role": "user", "content": QUESTION}]}
    reply = client.post("/v1/chat/completions", json=body).json()
    message = reply["choices"][0]["message"]
    assert message["content"].startswith(content)
    cited = [mark["url_citation"] for mark in message["annotations"]]
    assert [message["content"][each["start_index"] : each["end_index"]] for each in cited] == marks
    assert reply["spanwise"]["decided_by"] == "model"


@pytest.mark.parametrize(("name", "decided_by"), [("builtin", "reader"), ("gpt-4", "model")])
def test_a_chat_picks_a_reader_by_the_name_of_its_model(serve, name, decided_by):
    client = serve(replace(BY_WORDS, reader=Played(BUILT)), readers=["ollama:played"])
    listed = [model["id"] for model in client.get("/v1/models").json()["data"]]
    assert listed == ["spanwise", "ollama:played", "builtin"]
    body = {"model": name, "messages": [{"role": "user", "content": QUESTION}]}
    reply = client.post("/v1/chat/completions", json=body).json()
    assert (reply["model"], reply["spanwise"]["decided_by"]) == (name, decided_by)


def test_a_chat_names_the_reader_that_answers_in_place_of_a_model(serve):
    options = replace(BY_WORDS, reader=Played("", ""), model=ModelOptions(fallback=True))
    body = {"model": "gpt-4", "messages": [{"role": "user", "content": QUESTION}]}
    reply = serve(options).post("/v1/chat/completions", json=body).json()
    assert (reply["model"], reply["spanwise"]["decided_by"]) == ("builtin", "reader")


def test_a_model_stops_when_nobody_waits_for_its_reply(library, monkeypatch):
    monkeypatch.setattr(server_queue, "WATCH_S", 0.01)
    has_stopped = Event()
    body = json.dumps({"question": QUESTION}).encode()
    events = [{"type": "http.request", "body": body}, {"type": "http.disconnect"}]

    class Endless(Played):
        def generate(self, messages, max_tokens, timeout_s=None):
            try:
                for _ in range(2_000):
                    time.sleep(0.01)
                    yield "a"
            finally:
                has_stopped.set()

    async def receive():
        return events.pop(0) if len(events) > 1 else events[0]

    async def send(message):
        assert message.get("status") in (None, 502)

    headers = [(b"host", b"127.0.0.1:8765"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/api/ask", "query_string": b"", "headers": headers}
    scope |= {"scheme": "http", "server": ("127.0.0.1", 8765), "client": ("127.0.0.1", 9)}
    app = create_app(library, Access(), replace(BY_WORDS, reader=Endless()))
    began = time.monotonic()
    asyncio.run(app(scope, receive, send))
    assert has_stopped.is_set()
    assert time.monotonic() - began < 10


def test_a_model_that_fails_is_a_named_error(serve):
    client = serve(replace(BY_WORDS, reader=Played("", "")))
    assert error_of(client.post("/api/ask", json={"question": QUESTION})) == (502, "GenerationFailed")


def test_status_and_health_name_no_path(client, library):
    status = client.get("/api/status")
    assert status.json()["documents"] == 4
    assert str(library.store.path.parent) not in status.text
    assert client.get("/health").json() == {"status": "ok"}


def test_a_chat_completion_is_created_at_the_time_of_its_request(client):
    messages = [{"role": "user", "content": QUESTION}]
    whole = client.post("/v1/chat/completions", json={"messages": messages}).json()
    parts = client.post("/v1/chat/completions", json={"messages": messages, "stream": True}).text
    chunk = json.loads(parts.partition("data: ")[2].partition("\n")[0])
    assert [time.time() - record["created"] < 60 for record in (whole, chunk)] == [True, True]
    assert isinstance(whole["created"], int)


def test_an_openai_client_gets_the_sentence_and_its_citation(client):
    openai = pytest.importorskip("openai")
    chat = openai.OpenAI(base_url=f"{BASE}/v1", api_key="none", max_retries=0, http_client=client)
    messages = [{"role": "system", "content": "Answer in verse."}, {"role": "user", "content": QUESTION}]
    completion = chat.chat.completions.create(model="spanwise", messages=messages)
    message = completion.choices[0].message
    assert message.content == "The mill was built in 1811 by Ada Rook. [1]"
    messages += [message, {"role": "user", "content": "And the weir?"}]
    following = chat.chat.completions.create(model="spanwise", messages=messages)
    assert following.model_extra["spanwise"]["understood"] == "Who built the weir?"
    citation = message.annotations[0].url_citation
    assert message.content[citation.start_index : citation.end_index] == "[1]"
    assert citation.title == "mill.md"
    usage = completion.usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (7, 10, 17)
    chunks = chat.chat.completions.create(model="spanwise", messages=messages, stream=True)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == message.content


def test_the_usage_of_a_streamed_chat_is_its_last_chunk(client):
    body = {"messages": [{"role": "user", "content": QUESTION}], "stream": True}
    chunks = client.post(
        "/v1/chat/completions", json={**body, "stream_options": {"include_usage": True}}
    ).text
    last = json.loads(chunks.rstrip().split("\n\n")[-2].removeprefix("data: "))
    assert (last["choices"], last["usage"]["prompt_tokens"]) == ([], 4)


def test_a_chat_that_declines_names_missing_words_unread_files_and_the_language(library):
    questions = ["Wer hat die Mühle verkauft?", "Who sold the pelican mill?"]
    declined, english = asker(library, ("Ada Rook", 0.0, 9.0)).answer(questions)
    unread = replace(english, unread_files=2)
    assert "read English" in chat_text(declined)[0]
    text = chat_text(unread)[0]
    assert text.startswith("Not in these documents: no document mentions “sold” or “pelican”. Nearest: ")
    assert text.endswith(". 2 files could not be read")


@pytest.mark.parametrize(
    "change",
    [
        {"k": 10**9},
        {"question": "x" * 5000},
        {"question": "a\x1b[2Jb"},
        {"reader": "/etc"},
        {"retriever": "../../etc/passwd"},
        {"where": {"path": "x"}},
        {"threshold": 2},
    ],
    ids=str,
)
def test_bad_values_are_refused(client, change):
    assert error_of(client.post("/api/ask", json={**BM25, **change}))[0] == 400


@pytest.mark.parametrize("path", ["/api/search", "/api/ask", "/api/explain", "/api/summarize"])
def test_an_empty_question_is_refused_by_name(client, path):
    response = client.post(path, json={"question": " \n"})
    assert error_of(response) == (400, "QuestionEmpty")


def test_a_chat_shows_the_sentences_of_candidates(library):
    asked = asker(library, ("Ada Rook", 0.5, 0.0), calibration=by_margin(0.9))
    text, _ = chat_text(asked.answer([QUESTION])[0])
    assert text == "Not sure; the nearest: “The mill was built in 1811 by Ada Rook.” (mill.md)"


def test_a_chat_gets_the_steps_below_the_answer():
    passage = Passage(1, "a.md", 0, 12, "- mix\n- bake")
    span = passage.span(2, 5)
    best = AnswerSpan(span, span, passage, None, 1, 1.0, None)
    answer = Answer("How?", best, (), 1, 1, 1, (), (), (), "bm25", {}, steps=(span, passage.span(8, 12)))
    assert chat_text(answer)[0] == "mix [1]\n1. mix\n2. bake"


def test_a_chat_without_a_question_is_refused(client):
    body = {"messages": [{"role": "system", "content": "hello"}]}
    assert error_of(client.post("/v1/chat/completions", json=body)) == (400, "BadRequest")


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"question", "json"),
        (b'{"question": "x", "where": ' + b"[" * 10_000 + b"]" * 10_000 + b"}", "json"),
        (b'{"question": "x", "k": ' + b"9" * 5_000 + b"}", "json"),
        (b"question=x", "x-www-form-urlencoded"),
    ],
)
def test_malformed_bodies_are_refused_without_a_trace(client, content, kind):
    response = client.post("/api/search", content=content, headers={"content-type": f"application/{kind}"})
    assert response.status_code in (400, 415)
    assert "Traceback" not in response.text
    assert ".py" not in response.text


@pytest.mark.parametrize("path", ["/api/ask", "/api/summarize", "/v1/chat/completions"])
@pytest.mark.parametrize("header", [{}, {"content-type": "text/plain"}])
def test_a_body_without_the_header_of_json_gets_an_error_that_names_it(client, path, header):
    response = client.post(path, content=json.dumps(BM25).encode(), headers=header)
    assert error_of(response) == (400, "BadRequest")
    assert "Content-Type: application/json" in response.json()["error"]["message"]


def test_a_body_beyond_the_limit_is_refused_with_and_without_its_length(client):
    def parts() -> Iterator[bytes]:
        for _ in range(3):
            yield b" " * (MAX_BODY_BYTES // 2)

    headers = {"content-type": "application/json"}
    for content in (b" " * (MAX_BODY_BYTES + 1), parts()):
        assert client.post("/api/search", content=content, headers=headers).status_code == 413


@pytest.mark.parametrize(
    "host",
    ["evil.example:8765", "127.0.0.1.evil.example:8765", "0.0.0.0:8765", "localhost:8765@evil.example", ""],
)
def test_a_foreign_host_is_refused_so_that_no_name_can_be_rebound(client, host):
    for path in ("/", "/health", "/api/status"):
        assert client.get(path, headers={"host": host}).status_code == 400


@pytest.mark.parametrize("host", ["localhost:8765", "[::1]:8765", "LOCALHOST", "notes.example"])
def test_own_and_allowed_host_names_are_answered(serve, host):
    client = serve(hosts=("notes.example",))
    assert client.get("/api/status", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": f"{BASE}.evil.example"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        [("origin", BASE), ("origin", "null")],
    ],
    ids=str,
)
def test_pages_of_other_origins_are_refused(client, headers):
    assert error_of(client.post("/api/search", json=BM25, headers=headers)) == (403, "OriginRefused")
    assert client.get("/api/status", headers=headers).status_code == 403


def test_the_own_page_and_an_allowed_origin_may_send_requests(serve):
    allowed = "https://notes.example"
    client = serve(origins=(allowed,), token=TOKEN)
    for headers in ({"origin": allowed}, {"origin": BASE, "sec-fetch-site": "same-origin"}):
        response = client.get("/api/status", headers={**headers, "authorization": f"Bearer {TOKEN}"})
        assert response.status_code == 200
        assert response.headers.get("access-control-allow-origin") in (None, allowed)
    preflight = {"access-control-request-method": "POST", "access-control-request-headers": "authorization"}
    for origin, status in ((allowed, 200), ("https://evil.example", 400)):
        headers = {"origin": origin, **preflight}
        assert client.options("/api/ask", headers=headers).status_code == status


@pytest.mark.parametrize("header", [None, f"Bearer {TOKEN}x", "Bearer ", f"Basic {TOKEN}"])
def test_with_a_token_data_needs_it(serve, header):
    client = serve(host="0.0.0.0", token=TOKEN)
    headers = {} if header is None else {"authorization": header}
    assert client.get("/api/status", headers=headers).status_code == 401
    assert client.post("/v1/chat/completions", json={}, headers=headers).status_code == 401
    assert client.get("/health", headers=headers).status_code == 200
    assert client.get("/api/status", headers={"authorization": f"bearer  {TOKEN}"}).status_code == 200


def test_wrong_access_is_refused_and_no_token_is_shown():
    for address in ("0.0.0.0", "::", "192.0.2.1", "notes.example"):
        with pytest.raises(ValueError, match="a token is required"):
            Access(address)
    with pytest.raises(ValueError, match="the token has 6 characters"):
        Access(token="secret")
    for origin in ("notes.example", "https://*", "https://a.example/b", "file://x"):
        with pytest.raises(ValueError, match="invalid origin"):
            Access(origins=(origin,))
    for host in ("*", "notes.example:80", "a/b"):
        with pytest.raises(ValueError, match="invalid host name"):
            Access(hosts=(host,))
    assert TOKEN not in repr(Access(token=TOKEN))


def test_every_response_lets_a_browser_run_only_the_scripts_of_the_page(client):
    for path in ("/", "/app.js", "/api/document?id=sub/weir.html", "/api/nothing"):
        headers = client.get(path).headers
        assert "script-src 'self'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
    assert client.get("/api/status").headers["cache-control"] == "no-store"
    assert client.get("/app.js").headers["cache-control"] == "no-cache"


def test_the_page_is_served_and_no_other_file_is(client):
    assert "<title>spanwise</title>" in client.get("/").text
    assert client.delete("/api/document?id=mill.md").status_code == 405
    for path in ("/app.py", "/../app.py", "/..%2fapp.py", "/%2e%2e/app.py", "//etc/passwd"):
        assert client.get(path).status_code == 404


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (IndexLocked("another process writes to {path}/.spanwise"), 503),
        (IndexCorrupt("{path}/.spanwise/words-1 is damaged; /opt/models/x is not"), 500),
        (RuntimeError("something in {path}"), 500),
    ],
)
def test_an_error_of_the_server_names_no_path(client, library, monkeypatch, error, status):
    error.args = (error.args[0].format(path=library.store.path.parent),)
    monkeypatch.setattr(Library, "ask", lambda *_, **__: (_ for _ in ()).throw(error))
    response = client.post("/api/ask", json=BM25)
    assert response.status_code == status
    assert str(library.store.path.parent) not in response.text
    assert "/opt" not in response.text


def test_more_questions_than_threads_wait_and_are_told_how_long(client, library, monkeypatch):
    def ask(*_, **__):
        time.sleep(0.05)
        raise IndexLocked("busy")

    monkeypatch.setattr(library, "ask", ask)
    with ThreadPoolExecutor(20) as clients:
        responses = list(clients.map(lambda _: client.post("/api/ask", json=BM25), range(20)))
    assert {response.json()["error"]["message"] for response in responses} == {"busy"}
    waits = [int(response.headers["server-timing"].removeprefix("queue;dur=")) for response in responses]
    assert max(waits) > 0


def test_more_questions_than_the_queue_holds_get_503_and_a_time_to_retry(client, monkeypatch):
    monkeypatch.setattr(server_queue, "MAX_QUEUED", 0)
    response = client.post("/api/ask", json=BM25)
    assert response.status_code == 503
    assert response.headers["retry-after"] == "0"
    assert client.get("/health").status_code == 200
