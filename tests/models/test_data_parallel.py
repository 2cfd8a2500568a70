"""Several processes, or several copies in one, take the steps that one device takes."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from made_training import BATCHES, RECIPE, evaluate, loss
from parallel_child import model
from safetensors.torch import load_file

from spanwise.models import data_parallel
from spanwise.models.data_parallel import Alone, Replicas, workers_for
from spanwise.models.training import train
from spanwise.models.training_history import read_history

CHILD = Path(__file__).parents[1] / "parallel_child.py"
PAIRS = replace(RECIPE, accumulate=2)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def run_together(folder: Path, n: int, accumulate: int) -> list[str]:
    """Starts n processes as torchrun does and waits for all of them; what each said that failed."""
    shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": str(n)}
    children = [
        subprocess.Popen(
            [sys.executable, str(CHILD), str(folder), str(accumulate)],
            env=os.environ | shared | {"RANK": str(i), "LOCAL_RANK": str(i), "GLOO_SOCKET_IFNAME": "lo"},
            stderr=subprocess.PIPE,
            text=True,
        )
        for i in range(n)
    ]
    try:
        said = [one.communicate(timeout=240)[1] for one in children]
        return [text for one, text in zip(children, said, strict=True) if one.returncode]
    finally:
        for one in children:
            one.kill()


def alone(folder: Path) -> torch.nn.Module:
    found = model()
    train(found, BATCHES[:11], loss, PAIRS, folder, evaluate, "score")
    return found


def test_two_processes_take_the_steps_of_one(tmp_path):
    expected = alone(tmp_path / "one")
    assert run_together(tmp_path / "two", 2, 2) == []
    one, two = read_history(tmp_path / "one"), read_history(tmp_path / "two")
    assert two.losses == pytest.approx(one.losses, abs=1e-5)
    assert [e["score"] for e in two.evaluations] == pytest.approx(
        [e["score"] for e in one.evaluations], abs=1e-4
    )
    weights = load_file(tmp_path / "two" / "best.safetensors")
    assert all(torch.allclose(weights[name], own, atol=1e-5) for name, own in expected.state_dict().items())
    assert (tmp_path / "two" / "ended").is_file()


def test_more_processes_than_batches_in_a_step_are_refused(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "3")
    with pytest.raises(ValueError, match="3 processes share 2 batches a step: accumulate must be 3"):
        workers_for(model(), 2)


@pytest.mark.parametrize("n", [2, 3])
def test_copies_take_the_steps_of_one(tmp_path, monkeypatch, n):
    expected = alone(tmp_path / "one")
    monkeypatch.setattr(
        "spanwise.models.training_run.workers_for",
        lambda model, n_batches: Replicas(model, [torch.device("cpu")] * n),
    )
    found = alone(tmp_path / "copies")
    one, other = read_history(tmp_path / "one"), read_history(tmp_path / "copies")
    assert other.losses == pytest.approx(one.losses, abs=1e-5)
    for name, own in expected.state_dict().items():
        assert torch.allclose(found.state_dict()[name], own, atol=1e-5)


def test_an_error_on_one_of_several_devices_is_told():
    workers = Replicas(model(), [torch.device("cpu")] * 2)

    def broken(model, batch):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        workers.backward(model(), broken, BATCHES[:4])


def test_one_device_is_alone(monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    assert isinstance(workers_for(model(), 8), Alone)


def test_no_more_devices_are_used_than_a_step_has_batches(monkeypatch):
    monkeypatch.setattr(data_parallel, "spread_devices", lambda device: ["cpu"] * 4)
    assert isinstance(workers_for(model(), 1), Alone)
    assert workers_for(model(), 3).count == 3
