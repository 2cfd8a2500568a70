from __future__ import annotations

import json
import signal
from dataclasses import replace

import pytest
import torch
from made_training import BATCHES, RECIPE, a_model, evaluate, loss
from safetensors.torch import load_file, save_file
from torch import nn

from spanwise.models.training import TrainingConfig, evenly, linear_schedule, read_history, train
from spanwise.models.training_history import read_run


@pytest.mark.parametrize(("step", "rate"), [(0, 0), (50, 1.5e-5), (100, 3e-5), (550, 1.5e-5), (1000, 0)])
def test_r17_schedule(step, rate):
    assert linear_schedule(step, 1000, 3e-5) == pytest.approx(rate, abs=1e-12)


def test_training_lowers_the_loss(tmp_path):
    model = a_model()
    before = evaluate(model.eval())["score"]
    train(model, BATCHES * 10, loss, RECIPE, tmp_path, evaluate, "score")
    assert evaluate(model)["score"] > before


@pytest.mark.parametrize("recipe", [RECIPE, replace(RECIPE, average=0.9, layer_decay=0.5)])
def test_an_interrupted_run_resumes_to_the_same_weights(tmp_path, recipe):
    whole, stopped = a_model(), a_model()
    expected = train(whole, BATCHES, loss, recipe, tmp_path / "whole", evaluate, "score")

    def stop(progress):
        if progress.step == 9:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(stopped, BATCHES, loss, recipe, tmp_path / "stopped", evaluate, "score", stop)
    resumed = a_model()
    assert train(resumed, BATCHES, loss, recipe, tmp_path / "stopped", evaluate, "score") == expected
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


def test_what_is_evaluated_and_kept_is_the_average(tmp_path):
    seen = []

    def seeing(model):
        seen.append(model[0].weight.detach().clone())
        return {"score": 1.0}

    recipe = replace(RECIPE, average=0.9, evaluate_at=(1.0,))
    plain, averaged = a_model(), a_model()
    train(plain, BATCHES, loss, replace(recipe, average=0.0), tmp_path / "plain", evaluate, "score")
    train(averaged, BATCHES, loss, recipe, tmp_path / "averaged", seeing, "score")
    assert torch.equal(averaged[0].weight, seen[0])
    assert not torch.allclose(averaged[0].weight, plain[0].weight)


def test_a_folder_of_other_settings_is_refused(tmp_path):
    train(a_model(), BATCHES, loss, RECIPE, tmp_path, evaluate, "score")
    with pytest.raises(ValueError, match="other settings"):
        train(a_model(), BATCHES, loss, TrainingConfig(learning_rate=0.1), tmp_path, evaluate, "score")


def test_a_loss_that_is_not_finite_stops_the_run(tmp_path):
    with pytest.raises(FloatingPointError, match="step 1"):
        train(a_model(), [torch.full((1, 3), float("nan"))], loss, RECIPE, tmp_path, evaluate, "score")


def test_interrupted_within_a_step_it_ends_after_it_with_a_checkpoint(tmp_path):
    expected = train(a_model(), BATCHES, loss, RECIPE, tmp_path / "whole", evaluate, "score")
    seen = []

    def interrupted(model, batch):
        seen.append(batch)
        if len(seen) == 7:
            signal.raise_signal(signal.SIGINT)
        return loss(model, batch)

    with pytest.raises(KeyboardInterrupt):
        train(a_model(), BATCHES, interrupted, RECIPE, tmp_path / "stopped", evaluate, "score")
    assert len(read_history(tmp_path / "stopped").losses) == 7
    assert train(a_model(), BATCHES, loss, RECIPE, tmp_path / "stopped", evaluate, "score") == expected
    assert read_history(tmp_path / "stopped") == read_history(tmp_path / "whole")


def test_interrupted_within_an_evaluation_it_begins_with_that(tmp_path):
    expected = train(a_model(), BATCHES, loss, RECIPE, tmp_path / "whole", evaluate, "score")

    def interrupted(model):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(a_model(), BATCHES, loss, RECIPE, tmp_path / "stopped", interrupted, "score")
    assert train(a_model(), BATCHES, loss, RECIPE, tmp_path / "stopped", evaluate, "score") == expected


def test_interrupted_before_the_first_step_it_can_be_begun(tmp_path):
    expected = train(a_model(), BATCHES, loss, RECIPE, tmp_path / "whole", evaluate, "score")

    def interrupted(model, batch):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(a_model(), BATCHES, interrupted, RECIPE, tmp_path / "stopped", evaluate, "score")
    assert train(a_model(), BATCHES, loss, RECIPE, tmp_path / "stopped", evaluate, "score") == expected


def without_dropout() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1))


def test_accumulated_batches_are_one_larger_batch(tmp_path):
    large = [torch.cat(BATCHES[at : at + 3]) for at in range(0, 12, 3)]
    one, other = without_dropout(), without_dropout()
    train(one, large, loss, RECIPE, tmp_path / "large", evaluate, "score")
    train(other, BATCHES, loss, replace(RECIPE, accumulate=3), tmp_path / "parts", evaluate, "score")
    assert read_history(tmp_path / "parts").losses == pytest.approx(read_history(tmp_path / "large").losses)
    for name, tensor in one.state_dict().items():
        assert torch.allclose(tensor, other.state_dict()[name], atol=1e-3)


@pytest.mark.parametrize(("accumulate", "steps"), [(1, 12), (5, 3), (12, 1), (100, 1)])
def test_the_last_step_may_have_fewer_batches(tmp_path, accumulate, steps):
    recipe = replace(RECIPE, accumulate=accumulate, evaluate_at=(1.0,))
    train(a_model(), BATCHES, loss, recipe, tmp_path, evaluate, "score")
    history = read_history(tmp_path)
    assert (history.steps, len(history.losses), history.evaluations[-1]["step"]) == (steps, steps, steps)


def test_accumulating_it_resumes_to_the_same_weights(tmp_path):
    recipe = replace(RECIPE, accumulate=2, checkpoint_every=2)
    whole, resumed = a_model(), a_model()
    expected = train(whole, BATCHES, loss, recipe, tmp_path / "whole", evaluate, "score")
    seen = []

    def killed(model, batch):
        seen.append(batch)
        if len(seen) == 10:  # the second of the two batches of step 5
            raise MemoryError
        return loss(model, batch)

    with pytest.raises(MemoryError):
        train(a_model(), BATCHES, killed, recipe, tmp_path / "stopped", evaluate, "score")
    assert train(resumed, BATCHES, loss, recipe, tmp_path / "stopped", evaluate, "score") == expected
    for name, tensor in whole.state_dict().items():
        assert torch.equal(tensor, resumed.state_dict()[name])


def test_a_checkpoint_that_does_not_know_of_accumulation_is_gone_on_with(tmp_path):
    expected = train(a_model(), BATCHES, loss, RECIPE, tmp_path, evaluate, "score")
    path = tmp_path / "checkpoint.safetensors"
    run = read_run(path)
    del run["recipe"]["accumulate"]
    save_file(load_file(path), path, metadata={"run": json.dumps(run)})
    assert train(a_model(), BATCHES, loss, RECIPE, tmp_path, evaluate, "score") == expected
    with pytest.raises(ValueError, match="other settings"):
        train(a_model(), BATCHES, loss, replace(RECIPE, accumulate=2), tmp_path, evaluate, "score")


def test_a_step_of_no_batch_is_refused():
    with pytest.raises(ValueError, match="accumulate must be 1 or more, not 0"):
        TrainingConfig(accumulate=0)


@pytest.mark.parametrize("settings", [{"layer_decay": 0.0}, {"layer_decay": 1.1}, {"average": 1.0}])
def test_decays_that_are_none_are_refused(settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        TrainingConfig(**settings)


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
    run = read_run(path)
    del run["start"]
    save_file(load_file(path), path, metadata={"run": json.dumps(run)})
    assert train(a_model(), BATCHES, loss, RECIPE, tmp_path, evaluate, "score") == expected


def falling_from(*scores):
    """An evaluation that gives these, one after the other, and the last one from then on."""
    left = list(scores)
    return lambda model: {"score": left.pop(0) if len(left) > 1 else left[0]}


PATIENT = replace(RECIPE, evaluate_at=evenly(6), patience=2)


@pytest.mark.parametrize(
    ("scores", "ends"),
    [((1.0, 2.0, 1.5, 1.5), 8), ((1.0, 1.0), 6), ((1.0, 2.0, 1.0, 3.0, 2.0, 2.0), 12), ((2.0, 1.0, 1.0), 6)],
)
def test_evaluations_without_a_better_figure_end_the_run(tmp_path, scores, ends):
    evaluations = train(a_model(), BATCHES, loss, PATIENT, tmp_path, falling_from(*scores), "score")
    assert (evaluations[-1]["step"], read_history(tmp_path).steps) == (ends, 12)


def test_a_run_that_ended_early_has_ended_when_it_is_resumed(tmp_path):
    whole, resumed = a_model(), a_model()
    expected = train(whole, BATCHES, loss, PATIENT, tmp_path, falling_from(3.0, 2.0), "score")
    assert train(resumed, BATCHES, loss, PATIENT, tmp_path, falling_from(9.0), "score") == expected
    assert torch.equal(resumed[0].weight, whole[0].weight)


def test_a_run_that_is_patient_resumes_to_the_same_end(tmp_path):
    scores = {2: 1.0, 4: 3.0, 6: 2.0, 8: 2.0}
    seen = []

    def scored(model):
        seen.append(model)
        return {"score": scores[2 * len(seen)]}

    def interrupted(progress):
        if progress.step == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(a_model(), BATCHES, loss, PATIENT, tmp_path, scored, "score", interrupted)
    evaluations = train(a_model(), BATCHES, loss, PATIENT, tmp_path, scored, "score")
    assert [figures["step"] for figures in evaluations] == [2, 4, 6, 8]


def test_what_the_loss_depends_on_makes_another_run(tmp_path):
    train(a_model(), BATCHES, loss, RECIPE, tmp_path, evaluate, "score", beside={"teachers": ["a"]})
    train(a_model(), BATCHES, loss, RECIPE, tmp_path, evaluate, "score", beside={"teachers": ["a"]})
    for beside in ({"teachers": ["b"]}, None):
        with pytest.raises(ValueError, match="other settings"):
            train(a_model(), BATCHES, loss, RECIPE, tmp_path, evaluate, "score", beside=beside)


def test_no_patience_below_nothing():
    with pytest.raises(ValueError, match="patience must be 0 or more, not -1"):
        TrainingConfig(patience=-1)
