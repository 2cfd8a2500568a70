"""`train cross-encoder` and `train colbert` hand on what they are told, and tell how it went."""

from __future__ import annotations

import json

import pytest
from made_ranking import PLAIN, SCORED
from made_training import BATCHES, RECIPE, a_model, evaluate, loss

from spanwise.corpora.ranking_examples import write_ranking_examples
from spanwise.models.training import TrainingConfig, train
from spanwise.pipelines.training import train_cross_encoder, train_student
from spanwise.pipelines.training.record import write_record
from spanwise.retrieval.training.cross_encoder import CrossEncoderRecipe
from spanwise.retrieval.training.student import StudentRecipe

ARGUMENTS = ("--lists", "lists", "--validation", "held", "--out", "out")


@pytest.fixture
def trainer(monkeypatch, tmp_path):
    """Puts a small run in the place of both trainers; the list holds what each was called with."""
    called = []

    def small(examples, held_out, out, recipe, start, limit, precision, report):
        called.append((list(examples), list(held_out), recipe, start, limit, precision))
        evaluations = train(a_model(), BATCHES, loss, RECIPE, out / "run", evaluate, "score", report)
        write_record(out, recipe, {}, precision, evaluations)
        return evaluations

    monkeypatch.setattr(train_cross_encoder, "train_cross_encoder", small)
    monkeypatch.setattr(train_student, "train_student", small)
    write_ranking_examples(tmp_path / "lists", SCORED)
    write_ranking_examples(tmp_path / "held", PLAIN)
    return called


@pytest.mark.parametrize(
    ("verb", "start", "recipe"),
    [("cross-encoder", "reader", CrossEncoderRecipe()), ("colbert", "base", StudentRecipe())],
)
def test_without_options_the_recipe_is_the_default_one(run, trainer, verb, start, recipe):
    code, out, err = run("train", verb, *ARGUMENTS, "--json")
    assert code == 0, err
    assert [figures["step"] for figures in json.loads(out)["evaluations"]] == [6, 12]
    assert trainer == [(SCORED, PLAIN, recipe, start, None, "int8")]


def test_the_settings_of_a_student_are_handed_on(run, trainer):
    code, out, err = run(
        *("train", "colbert", *ARGUMENTS, "--loss", "margin-mse", "--temperature", 4, "--limit", 2),
        *("--student-temperature", 0.5, "--dense-temperature", 0.1, "--labels", 0.2, "--dense", 0),
        *("--epochs", 2, "--negatives", 7, "--learning-rate", 3e-4, "--batch-tokens", 1024),
        *("--accumulate", 4, "--max-length", 128, "--frozen-layers", 2, "--seed", 5, "--start", "builtin"),
        *("--precision", "int4"),
    )
    assert code == 0, err
    assert out.splitlines()[1].split()[:2] == ["step", "12"]
    loop = TrainingConfig(learning_rate=3e-4, seed=5, accumulate=4, evaluate_at=(0.5, 1.0))
    recipe = StudentRecipe(loop, 2, 7, 1024, 128, "margin-mse", 0.5, 0.1, 4.0, 0.2, 0.0, 2)
    assert trainer[0][2:] == (recipe, "builtin", 2, "int4")


def test_lists_without_scores_need_no_teacher_for_labels_alone(run, trainer, tmp_path):
    write_ranking_examples(tmp_path / "lists", PLAIN)
    code, _, err = run("train", "colbert", *ARGUMENTS)
    assert (code, "spanwise train scores --lists lists" in err) == (2, True)
    assert run("train", "colbert", *ARGUMENTS, "--loss", "labels")[0] == 0
    assert trainer[0][2].distil == "none"


def test_interrupted_it_says_how_far_it_is_and_draws_it(run, monkeypatch, trainer, tmp_path):
    def stopped(examples, held_out, out, recipe, start, limit, precision, report):
        def stop(progress):
            if progress.step == 3:
                raise KeyboardInterrupt

        return train(a_model(), BATCHES, loss, RECIPE, out / "run", evaluate, "score", stop)

    monkeypatch.setattr(train_student, "train_student", stopped)
    code, out, err = run("train", "colbert", *ARGUMENTS)
    assert (code, out) == (130, "")
    assert "3 of 12 steps, loss" in err
    assert "the same command goes on" in err


def test_interrupted_before_it_began_it_says_so_alone(run, monkeypatch, trainer, tmp_path):
    def stopped(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(train_student, "train_student", stopped)
    code, _, err = run("train", "colbert", *ARGUMENTS)
    assert (code, err.count("\n"), (tmp_path / "out").exists()) == (130, 1, False)


@pytest.mark.parametrize("verb", ["reader", "negatives", "cross-encoder", "scores", "colbert", "convert"])
def test_every_verb_has_help_with_an_example(run, verb):
    code, out, _ = run("train", verb, "-h")
    assert (code, f"spanwise train {verb}" in " ".join(out.split("Example:")[1].split())) == (0, True)


@pytest.mark.parametrize("option", [("--loss", "mse"), ("--temperature", "0"), ("--accumulate", "0")])
def test_wrong_usage_is_named(run, trainer, option):
    code, _, err = run("train", "colbert", *ARGUMENTS, *option)
    assert (code, option[0] in err, err.count("\n")) == (2, True, 1)
