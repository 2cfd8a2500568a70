"""What a run has kept is read from its checkpoint, also while it is not finished."""

from __future__ import annotations

import pytest
from made_training import BATCHES, RECIPE, a_model, evaluate, loss
from safetensors.numpy import save_file

from spanwise.errors import ModelRejected
from spanwise.models.training import read_history, train


def test_losses_and_evaluations_of_a_run_are_read(tmp_path):
    told = []
    evaluations = train(
        a_model(), BATCHES, loss, RECIPE, tmp_path, evaluate, "score", lambda p: told.append(p.loss)
    )
    history = read_history(tmp_path)
    assert (history.steps, history.losses, history.evaluations) == (12, told, evaluations)


@pytest.mark.parametrize("content", [None, b"", b"no tensors"])
def test_a_file_that_is_no_checkpoint_is_named(tmp_path, content):
    if content is not None:
        (tmp_path / "checkpoint.safetensors").write_bytes(content)
    with pytest.raises(ModelRejected, match=r"checkpoint\.safetensors: no checkpoint"):
        read_history(tmp_path)


@pytest.mark.parametrize("metadata", [None, {"run": "{"}, {"run": "[]"}])
def test_tensors_without_a_run_are_named(tmp_path, metadata):
    save_file({}, tmp_path / "checkpoint.safetensors", metadata=metadata)
    with pytest.raises(ModelRejected, match="no checkpoint of a training run"):
        read_history(tmp_path)
