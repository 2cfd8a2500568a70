"""The training loop keeps the best weights and resumes exactly."""

import signal
from dataclasses import replace

import pytest
import torch
from helpers.training_loop import BATCHES, RECIPE, a_model, evaluate, loss
from torch import nn

from spanwise.errors import ModelRejected
from spanwise.models.training import TrainingConfig, train


def weights_equal(model: nn.Module, other: nn.Module) -> bool:
    weights = other.state_dict()
    return all(torch.equal(weight, weights[name]) for name, weight in model.state_dict().items())


@pytest.mark.parametrize("changes", [{}, {"layer_decay": 0.5}])
def test_a_killed_run_resumes_to_the_same_weights(tmp_path, changes):
    config = replace(RECIPE, **changes)
    whole = a_model()
    resumed = a_model()
    seen = []
    expected = train(whole, BATCHES, loss, config, tmp_path / "whole", evaluate, "score")

    def killed(model, batch):
        seen.append(batch)
        if len(seen) == 10:
            raise MemoryError
        return loss(model, batch)

    with pytest.raises(MemoryError):
        train(a_model(), BATCHES, killed, config, tmp_path / "stopped", evaluate, "score")
    assert train(resumed, BATCHES, loss, config, tmp_path / "stopped", evaluate, "score") == expected
    assert weights_equal(whole, resumed)


def test_ctrl_c_within_a_step_ends_the_run_after_it(tmp_path):
    expected = train(a_model(), BATCHES, loss, RECIPE, tmp_path / "whole", evaluate, "score")
    seen = []

    def interrupted(model, batch):
        seen.append(batch)
        if len(seen) == 7:
            signal.raise_signal(signal.SIGINT)
        return loss(model, batch)

    with pytest.raises(KeyboardInterrupt):
        train(a_model(), BATCHES, interrupted, RECIPE, tmp_path / "stopped", evaluate, "score")
    steps = []
    resumed = train(a_model(), BATCHES, loss, RECIPE, tmp_path / "stopped", evaluate, "score", steps.append)
    assert resumed == expected
    assert [progress.step for progress in steps] == [8, 9, 10, 11, 12]


def test_an_interrupted_evaluation_is_repeated(tmp_path):
    expected = train(a_model(), BATCHES, loss, RECIPE, tmp_path / "whole", evaluate, "score")

    def interrupted(model):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(a_model(), BATCHES, loss, RECIPE, tmp_path / "stopped", interrupted, "score")
    assert train(a_model(), BATCHES, loss, RECIPE, tmp_path / "stopped", evaluate, "score") == expected


def test_the_best_evaluated_weights_are_kept(tmp_path):
    scores = iter([1.0, 0.5])
    seen = []
    model = a_model()

    def falling(model):
        seen.append(model[0].weight.detach().clone())
        return {"score": next(scores)}

    train(model, BATCHES, loss, RECIPE, tmp_path, falling, "score")
    assert torch.equal(model[0].weight, seen[0])


def test_a_folder_of_another_run_is_refused(tmp_path):
    train(a_model(), BATCHES, loss, RECIPE, tmp_path, evaluate, "score")
    other_start = a_model()
    with torch.no_grad():
        other_start[2].bias += 1
    for model, config in ((a_model(), TrainingConfig(learning_rate=0.1)), (other_start, RECIPE)):
        with pytest.raises(ValueError, match="other settings"):
            train(model, BATCHES, loss, config, tmp_path, evaluate, "score")


def test_a_damaged_checkpoint_is_refused(tmp_path):
    (tmp_path / "checkpoint.safetensors").write_bytes(b"x")
    with pytest.raises(ModelRejected, match="is no checkpoint"):
        train(a_model(), BATCHES, loss, RECIPE, tmp_path, evaluate, "score")


def test_a_loss_that_is_not_finite_stops_the_run(tmp_path):
    with pytest.raises(FloatingPointError, match="step 1"):
        train(a_model(), [torch.full((1, 3), float("nan"))], loss, RECIPE, tmp_path, evaluate, "score")
