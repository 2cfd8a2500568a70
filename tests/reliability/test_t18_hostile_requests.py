"""T18: a server on this machine refuses what other pages, and broken or greedy clients, send it."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest
from hostile_requests import HOSTILE, QUESTION, Hostile, head
from served import Served, body_of, received, status_of

import spanwise

FEW = ("--timeout", "2", "--header-timeout", "1")
SLOW_S = 4.0


@pytest.fixture(scope="module")
def server(module_memory) -> Iterator[Served]:
    folder = module_memory / "notes"
    folder.mkdir()
    for number in range(50):
        (folder / f"{number}.md").write_text(f"# Mill {number}\n\nIt was founded by Ada Rook.\n")
    with spanwise.open(folder, index=module_memory / "index") as library:
        library.sync(vectors=False)
    with Served(module_memory / "index", *FEW) as served:
        assert served.post("/api/search", QUESTION)[0] == 200
        yield served


@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda each: each.name)
def test_a_hostile_request_is_refused_without_a_trace_or_a_path(server: Served, hostile: Hostile) -> None:
    response = server.exchange(hostile.sent.replace(b"{port}", str(server.port).encode()))
    assert status_of(response) in hostile.statuses, response[:500]
    told = body_of(response)["error"]
    assert set(told) == {"type", "message"}
    for word in (b"Traceback", b"File ", b".py", b"/dev/shm", b"/tmp"):
        assert word not in response.partition(b"\r\n\r\n")[2]


def test_there_are_sixty_and_the_server_is_whole_after_them(server: Served, record) -> None:
    names = [each.name for each in HOSTILE]
    assert len(set(names)) == len(names) >= 60
    assert server.post("/api/search", QUESTION)[0] == 200
    assert server.log.count("\n") == 1, server.log  # its address: nothing of this is a fault of the server
    record("T18", "hostile requests refused by raw sockets", f"{len(names)} of {len(names)}")


def test_a_head_that_comes_a_byte_at_a_time_is_cut_off(server: Served) -> None:
    with server.connect() as connection:
        began = time.monotonic()
        for byte in head():
            try:
                connection.sendall(bytes([byte]))
            except OSError:
                break
            connection.settimeout(0.3)
            try:
                response = connection.recv(1000)
            except TimeoutError:
                continue
            break
        assert status_of(response) == 408
        assert time.monotonic() - began < SLOW_S


def test_a_connection_that_says_nothing_is_closed(server: Served) -> None:
    with server.connect(SLOW_S) as connection:
        assert status_of(received(connection)) == 408


def test_chunks_that_go_on_for_ever_are_cut_off(server: Served) -> None:
    hostile = next(each for each in HOSTILE if each.name == "chunks for ever")
    with server.connect() as connection:
        connection.sendall(hostile.sent.replace(b"{port}", str(server.port).encode()))
        until = time.monotonic() + SLOW_S
        connection.settimeout(0.05)
        response = b""
        while not response and time.monotonic() < until:
            connection.sendall(b"1\r\na\r\n")
            try:
                response = connection.recv(1000)
            except TimeoutError:
                continue
        assert status_of(response) == 408


@pytest.mark.reliability
def test_the_health_check_is_quick_beside_all_of_them(server: Served, record) -> None:
    took = list[float]()

    def attack(part: int) -> None:
        for hostile in HOSTILE[part::4]:
            server.exchange(hostile.sent.replace(b"{port}", str(server.port).encode()))

    attackers = [threading.Thread(target=attack, args=(part,)) for part in range(4)]
    idle = [server.connect() for _ in range(50)]
    for thread in attackers:
        thread.start()
    while any(thread.is_alive() for thread in attackers):
        took.append(health_s(server))
        time.sleep(0.01)
    for connection in idle:
        connection.close()
    took.sort()
    middle, last = took[len(took) // 2], took[int(len(took) * 0.95)]
    assert last < 0.1, f"the health check took {last * 1000:.0f} ms"
    figure = (
        f"median {middle * 1000:.0f} ms, 95 % within {last * 1000:.0f} ms, slowest {took[-1] * 1000:.0f} ms"
    )
    record("T18", "health check beside all of them and 50 idle connections", figure)


def health_s(server: Served) -> float:
    began = time.perf_counter()
    with socket.create_connection(("127.0.0.1", server.port), 10) as connection:
        connection.sendall(head(target="/health").replace(b"{port}", str(server.port).encode()))
        assert status_of(received(connection)) == 200
    return time.perf_counter() - began
