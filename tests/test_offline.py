"""The guard against network access refuses every attempt and records it."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import no_network
import pytest

pytestmark = pytest.mark.promise("T20")

OTHER_MACHINE = "192.0.2.1"  # reserved for documentation, RFC 5737


def test_a_connection_to_another_machine_is_refused_and_recorded() -> None:
    with socket.socket() as connection, pytest.raises(no_network.NetworkRefused, match=OTHER_MACHINE):
        connection.connect((OTHER_MACHINE, 80))
    assert no_network.attempts() == [f"socket.connect {OTHER_MACHINE}"]


def test_a_name_lookup_is_refused_and_recorded() -> None:
    with pytest.raises(no_network.NetworkRefused):
        socket.getaddrinfo("example.org", 443)
    assert no_network.attempts() == ["socket.getaddrinfo example.org"]


def test_a_connection_to_this_machine_is_allowed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()
    assert no_network.attempts() == []


def test_a_child_process_is_refused_too() -> None:
    code = f"import socket; socket.socket().connect(({OTHER_MACHINE!r}, 80))"
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "NetworkRefused" in child.stderr
    assert no_network.attempts() == [f"socket.connect {OTHER_MACHINE}"]


def test_a_test_fails_when_it_hides_a_refused_attempt(tmp_path: Path) -> None:
    hiding_test = f"""
import socket

def test_hides():
    try:
        socket.socket().connect(({OTHER_MACHINE!r}, 80))
    except BaseException:
        pass
"""
    (tmp_path / "test_hides.py").write_text(hiding_test)
    tests = Path(__file__).parent
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "conftest", "test_hides.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tests), str(tests / "offline")])},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 1
    assert "tried to leave this machine: socket.connect 192.0.2.1" in run.stdout


def test_the_model_hub_is_off() -> None:
    assert os.environ["HF_HUB_OFFLINE"] == "1"
