from __future__ import annotations

import json

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import nn

from spanwise.models.training import Recipe, linear_schedule, train

BATCHES = [torch.full((4, 3), float(i % 5)) + torch.arange(3.0) for i in range(12)]
RECIPE = Recipe(learning_rate=0.05, checkpoint_every=4, evaluate_at=(0.5, 1.0))


def a_model() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.Linear(4, 1))


def loss(model, batch):
    return ((model(batch).float() - batch.sum(dim=1, keepdim=True)) ** 2).mean()


def evaluate(model):
    with torch.no_grad():
        return {"score": -float(loss(model, BATCHES[3]))}


@pytest.mark.parametrize(("step", "rate"), [(0, 0), (50, 1.5e-5), (100, 3e-5), (550, 1.5e-5), (1000, 0)])
def test_r17_schedule(step, rate):
    assert linear_schedule(step, 1000, 3e-5) == pytest.approx(rate, abs=1e-12)


def test_training_lowers_the_loss(tmp_path):
    model = a_model()
    before = evaluate(model.eval())["score"]
    train(model, BATCHES * 10, loss, RECIPE, tmp_path, evaluate, "score")
    assert evaluate(model)["score"] > before


def test_an_interrupted_run_resumes_to_the_same_weights(tmp_path):
    whole, stopped = a_model(), a_model()
    expected = train(whole, BATCHES, loss, RECIPE, tmp_path / "whole", evaluate, "score")

    def stop(progress):
        if progress.step == 9:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(stopped, BATCHES, loss, RECIPE, tmp_path / "stopped", evaluate, "score", stop)
    resumed = a_model()
    assert train(resumed, BATCHES, loss, RECIPE, tmp_path / "stopped", evaluate, "score") == expected
    for name, tensor in whole.state_dict().items():
        assert torch.equal(tensor, resumed.state_dict()[name])


def test_the_best_evaluated_weights_are_kept(tmp_path):
    scores = iter([1.0, 0.5])
    seen = []

    def falling(model):
        seen.append(model[0].weight.detach().clone())
        return {"score": next(scores)}

    model = a_model()
    train(model, BATCHES, loss, RECIPE, tmp_path, falling, "score")
    assert torch.equal(model[0].weight, seen[0])


def test_a_folder_of_other_settings_is_refused(tmp_path):
    train(a_model(), BATCHES, loss, RECIPE, tmp_path, evaluate, "score")
    with pytest.raises(ValueError, match="other settings"):
        train(a_model(), BATCHES, loss, Recipe(learning_rate=0.1), tmp_path, evaluate, "score")


def test_a_loss_that_is_not_finite_stops_the_run(tmp_path):
    with pytest.raises(FloatingPointError, match="step 1"):
        train(a_model(), [torch.full((1, 3), float("nan"))], loss, RECIPE, tmp_path, evaluate, "score")


def test_a_run_from_other_weights_is_refused(tmp_path):
    train(a_model(), BATCHES, loss, RECIPE, tmp_path, evaluate, "score")
    other = a_model()
    with torch.no_grad():
        other[2].bias += 1
    with pytest.raises(ValueError, match="other settings"):
        train(other, BATCHES, loss, RECIPE, tmp_path, evaluate, "score")


def test_a_checkpoint_that_does_not_say_its_start_is_taken(tmp_path):
    expected = train(a_model(), BATCHES, loss, RECIPE, tmp_path, evaluate, "score")
    path = tmp_path / "checkpoint.safetensors"
    with safe_open(path, framework="pt") as file:
        run = json.loads(file.metadata()["run"])
    del run["start"]
    save_file(load_file(path), path, metadata={"run": json.dumps(run)})
    assert train(a_model(), BATCHES, loss, RECIPE, tmp_path, evaluate, "score") == expected
