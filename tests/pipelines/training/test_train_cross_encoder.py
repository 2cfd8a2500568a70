"""`train cross-encoder` from lists to a folder, in one go or interrupted."""

from __future__ import annotations

import json

import pytest
from safetensors import safe_open
from safetensors.torch import load_file
from tiny_students import HELD_OUT, THINGS, lists_of

from spanwise.models.load import tuned_backbone
from spanwise.models.training import TrainingConfig
from spanwise.pipelines.training.record import RECORD
from spanwise.pipelines.training.train_cross_encoder import DELTA, train_cross_encoder
from spanwise.retrieval.training.cross_encoder import CrossEncoderRecipe
from spanwise.types import RankingExample

pytestmark = pytest.mark.usefixtures("_light")
LOOP = TrainingConfig(learning_rate=1e-4, evaluate_at=(1.0,), checkpoint_every=2)
RECIPE = CrossEncoderRecipe(LOOP, negatives=2, batch_tokens=300)
EXAMPLES, KEPT = lists_of(THINGS[:6]), lists_of(HELD_OUT[:2])


def test_an_interrupted_run_resumes_to_the_same_losses_and_weights(tmp_path):
    expected = train_cross_encoder(EXAMPLES, KEPT, tmp_path / "whole", RECIPE)

    def stop(progress):
        if progress.step == progress.steps - 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_cross_encoder(EXAMPLES, KEPT, tmp_path / "stopped", RECIPE, report=stop)
    assert not (tmp_path / "stopped" / DELTA).exists()
    assert train_cross_encoder(EXAMPLES, KEPT, tmp_path / "stopped", RECIPE) == expected
    assert losses(tmp_path / "stopped") == losses(tmp_path / "whole")
    whole, resumed = (load_file(tmp_path / run / DELTA) for run in ("whole", "stopped"))
    assert {name: tensor.tolist() for name, tensor in whole.items()} == {
        name: tensor.tolist() for name, tensor in resumed.items()
    }


def losses(out):
    with safe_open(out / "run" / "checkpoint.safetensors", framework="pt") as file:
        return json.loads(file.metadata()["run"])["losses"]


def test_a_folder_is_written_and_says_how_it_was_made(tmp_path):
    evaluations = train_cross_encoder(EXAMPLES, KEPT, tmp_path, RECIPE, start="base", limit=4)
    assert [set(figures) for figures in evaluations] == [{"step", "mrr", "first"}]
    record = json.loads((tmp_path / RECORD).read_text(encoding="utf-8"))
    assert (record["start"], record["lists"], record["evaluations"]) == ("base", 4, evaluations)
    assert record["recipe"]["loop"]["learning_rate"] == 1e-4
    _, added = tuned_backbone(tmp_path / DELTA)
    assert {name: tuple(tensor.shape) for name, tensor in added.items()} == {
        "head.weight": (1, 384),
        "head.bias": (1,),
    }


def test_fewer_bits_make_a_smaller_file_of_the_same_run(tmp_path):
    evaluations = train_cross_encoder(EXAMPLES, KEPT, tmp_path, RECIPE, start="base")
    whole = (tmp_path / DELTA).stat().st_size
    assert train_cross_encoder(EXAMPLES, KEPT, tmp_path, RECIPE, "base", None, "int4") == evaluations
    assert (tmp_path / DELTA).stat().st_size < 0.6 * whole
    assert json.loads((tmp_path / RECORD).read_text(encoding="utf-8"))["precision"] == "int4"


def test_what_nothing_can_be_learned_from_is_refused(tmp_path):
    with pytest.raises(ValueError, match="start must be one of"):
        train_cross_encoder(EXAMPLES, KEPT, tmp_path, RECIPE, start="nowhere")
    with pytest.raises(ValueError, match="none of 1 lists"):
        train_cross_encoder([RankingExample("q", ("p",))], KEPT, tmp_path, RECIPE, start="base")
