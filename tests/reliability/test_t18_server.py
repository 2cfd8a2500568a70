"""T18: a server by its socket: broken and greedy clients, many clients, and a browser. T19: no token."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import spanwise
from spanwise.pipelines.cli import main

GOOD = json.dumps({"question": "who founded the mill?", "retriever": "bm25"}).encode()
HEAD_S = 10.0


def head(*lines: str, method: str = "GET", target: str = "/api/status", host: str = "127.0.0.1") -> bytes:
    return "\r\n".join([f"{method} {target} HTTP/1.1", f"Host: {host}", *lines, "", ""]).encode()


def post(*lines: str) -> bytes:
    return head("Content-Type: application/json", *lines, method="POST", target="/api/search")


QUESTION = post(f"Content-Length: {len(GOOD)}") + GOOD
HOSTILE = {
    "no host": (b"GET /api/status HTTP/1.1\r\n\r\n", 400),
    "two hosts": (head("Host: evil.example"), 400),
    "an absolute target": (head(target="http://evil.example/api/status"), 404),
    "a proxy's connect": (head(method="CONNECT", target="evil.example:443"), 404),
    "a foreign name": (head(host="evil.example"), 400),
    "two lengths": (post(f"Content-Length: {len(GOOD)}", "Content-Length: 1") + GOOD, 400),
    "a length that is no number": (post("Content-Length: ten"), 400),
    "a negative length": (post("Content-Length: -1"), 400),
    "a chunk of a negative length": (post("Transfer-Encoding: chunked") + b"-1\r\na\r\n", 400),
    "2 MB with their length": (post("Content-Length: 2000000") + b" " * 2_000_000, 413),
    "2 MB in chunks": (post("Transfer-Encoding: chunked") + (b"fa0\r\n" + b"a" * 4000 + b"\r\n") * 500, 413),
    "a head of 1 MB": (head("X: " + "a" * 1_000_000), 400),
    "no HTTP": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(100) + b"\r\n\r\n", 400),
}


GUIDE = """# The *weir* guide

The weir was raised in **1920 by *Ute* Falk** and is kept by
`make all`, see [the trust](https://trust.example/weir "Trust").

- one **item**
- two

| Year | Keeper |
|------|--------|
| 1920 | Ute Falk |
"""
HOSTILE_GUIDE = """# Hostile

The safe was opened by Zed Quill. <script>window.hacked = 1</script> <img src=x onerror="window.hacked = 1">
[click](javascript:window.hacked=1) [data](data:text/html,<b>x</b>) ![picture](https://evil.example/t.png)
[![badge](https://evil.example/b.svg)](https://ok.example) [a [b](https://in.example) c](https://out.example)
**a *b __c _d ~~e~~ d_ c__ b* a** <a href="javascript:window.hacked=1">x</a>
"""


@pytest.fixture(scope="module")
def index(module_memory) -> Path:
    folder = module_memory / "notes"
    folder.mkdir()
    for number in range(50):
        (folder / f"{number}.md").write_text(f"# Mill {number}\n\nMill {number} was founded by Ada Rook.\n")
    (folder / "guide.md").write_text(GUIDE)
    (folder / "costs.csv").write_text("Work,Place,Cost\nSluice,Vell,100\nRoof,Barn,250\nDoor,Barn,50\n")
    (folder / "hostile.md").write_text(HOSTILE_GUIDE)
    (folder / "hostile.html").write_text(
        "<p>The bell was cast by Ute Falk.</p><script>window.hacked = 1</script>"
        "&lt;img src=x onerror='window.hacked=1'&gt;"
    )
    with spanwise.open(folder, index=module_memory / "index") as library:
        library.sync()
        (folder / "brackets.md").write_text(
            f"# Ink\n\nThe ink was mixed by Lo Marsh.\n\n{'[' * 100_000}\n\n{'**a ' * 25_000}\n"
        )
        library.sync(vectors=False)
    return module_memory / "index"


@pytest.fixture(scope="module")
def port(index) -> Iterator[int]:
    """The port of `spanwise serve` in a process of its own, which ends with exit code 0 on SIGTERM."""
    log = index.parent / "server.log"
    command = [sys.executable, "-m", "spanwise", "serve", "--index", str(index), "--port", "0"]
    command += ["--uploads", str(index.parent / "notes")]
    with log.open("w") as stderr:
        process = subprocess.Popen(command, stderr=stderr)
    try:
        until = time.monotonic() + 120
        while not (match := re.search(r" at http://[^/]*:(\d+)/", log.read_text())):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < until
            time.sleep(0.05)
        yield int(match[1])
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    assert "Traceback" not in log.read_text()


def exchange(port: int, sent: bytes) -> int:
    """The status that these bytes are answered with; 0 for a connection that is closed without one."""
    data = b""
    with socket.create_connection(("127.0.0.1", port), 30) as connection:
        with suppress(BrokenPipeError, ConnectionResetError):  # refused while it was sent
            connection.sendall(sent)
        with suppress(ConnectionResetError):
            data = connection.recv(65_536)
    assert b"Traceback" not in data
    match = re.match(rb"HTTP/1\.1 (\d{3}) ", data)
    return int(match[1]) if match else 0


@pytest.mark.smoke
def test_hostile_requests_are_refused(port, record):
    for sent, status in HOSTILE.values():
        assert exchange(port, sent) in (status, 400), sent[:80]
        assert exchange(port, QUESTION) == 200
    record("T18", "hostile requests refused", f"{len(HOSTILE)} of {len(HOSTILE)}")


def test_a_head_that_does_not_come_is_cut_off(port, record):
    with socket.create_connection(("127.0.0.1", port), 3 * HEAD_S) as connection:
        began = time.monotonic()
        connection.sendall(b"GET / HT")
        assert connection.recv(100) == b""
        took = time.monotonic() - began
    assert HEAD_S - 1 < took < 2 * HEAD_S
    record("T18", "a connection without a request head is closed", f"after {took:.0f} s")


def test_two_hundred_clients_get_answers_or_503_and_the_health_check_stays_quick(port, record, nightly):
    statuses = Counter[int]()
    took = list[float]()
    until = time.monotonic() + (60 if nightly else 8)

    def client() -> None:
        while time.monotonic() < until:
            statuses[exchange(port, QUESTION)] += 1
            time.sleep(0.05)

    clients = [threading.Thread(target=client) for _ in range(200)]
    for thread in clients:
        thread.start()
    while time.monotonic() < until:
        began = time.perf_counter()
        assert exchange(port, head(target="/health")) == 200
        took.append(time.perf_counter() - began)
        time.sleep(0.1)
    for thread in clients:
        thread.join()
    assert set(statuses) <= {200, 503}
    assert statuses[200] > 100
    middle = sorted(took)[len(took) // 2]
    value = f"{statuses[200]:,} answers, the rest 503; health check {middle * 1000:.0f} ms"
    record("T18", "200 clients", value)


@pytest.mark.smoke
@pytest.mark.promise("T19")
def test_a_public_address_without_a_token_exits_2(index, capsys, monkeypatch, tmp_path):
    monkeypatch.delenv("SPANWISE_SERVE_TOKEN", raising=False)
    (tmp_path / "token").write_text("secret\n")
    short = ["--token-file", str(tmp_path / "token")]
    for more, named in (([], "a token is required"), (short, "6 characters")):
        with pytest.raises(SystemExit) as stopped:
            main(["serve", "--index", str(index), "--host", "0.0.0.0", *more])
        assert stopped.value.code == 2
        assert named in capsys.readouterr().err


def is_complaint(said) -> bool:
    """True for an error; that a file is there already is none."""
    return said.type == "error" and "409 (Conflict)" not in said.text


@pytest.fixture
def page(port):
    """The page in a headless browser, which has complained about nothing when it closes."""
    playwright = pytest.importorskip("playwright.sync_api")
    home = f"http://127.0.0.1:{port}/"
    complaints = list[str]()
    requests = list[str]()
    with playwright.sync_playwright() as driver:
        chromium = next(filter(os.path.exists, ("/usr/bin/chromium", driver.chromium.executable_path)), None)
        if chromium is None:
            pytest.skip("no chromium")
        page = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"]).new_page()
        page.set_default_timeout(60_000)
        page.on("console", lambda said: complaints.append(said.text) if is_complaint(said) else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(home)
        yield page
        assert page.evaluate("window.hacked") is None
    assert complaints == []
    assert all(url.startswith((home, "data:")) for url in requests)


def asked(page, question: str) -> None:
    page.fill("#question", question)
    page.press("#question", "Enter")
    page.wait_for_selector("#quote")
    page.wait_for_selector("mark.current")


def test_the_page_answers_in_a_browser(page):
    asked(page, "Who founded Mill 7?")
    assert "Ada Rook" in page.inner_text("#span")
    assert page.inner_text("mark.current") in page.inner_text("#quote")
    assert page.inner_text("#document-place").startswith("7.md")
    assert re.search("likely|certain", page.inner_text(".sure"))
    page.goto(f"{page.url.partition('#')[0]}#q=Who+cast+the+bell%3F&tab=passages")
    page.click("#panel-passages .place >> text=hostile.html")
    page.wait_for_selector("#document-body .text")
    assert "<img" in page.inner_text("#document-body")
    assert page.query_selector("#document-body img") is None


def test_the_chosen_answer_is_not_among_the_others(page):
    asked(page, "Who founded Mill 7?")
    texts = page.locator("#choices li:visible .words").all_inner_texts()
    assert page.inner_text("#span") not in texts
    assert len(texts) == len(set(texts))


def test_markdown_is_rendered_with_its_span_marked(page):
    asked(page, "Who raised the weir?")
    assert "Ute Falk" in page.inner_text("#span")
    assert page.inner_text("mark.current") == page.inner_text("#span")
    for place in ("#quote", "#document-body"):
        assert page.inner_text(f"{place} strong") == "1920 by Ute Falk"
    body = page.locator("#document-body")
    assert body.locator(".heading em").all_inner_texts() == ["weir"]
    assert body.locator("li strong").all_inner_texts() == ["item"]
    assert body.locator("td").all_inner_texts() == ["1920", "Ute Falk"]
    assert body.locator("code").all_inner_texts() == ["make all"]
    assert body.locator("a").get_attribute("href") == "https://trust.example/weir"
    assert body.locator("a").get_attribute("rel") == "noopener noreferrer"


def test_hostile_markdown_inserts_text_only(page):
    asked(page, "Who opened the safe?")
    assert page.inner_text("mark.current") == "Zed Quill"
    body = page.locator("#document-body")
    assert body.locator("img, script, [onerror], a a").count() == 0
    assert {link.get_attribute("href") for link in body.locator("a").all()} == {
        "https://ok.example",
        "https://out.example",
    }
    assert "<script>window.hacked = 1</script>" in body.inner_text()
    assert body.locator(".alt").all_inner_texts() == ["picture", "badge"]


SOURCES = [
    "[",
    "[a](",
    "**a ",
    "*a ",
    "_a ",
    "`a``",
    ">",
    "- ",
    "| ",
    "[[a]",
    "![",
    "~~a",
    "[a](http://b ",
    "- a\n",
    "|-|\n",
    "\\",
]
RENDER = """async (sources) => {
  const { markdown } = await import("/markdown.js");
  const draw = (from, to) => (from < to ? [sources.text.slice(from, to)] : []);
  const began = performance.now();
  markdown(sources.text, 0, sources.text.length, { draw, isHidden: () => true });
  return performance.now() - began;
}"""


@pytest.mark.parametrize("source", SOURCES)
def test_markdown_is_rendered_in_linear_time(page, source):
    took = [page.evaluate(RENDER, {"text": source * (n // len(source))}) for n in (100_000, 200_000)]
    assert took[1] < 3 * took[0] + 1_000


def test_a_span_in_hidden_markup_is_shown_and_marked(page):
    source = "See [the trust](https://trust.example/weir) for it."
    marked = """async ([text, from, to]) => {
      const [{ markdown }, { drawing }] = [await import("/markdown.js"), await import("/document.js")];
      const blocks = markdown(text, 0, text.length, drawing(text, [{ from, to }]));
      return blocks.flatMap((block) => [...block.querySelectorAll("mark")].map((mark) => mark.textContent));
    }"""
    for span in ("the trust", "https://trust.example/weir", "trust](https", "See"):
        start = source.index(span)
        assert page.evaluate(marked, [source, start, start + len(span)]) == [span]


def test_a_question_about_brackets_is_answered_at_once(page):
    asked(page, "Who mixed the ink?")
    assert page.inner_text("mark.current") == "Lo Marsh"


def done(page) -> None:
    page.wait_for_selector("body:not([aria-busy]) #panel-answer article", state="attached")


def test_the_answer_to_a_late_turn_is_in_view(page):
    for number in range(8):
        asked(page, f"Who founded Mill {number}?")
        done(page)
        box = page.locator("#best").bounding_box()
        assert 0 < box["y"] < page.viewport_size["height"] / 2


def test_a_computed_value_opens_its_document_and_names_its_cells(page):
    asked(page, "Who founded Mill 7?")
    page.fill("#question", "What is the total cost of all works at the Barn?")
    page.press("#question", "Enter")
    page.wait_for_selector("#computed")
    assert page.locator("#computed .cells li").all_inner_texts() == ["250 Roof, Cost", "50 Door, Cost"]
    page.wait_for_selector("#document-place >> text=costs.csv")


def test_after_an_answer_keys_are_those_of_the_page_and_words_begin_a_question(page):
    asked(page, "Who founded Mill 7?")
    done(page)
    page.keyboard.press("?")
    page.wait_for_selector("#keys[open]")
    page.keyboard.press("Escape")
    assert page.input_value("#question") == "Who founded Mill 7?"
    page.keyboard.press("c")
    page.wait_for_selector(".toast", state="attached")
    page.wait_for_timeout(1_200)
    page.keyboard.type("can I visit?")
    assert page.input_value("#question") == "can I visit?"


def test_a_declined_turn_is_kept_with_its_nearest_words(page):
    page.fill("#question", "Who painted the weir?")
    page.press("#question", "Enter")
    page.wait_for_selector(".candidate")
    done(page)
    page.keyboard.type("Who founded Mill 7?")
    page.press("#question", "Enter")
    page.wait_for_selector("#turns .place")
    assert page.inner_text("#turns .words").startswith("Not sure; the nearest: ")


def test_the_size_of_the_index_follows_its_commits(page, index):
    before = page.inner_text("#corpus")
    (index.parent / "notes" / "late.md").write_text("# Late\n\nA late page by Lo Marsh.\n")
    with spanwise.open(index.parent / "notes", index=index) as library:
        library.sync(vectors=False)
    page.wait_for_selector("#welcome >> text=late.md")
    assert page.inner_text("#corpus") != before


DROP = """(files) => {
  const transfer = new DataTransfer();
  for (const [name, text] of files) transfer.items.add(new File([text], name));
  window.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, cancelable: true }));
}"""


def test_dropped_files_can_be_asked_about_and_replace_others_on_request(page):
    page.wait_for_selector("#add")
    page.evaluate(DROP, [["buoy.md", "The buoy was cast by Ned Holm."], ["broken.docx", "no zip"]])
    page.wait_for_selector("#uploads .rejected >> text=rejected: not a Word document")
    page.wait_for_selector("#uploads .indexed >> text=can be asked about")
    asked(page, "Who cast the buoy?")
    assert page.inner_text("#span") == "Ned Holm"
    page.evaluate(DROP, [["buoy.md", "The buoy was cast by Una Fell."]])
    page.click("button >> text=Replace it")
    page.wait_for_selector("#uploads li:nth-child(3).indexed")
    asked(page, "Who was the buoy cast by?")
    assert page.inner_text("#span") == "Una Fell"


def test_a_conversation_is_kept_in_the_tab_and_can_be_left(page):
    asked(page, "Who founded Mill 7?")
    assert page.locator("#understood").is_hidden()
    page.keyboard.type("And Mill 9?")
    page.press("#question", "Enter")
    page.wait_for_selector("#as-typed")
    assert page.inner_text("#understood b") == "Who founded Mill 9?"
    assert page.locator("#turns .asked").all_inner_texts() == ["Who founded Mill 7?"]
    assert page.inner_text("#document-place").startswith("9.md")
    page.reload()
    page.wait_for_selector("#as-typed")
    assert page.locator("#turns .asked").all_inner_texts() == ["Who founded Mill 7?"]
    page.click("#as-typed")
    page.wait_for_selector("#understood", state="hidden")
    page.go_back()
    page.wait_for_selector("#turns", state="hidden")
    assert page.input_value("#question") == "Who founded Mill 7?"
    page.click("#new")
    assert page.evaluate("sessionStorage['spanwise.conversation']") == "[]"
    assert page.locator("#welcome").is_visible()
