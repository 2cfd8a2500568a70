"""A server that keeps its index current: what is found, what is told when that fails, who is left behind."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from served import Served

import spanwise
from spanwise.errors import IndexLocked
from spanwise.index.store import Store

WAIT_S = 120
MANY = 2000  # files, which take seconds to read
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")


@pytest.fixture
def index(folder: Path, encoder_folder: str, tmp_path: Path) -> Path:
    with spanwise.open(folder, index=tmp_path / "index", model=encoder_folder) as library:
        library.sync(vectors=False)
    return tmp_path / "index"


def watching(index: Path) -> Served:
    """A server that watches, with quick syncs without models."""
    quick = {"SPANWISE_INDEX_LEXICAL_ONLY": "1", "SPANWISE_INDEX_WATCH_DELAY": "0.1"}
    return Served(index, "--watch", "--timeout", "120", env={**os.environ, **quick})


def until(holds: Callable[[], bool], server: Served) -> None:
    deadline = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < deadline, server.log
        time.sleep(0.05)


def watchers(index: Path) -> list[int]:
    """The processes that keep this index current."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:  # it has just ended
            continue
        if b"--beside-server" in command and os.fsencode(index) in command:
            found.append(int(process.name))
    return found


def is_locked(store: Store) -> bool:
    try:
        with store.writer():
            return False
    except IndexLocked:
        return True


def finds(server: Served, word: str) -> bool:
    status, found = server.post("/api/search", {"question": word, "retriever": "bm25"})
    return status == 200 and any(word in hit["text"] for hit in found["hits"])


def watching_of(server: Served) -> str:
    return str(server.get("/api/status")[1]["watching"])


def test_a_document_that_is_added_is_found_without_a_restart(index, folder):
    with watching(index) as server:
        until(lambda: "watching; Ctrl-C" in server.log, server)
        (folder / "new.md").write_text("Xanthippe founded the quay.\n")
        until(lambda: finds(server, "Xanthippe"), server)
        assert "watch: " in server.log
        assert server.get("/health")[1] == {"status": "ok", "watching": "running"}
        assert server.stop() == 0, server.log
        assert watchers(index) == []


@pytest.mark.reliability
def test_a_folder_without_an_index_is_indexed_and_served(folder, tmp_path, encoder_folder):
    with spanwise.open(folder, index=tmp_path / "index", model=encoder_folder):
        pass  # as `spanwise serve FOLDER` makes it
    with watching(tmp_path / "index") as server:
        until(lambda: finds(server, "mill"), server)


@pytest.mark.reliability
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL, signal.SIGHUP])
def test_a_server_that_ends_leaves_nobody_behind(index, folder, end):
    """Nor anything in the way: the index can be written to afterwards."""
    is_heard = end in (signal.SIGTERM, signal.SIGINT)
    with watching(index) as server:
        until(lambda: "watching; Ctrl-C" in server.log, server)
        (folder / "new.md").write_text("Xanthippe founded the quay.\n")
        until(lambda: " 1 added, " in server.log, server)
        time.sleep(2)  # one that is idle does not notice by itself that nobody hears it any more
        assert len(watchers(index)) == 1
        server.process.send_signal(end)
        assert server.process.wait(WAIT_S) == (0 if is_heard else -end)
        until(lambda: watchers(index) == [], server)
        assert ("no longer watching; what was committed is kept" in server.log) == is_heard
        assert "Traceback" not in server.log
    with spanwise.open_index(index) as library:
        library.sync(vectors=False)
        assert library.store.verify() == []


@pytest.mark.reliability
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_a_server_that_ends_in_the_middle_of_a_sync_leaves_the_index_whole(index, folder, end):
    for number in range(MANY):
        (folder / f"{number}.txt").write_text(f"The quay number {number}.\n")
    with watching(index) as server, Store.open(index) as store:
        until(lambda: is_locked(store), server)
        server.process.send_signal(end)
        assert server.process.wait(WAIT_S) == (0 if end == signal.SIGTERM else -end)
        until(lambda: watchers(index) == [], server)
        assert "watching; Ctrl-C" not in server.log  # it did not come to the end of that sync
    with spanwise.open_index(index) as library:
        library.sync(vectors=False)
        assert library.status()["documents"] == MANY + 3
        assert library.store.verify() == []


@pytest.mark.reliability
def test_a_server_that_is_killed_while_its_watch_starts_leaves_nobody_behind(index):
    with watching(index) as server:
        server.process.kill()
        server.process.wait()
        until(lambda: watchers(index) == [], server)


@pytest.mark.reliability
def test_another_writer_is_told_and_waited_for(index, folder):
    with watching(index) as server:
        until(lambda: "watching; Ctrl-C" in server.log, server)
        with Store.open(index) as store, store.writer(WAIT_S):
            (folder / "new.md").write_text("Xanthippe founded the quay.\n")
            until(lambda: watching_of(server) == "failing: another process is writing to the index", server)
            assert server.get("/health")[1] == {"status": "ok", "watching": "failing"}
            assert finds(server, "mill")
        until(lambda: finds(server, "Xanthippe"), server)
        assert watching_of(server) == "running"
        assert server.log.count("is being written by process") == 1


@pytest.mark.reliability
def test_a_second_writer_enters_beside_a_watch(index, folder):
    with watching(index) as server, spanwise.open_index(index) as library:
        until(lambda: "watching; Ctrl-C" in server.log, server)
        library.sync(vectors=False)
        assert watching_of(server) == "running"


@pytest.mark.reliability
def test_a_watch_that_dies_is_told_and_comes_back_while_the_server_answers(index, folder):
    with watching(index) as server:
        until(lambda: "watching; Ctrl-C" in server.log, server)
        os.kill(watchers(index)[0], signal.SIGKILL)
        until(lambda: watching_of(server) == "ended: killed by signal 9", server)
        assert finds(server, "mill")
        (folder / "new.md").write_text("Xanthippe founded the quay.\n")
        until(lambda: finds(server, "Xanthippe"), server)
        assert server.log.count("ended: killed by signal 9; what was committed goes on being served") == 1


@pytest.mark.reliability
def test_a_folder_that_goes_is_told_without_its_path_and_waited_for(index, folder, tmp_path):
    with watching(index) as server:
        until(lambda: "watching; Ctrl-C" in server.log, server)
        away = folder.rename(tmp_path / "away")
        until(lambda: watching_of(server) == "failing: an indexed folder is not there", server)
        assert finds(server, "mill")
        assert str(tmp_path) not in str(server.get("/api/status")[1])
        away.rename(folder)
        (folder / "new.md").write_text("Xanthippe founded the quay.\n")
        until(lambda: finds(server, "Xanthippe"), server)


@pytest.mark.reliability
def test_names_with_control_characters_do_not_reach_the_terminal(index, folder):
    (folder / "evil\x1b[2J.pdf").write_bytes(b"%PDF-1.4 no such thing")
    with watching(index) as server:
        until(lambda: "rejected evil" in server.log, server)
        assert "\x1b" not in server.log


def test_it_goes_on_below_the_priority_of_the_server(index):
    with watching(index) as server:
        until(lambda: "watching; Ctrl-C" in server.log, server)
        [child] = watchers(index)
        assert os.getpriority(os.PRIO_PROCESS, child) > os.getpriority(os.PRIO_PROCESS, server.process.pid)
