"""What may be there or not: extras, plug-ins, a port, a GPU, a generator; and what must be: the weights."""

from __future__ import annotations

import errno
import socket
from types import SimpleNamespace

import endpoint_server
import pytest
import torch
from made_plugins import POINTS, SHOUTED, install

from spanwise.errors import GenerationFailed
from spanwise.models import builtin_weights
from spanwise.pipelines.doctor import State, checkup, extras, installation, port, weights
from spanwise.pipelines.doctor.checkup import _made
from spanwise.pipelines.doctor.generator import check_generator
from spanwise.pipelines.doctor.plug_ins import check_plugins

LINES = [
    "fastapi>=0.115; extra == 'serve'",
    "uvicorn>=0.30; extra == 'serve'",
    "numpy>=1.26",
    "mcp; extra=='mcp'",
]


@pytest.fixture
def versions(monkeypatch):
    """The versions that packages seem to have; none where a test says nothing."""
    known: dict[str, str] = {}
    monkeypatch.setattr(extras, "requires", lambda name: LINES)
    for module in (extras, installation):
        monkeypatch.setattr(module, "installed", lambda name: known.get(name, "none"))
    return known


def test_an_extra_that_is_missing_is_a_remark_with_the_command(versions):
    finding = extras.check_extra("serve")
    assert (finding.state, finding.seen) == (State.NOTE, "not installed")
    assert "pip install 'spanwise[serve]'" in finding.advice


def test_an_extra_in_part_or_too_old_is_worth_a_look(versions):
    versions |= {"fastapi": "0.115", "uvicorn": "0.29"}
    finding = extras.check_extra("serve")
    assert finding.state is State.WARN
    assert "uvicorn>=0.30" in finding.seen
    assert "(found: 0.29)" in finding.seen
    assert "fastapi" not in finding.seen


def test_an_extra_that_is_there_tells_its_versions(versions):
    versions |= {"fastapi": "0.115", "uvicorn": "0.31"}
    assert extras.check_extra("serve").seen == "fastapi 0.115, uvicorn 0.31"


@pytest.mark.parametrize("name", extras.EXTRAS)
def test_every_extra_that_is_checked_is_one_of_this_package(name):
    assert extras.packages_of(name)


def test_a_port_in_use_is_a_remark():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        number = taken.getsockname()[1]
        finding = port.check_port(number)
    assert (finding.state, "in use" in finding.seen, "--port" in finding.advice) == (State.NOTE, True, True)
    assert port.check_port(number).state is State.OK


def test_a_port_that_may_not_be_bound_is_told(monkeypatch):
    def forbidden(self, address):
        raise OSError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(port.socket, "socket", type("Socket", (socket.socket,), {"bind": forbidden}))
    assert "Permission denied" in port.check_port(80).seen


def test_the_weights_are_as_they_were_shipped():
    assert builtin_weights.wrong_weights() == []
    assert weights.check_weights().state is State.OK


def test_weights_that_changed_or_are_missing_fail(monkeypatch):
    table = {"reader/reader.safetensors": "0" * 64, "reader/none.safetensors": "0" * 64}
    monkeypatch.setattr(builtin_weights, "WEIGHTS_SHA256", table)
    finding = weights.check_weights()
    assert finding.state is State.FAIL
    assert "reader.safetensors has sha256" in finding.seen
    assert "none.safetensors is missing" in finding.seen


def test_every_file_of_weights_has_a_digest():
    folder = builtin_weights.files("spanwise.models") / "weights"
    found = {f"{path.parent.name}/{path.name}" for path in folder.glob("*/*.safetensors")}
    assert found == set(builtin_weights.WEIGHTS_SHA256)


def test_a_gpu_is_named_and_none_is_a_remark(monkeypatch):
    card = SimpleNamespace(name="H100", total_memory=80e9)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert weights.check_gpu().state is State.NOTE
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda number: card)
    assert weights.check_gpu().seen == "H100 (80 GB), H100 (80 GB)"


def test_plugins_are_listed_and_one_that_cannot_be_loaded_is_worth_a_look(site):
    points = {"spanwise.retrievers": POINTS["spanwise.retrievers"]}
    install(site, points, {"made_plugin": SHOUTED})
    finding = check_plugins()
    assert (finding.state, "longest of made-plugins 1.0" in finding.seen) == (State.OK, True)
    broken = {"spanwise.readers": {"bomb": "made_plugin_bomb:Reader"}}
    install(site, broken, {"made_plugin_bomb": "1 / 0"}, package="bombs")
    finding = check_plugins()
    assert finding.state is State.WARN
    assert "ZeroDivisionError" in finding.seen


def test_a_generator_is_asked_only_when_it_is_named(tmp_path):
    assert not any(finding.subject == "generator" for finding in checkup(None, tmp_path))


def test_a_server_that_answers_is_told_with_its_models():
    with endpoint_server.running() as server:
        assert check_generator(f"{server.v1}#llama3").seen == f"{server.v1} answers, with llama3, qwen\x1b[2J"
        lacking = check_generator(f"{server.v1}#nowhere")
        assert (lacking.state, "llama3" in lacking.advice) == (State.WARN, True)
        with pytest.raises(GenerationFailed, match="does not tell its models"):
            check_generator(f"{server.root}/odd#x")


def test_a_server_that_is_not_there_is_a_failure():
    finding = _made("generator", lambda: check_generator("http://127.0.0.1:9/v1#x"))
    assert finding is not None
    assert (finding.state, "cannot connect" in finding.seen) == (State.FAIL, True)
