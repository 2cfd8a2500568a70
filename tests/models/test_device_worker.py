"""Processes that stand for GPUs: each encodes in its own, on the CPU."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from row_encoders import SumEncoder, no_such_device, tiny
from tiny_models import tiny_encoder

from spanwise.errors import OutOfMemory, WorkerFailed
from spanwise.models.batching import Batcher
from spanwise.models.device_worker import DeviceWorker
from spanwise.models.encoder import TextEncoder
from spanwise.models.fleet import Fleet


@pytest.fixture
def worker():
    worker = DeviceWorker(SumEncoder, "cuda:1")
    yield worker
    worker.close()


def test_rows_go_there_and_vectors_come_back(worker):
    assert worker.encode_rows([[5, 6], [7]]).tolist() == [[11, 2], [7, 1]]


def test_a_process_that_ends_is_named_with_its_exit_code(worker):
    with pytest.raises(WorkerFailed, match="cuda:1 ended with 3"):
        worker.encode_rows([[0]])


@pytest.mark.promise("T16")
def test_the_end_of_memory_keeps_its_name(worker):
    with pytest.raises(OutOfMemory, match="1 tokens"):
        worker.encode_rows([[1]])
    assert worker.encode_rows([[2]]).tolist() == [[2, 1]]


def test_a_device_that_cannot_be_used_is_named():
    worker = DeviceWorker(no_such_device, "cuda:7")
    with pytest.raises(WorkerFailed, match="cuda:7 failed: RuntimeError: cuda:7 is not there"):
        worker.encode_rows([[2]])
    worker.close()


def spread_over(encoder, fleet, monkeypatch, texts):
    """What the encoder says when every batch goes to a fleet, in small batches."""
    monkeypatch.setattr("spanwise.models.fleet.WORTH_IT", 1)
    monkeypatch.setattr(encoder, "fleet", fleet)
    monkeypatch.setattr(encoder, "batcher", Batcher(64))
    return encoder.encode(texts)


TEXTS = [f"mill {'weir ' * (n % 13)}{n}" for n in range(60)]


def test_several_devices_encode_as_one_does(tmp_path, monkeypatch):
    encoder, one, two = (TextEncoder.load(str(tiny_encoder(tmp_path)), device="cpu") for _ in range(3))
    expected = encoder.encode(TEXTS)
    fleet = Fleet(None, [])
    monkeypatch.setattr(fleet, "workers", lambda n_tokens: [one, two])
    found = spread_over(encoder, fleet, monkeypatch, TEXTS)
    assert np.min(np.sum(found * expected, axis=1)) > 0.9999


@pytest.mark.reliability
def test_several_processes_encode_as_one_does(tmp_path, monkeypatch):
    encoder = TextEncoder.load(str(tiny_encoder(tmp_path)), device="cpu")
    expected = encoder.encode(TEXTS)
    fleet = Fleet(partial(tiny, str(tmp_path)), ["cuda:0", "cuda:1"])
    found = spread_over(encoder, fleet, monkeypatch, TEXTS)
    fleet.close()
    assert np.min(np.sum(found * expected, axis=1)) > 0.9999


def test_little_work_starts_no_process():
    assert Fleet(SumEncoder, ["cuda:0", "cuda:1"]).workers(1000) == []
    assert Fleet(SumEncoder, ["cuda:0"]).workers(10**9) == []
