"""`train colbert` from scored lists to the folder of a student, in one go or interrupted."""

from __future__ import annotations

import json

import numpy as np
import pytest
from safetensors import safe_open
from tiny_students import HELD_OUT, THINGS, lists_of

from spanwise.models.student import load_student
from spanwise.models.token_encoder import load_token_encoder
from spanwise.models.training import TrainingConfig
from spanwise.pipelines.training.record import RECORD
from spanwise.pipelines.training.train_student import train_student
from spanwise.retrieval.training.student import StudentRecipe
from spanwise.types import RankingExample

pytestmark = pytest.mark.usefixtures("_light")
LOOP = TrainingConfig(learning_rate=1e-4, evaluate_at=(1.0,), checkpoint_every=2)
RECIPE = StudentRecipe(LOOP, negatives=2, batch_tokens=300)
EXAMPLES, KEPT = lists_of(THINGS[:6]), lists_of(HELD_OUT[:2])


def losses(out):
    with safe_open(out / "run" / "checkpoint.safetensors", framework="pt") as file:
        return json.loads(file.metadata()["run"])["losses"]


def test_an_interrupted_run_resumes_to_the_same_losses_and_student(tmp_path):
    expected = train_student(EXAMPLES, KEPT, tmp_path / "whole", RECIPE)

    def stop(progress):
        if progress.step == progress.steps - 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_student(EXAMPLES, KEPT, tmp_path / "stopped", RECIPE, report=stop)
    assert train_student(EXAMPLES, KEPT, tmp_path / "stopped", RECIPE) == expected
    assert losses(tmp_path / "stopped") == losses(tmp_path / "whole")
    whole, resumed = (load_student(tmp_path / run) for run in ("whole", "stopped"))
    assert whole.projection.weight.tolist() == resumed.projection.weight.tolist()
    assert whole.settings == resumed.settings


def test_the_folder_says_how_it_was_made_and_is_searched_with(tmp_path):
    evaluations = train_student(EXAMPLES, KEPT, tmp_path / "first", RECIPE, limit=4)
    names = {"step", "mrr", "first", "dense_mrr", "dense_first"}
    assert [set(figures) for figures in evaluations] == [names]
    record = json.loads((tmp_path / "first" / RECORD).read_text(encoding="utf-8"))
    assert (record["start"], record["lists"], record["evaluations"]) == ("base", 4, evaluations)
    [vectors] = load_token_encoder(str(tmp_path / "first")).encode_questions(["Who built the mill?"])
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-2)
    again = train_student(EXAMPLES, KEPT, tmp_path / "second", RECIPE, start=str(tmp_path / "first"))
    assert again[0]["mrr"] >= 0


def test_lists_without_scores_are_refused_when_a_teacher_is_followed(tmp_path):
    with pytest.raises(ValueError, match="no teacher's scores"):
        train_student([RankingExample("q", ("p", "n"))], KEPT, tmp_path, RECIPE)
