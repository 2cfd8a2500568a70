"""A server as a process: it goes on while another process syncs, and ends when it is told to."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time

import pytest
from served import Served, received, status_of

import spanwise

PATIENT = ("--timeout", "120", "--shutdown", "120")  # on a busy machine models take long to load
ASKED = {"question": "who founded the mill?", "retriever": "bm25"}


@pytest.fixture
def index(folder, encoder_folder, tmp_path):
    with spanwise.open(folder, index=tmp_path / "index", model=encoder_folder) as library:
        library.sync(vectors=False)
    return tmp_path / "index"


def test_what_another_process_syncs_is_found_without_a_pause(index, folder):
    with Served(index, "--in-flight", "64") as server:
        statuses, done = list[int](), threading.Event()

        def go_on_asking():
            while not done.is_set():
                statuses.append(server.post("/api/search", ASKED)[0])

        asking = threading.Thread(target=go_on_asking)
        asking.start()
        (folder / "new.md").write_text("Xanthippe founded the quay.\n")
        sync = [sys.executable, "-m", "spanwise", "index", "--index", str(index), "--lexical-only"]
        subprocess.run(sync, check=True, capture_output=True)
        found = server.post("/api/search", {**ASKED, "question": "Xanthippe"})[1]["hits"]
        done.set()
        asking.join()
        assert found[0]["document"] == "new.md"
        assert set(statuses) == {200}


def test_told_to_stop_it_finishes_what_runs_and_refuses_the_rest(index):
    """The first search holds the computing thread by loading models; it is answered after SIGTERM."""
    with Served(index, *PATIENT) as server, server.connect(120) as waiting:
        waiting.sendall(request(server, "/api/ask"))
        while "spanwise_in_flight 1.0" not in metrics(server):
            time.sleep(0.02)
        server.process.send_signal(signal.SIGTERM)
        while server.get("/health")[1]["status"] != "draining":
            time.sleep(0.02)
        assert status_of(server.exchange(request(server, "/api/ask"))) == 503
        assert status_of(received(waiting)) == 200
        assert server.process.wait(60) == 0, server.log


def test_a_client_that_leaves_gives_up_its_place(index):
    """The question waits for the models to load, which goes on after its client has left."""
    with Served(index, "--in-flight", "1", *PATIENT) as server:
        with server.connect() as leaving:
            leaving.sendall(request(server, "/api/ask"))
            while "spanwise_in_flight 1.0" not in metrics(server):
                time.sleep(0.02)
        while "spanwise_in_flight 0.0" not in metrics(server):
            time.sleep(0.02)
        assert "spanwise_answers_total{" not in metrics(server)
        assert server.post("/api/search", ASKED)[0] == 200


def test_an_idle_server_ends_at_once_with_0(index):
    with Served(index) as server:
        assert (server.stop(), server.log.count("\n")) == (0, 1), server.log


def test_a_port_in_use_is_told_in_one_line(index):
    with Served(index) as server:
        command = [
            sys.executable,
            "-m",
            "spanwise",
            "serve",
            "--index",
            str(index),
            "--port",
            str(server.port),
        ]
        run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 1
    assert run.stderr == f"spanwise: cannot listen on 127.0.0.1:{server.port}: Address already in use\n"


def test_the_health_check_the_figures_and_the_page_load_no_model(index):
    code = (
        "import sys; from starlette.testclient import TestClient; import spanwise\n"
        "from spanwise.pipelines.opening import open_index\n"
        "from spanwise.pipelines.serving.app import create_app\n"
        "from spanwise.pipelines.serving.settings import Settings\n"
        "with open_index(sys.argv[1]) as library:\n"
        "    with TestClient(create_app(library, Settings()), base_url='http://127.0.0.1:8765') as client:\n"
        "        for path in ('/health', '/metrics', '/', '/api/documents'):\n"
        "            assert client.get(path).status_code == 200\n"
        f"        assert client.post('/api/search', json={ASKED!r}).status_code == 200\n"
        "print(*sorted({'torch', 'transformers', 'faiss'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code, str(index)], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == ""


def metrics(server: Served) -> str:
    with server.connect() as connection:
        connection.sendall(f"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode())
        return received(connection).decode()


def request(server: Served, path: str) -> bytes:
    body = json.dumps(ASKED).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Type: application/json\r\n"
    return head.encode() + b"Content-Length: %d\r\n\r\n" % len(body) + body
