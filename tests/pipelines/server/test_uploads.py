"""Files that are sent to a server become documents, and nothing else is written."""

import asyncio
import errno
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.testclient import TestClient

import spanwise
from spanwise.index.store import Store
from spanwise.pipelines.server import uploads
from spanwise.pipelines.server.app import create_app
from spanwise.pipelines.server.security import Access
from spanwise.pipelines.server.uploads import BackgroundSync, Uploads
from spanwise.types import SummaryOptions

BASE = "http://127.0.0.1:8765"
TOKEN = "a token of nineteen"
BYTES = {"content-type": "application/octet-stream"}
BY_WORDS = SummaryOptions(retriever="bm25")


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mill.md").write_text("The mill was built by Ada Rook.\n")
    return tmp_path / "notes"


@pytest.fixture
def library(folder, monkeypatch):
    monkeypatch.setattr(BackgroundSync, "_encode", lambda self: None)
    with spanwise.open(folder) as opened:
        opened.sync(vectors=False)
        yield opened


@pytest.fixture
def taker(folder, library) -> Uploads:
    return Uploads(folder, BackgroundSync(library.store.path, print))


@pytest.fixture
def client(library, taker):
    app = create_app(library, Access(origins=("https://notes.example",)), BY_WORDS, (), taker)
    with TestClient(app, base_url=BASE, raise_server_exceptions=False) as opened:
        yield opened


def put(client, name, content=b"The weir was raised by Ute Falk.", headers=None, query=""):
    return client.put(f"/api/documents/{name}{query}", content=content, headers={**BYTES, **(headers or {})})


def names(folder) -> set[str]:
    return {path.name for path in folder.iterdir()} - {".spanwise"}


def test_a_sent_file_is_searched_by_words_at_once(client, library, folder):
    response = put(client, "weir%20one.md")
    assert response.status_code == 201
    assert response.json() == {
        "document": "weir one.md",
        "state": "indexed",
        "format": "text/markdown",
        "remark": "",
    }
    assert (folder / "weir one.md").read_bytes() == b"The weir was raised by Ute Falk."
    hits = client.post("/api/search", json={"question": "Who raised the weir?", "retriever": "bm25"}).json()
    assert hits["hits"][0]["document"] == "weir one.md"


def test_a_file_that_cannot_be_read_is_stored_with_the_reason(client):
    record = put(client, "broken.docx", b"no zip").json()
    assert (record["state"], record["remark"]) == ("rejected", "not a Word document: it is not a zip archive")


@pytest.mark.parametrize(
    "name",
    ["..", ".hidden", "..%2Fout.md", "%2Fetc%2Fx", "sub%2Fa.md", "a%5Cb.md", "a%00b", "a%0Ab", "n" * 256],
)
def test_a_name_is_one_part_of_a_path(client, folder, name):
    assert put(client, name).status_code in (400, 404, 405)
    assert names(folder) == {"mill.md"}
    assert names(folder.parent) == {"notes"}


def test_a_name_that_is_there_is_replaced_only_on_request(client, folder):
    assert put(client, "mill.md").status_code == 409
    assert b"Ada Rook" in (folder / "mill.md").read_bytes()
    assert put(client, "mill.md", query="?replace=true").status_code == 201
    assert b"Ute Falk" in (folder / "mill.md").read_bytes()
    (folder / "sub").mkdir()
    assert put(client, "sub", query="?replace=true").status_code == 409


def test_a_link_in_the_folder_is_not_followed(client, folder):
    outside = folder.parent / "outside.md"
    outside.write_text("kept")
    (folder / "link.md").symlink_to(outside)
    assert put(client, "link.md").status_code == 409
    assert put(client, "link.md", query="?replace=true").status_code == 201
    assert outside.read_text() == "kept"
    assert not (folder / "link.md").is_symlink()


def test_a_folder_that_is_a_link_or_is_not_indexed_takes_no_files(folder, taker, tmp_path):
    (tmp_path / "link").symlink_to(folder)
    (tmp_path / "other").mkdir()
    (folder / ".hidden").mkdir()
    for refused in (tmp_path / "link", tmp_path / "other", folder / ".hidden"):
        with pytest.raises(ValueError, match="Name a folder below an indexed one"):
            Uploads(refused, taker._syncs)


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "https://notes.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
    ],
)
def test_no_other_page_sends_files(client, folder, headers):
    assert put(client, "a.md", headers=headers).status_code == 403
    assert names(folder) == {"mill.md"}


def test_a_form_and_another_method_send_no_file(client, folder):
    assert client.post("/api/documents/a.md", files={"file": b"x"}).status_code == 405
    assert client.put("/api/documents/a.md", files={"file": b"x"}).status_code == 415
    assert names(folder) == {"mill.md"}


def test_files_need_the_token_and_a_server_that_takes_them(library, taker, folder):
    app = create_app(library, Access(token=TOKEN), BY_WORDS, (), taker)
    with TestClient(app, base_url=BASE) as closed:
        assert put(closed, "a.md").status_code == 401
        assert put(closed, "a.md", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 201
    with TestClient(create_app(library, Access(), BY_WORDS), base_url=BASE) as without:
        assert put(without, "b.md").status_code == 403
        assert without.get("/api/status").json()["uploads"] is None
    assert names(folder) == {"mill.md", "a.md"}


@pytest.mark.parametrize("content", [b"x" * 101, [b"x" * 60, b"x" * 60]])
def test_a_file_beyond_the_limit_leaves_nothing(client, folder, monkeypatch, content):
    monkeypatch.setattr(uploads, "MAX_BYTES", 100)
    assert put(client, "a.md", content if isinstance(content, bytes) else iter(content)).status_code == 413
    assert names(folder) == {"mill.md"}


@pytest.mark.parametrize(("name", "limit"), [("MAX_FILES", 2), ("MAX_TOTAL", 70)])
def test_a_server_takes_so_many_files_and_bytes_in_all(client, folder, monkeypatch, name, limit):
    monkeypatch.setattr(uploads, name, limit)
    statuses = [put(client, f"{number}.md").status_code for number in range(3)]
    assert statuses == [201, 201, 413]
    assert names(folder) == {"mill.md", "0.md", "1.md"}


def test_a_full_disk_is_named_and_leaves_nothing(client, folder, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    response = put(client, "a.md")
    assert (response.status_code, response.json()["error"]["type"]) == (507, "StorageFull")
    assert "free space and send it again" in response.json()["error"]["message"]
    assert names(folder) == {"mill.md"}


def test_a_file_that_ends_early_leaves_nothing(taker, folder):
    messages = iter(
        [{"type": "http.request", "body": b"The weir", "more_body": True}, {"type": "http.disconnect"}]
    )

    async def receive():
        return next(messages)

    request = Request({"type": "http", "headers": [(b"content-type", b"application/octet-stream")]}, receive)
    with pytest.raises(HTTPException, match="the file ended before its end"):
        asyncio.run(taker.put(request, "a.md", replace=False))
    assert names(folder) == {"mill.md"}


def test_a_locked_index_is_named_before_a_file_is_stored(client, library, folder):
    with Store.open(library.store.path) as other, other.writer():
        response = put(client, "a.md")
    assert (response.status_code, response.json()["error"]["type"]) == (503, "IndexLocked")
    assert names(folder) == {"mill.md"}
    assert put(client, "a.md").status_code == 201


def test_two_users_who_send_one_name_get_one_whole_file(client, folder):
    contents = [letter * 300_000 for letter in (b"a", b"b", b"c", b"d")]
    with ThreadPoolExecutor(4) as users:
        statuses = list(users.map(lambda content: put(client, "a.txt", content).status_code, contents))
    assert sorted(statuses) == [201, 409, 409, 409]
    assert (folder / "a.txt").read_bytes() == contents[statuses.index(201)]


def test_many_files_at_once_are_all_read(client, library):
    with ThreadPoolExecutor(8) as users:
        states = list(users.map(lambda n: put(client, f"{n}.md").json()["state"], range(24)))
    assert set(states) == {"indexed"}
    assert library.status()["documents"] == 25


def test_files_wait_for_their_turn_and_a_time_to_retry_is_named(client, monkeypatch):
    monkeypatch.setattr(uploads, "MAX_WAITING", 0)
    response = put(client, "a.md")
    assert (response.status_code, response.headers["retry-after"]) == (503, "5")


def test_what_a_killed_server_left_is_removed(taker, folder):
    for name, age in (("old", 7200), ("new", 0)):
        path = folder / f"{uploads.HIDDEN}{name}"
        path.write_bytes(b"x")
        os.utime(path, (path.stat().st_mtime - age,) * 2)
    Uploads(folder, taker._syncs)
    assert names(folder) == {"mill.md", f"{uploads.HIDDEN}new"}


def test_a_file_is_read_while_vectors_are_made_which_go_on_after_it(folder, library, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(uploads, "QUIET_S", 0.0)
    calls = list[str]()
    started = Event()
    ended = Event()

    def encode(on_progress):
        calls.append("encode")
        started.set()
        while len(calls) == 1:
            on_progress("tokens", 1, 2)
            time.sleep(0.01)
        ended.set()

    syncs = BackgroundSync(library.store.path, print)
    monkeypatch.setattr(syncs.library, "encode", encode)
    syncs.words()
    assert started.wait(20)
    (folder / "new.md").write_text("A new page.")
    assert syncs.words().added == ("new.md",)
    assert ended.wait(20)
    assert len(calls) == 2
    syncs.close()
