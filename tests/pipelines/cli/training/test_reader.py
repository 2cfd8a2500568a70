"""`train reader` hands on what it is told."""

from __future__ import annotations

import pytest
from made_training import BATCHES, RECIPE, a_model, evaluate, loss
from small_squad import small_squad, written

from spanwise.models.training import Recipe, train
from spanwise.pipelines.training import train_reader
from spanwise.pipelines.training.record import write_record
from spanwise.reader.training import ReaderRecipe


@pytest.fixture
def trainer(monkeypatch, tmp_path):
    """Puts a small run in the place of the trainer; the list holds what it was called with."""
    called = []

    def small(datasets, out, recipe, limit, precision, start, absent, report, **chosen):
        called.append((len(datasets), recipe, limit, precision, start, absent, chosen))
        evaluations = train(a_model(), BATCHES, loss, RECIPE, out / "run", evaluate, "score", report)
        write_record(out, recipe, {}, precision, evaluations)
        return evaluations

    monkeypatch.setattr(train_reader, "train_reader", small)
    written(tmp_path / "train.json", small_squad("1.1"))
    return called


def test_without_options_the_recipe_is_the_default_one(run, trainer):
    code, _, err = run("train", "reader", "--data", "train.json", "--out", "out")
    assert code == 0, err
    chosen = {"base": "base"}
    assert trainer == [(1, ReaderRecipe(), None, "int8", "base", train_reader.ABSENT, chosen)]


def test_its_settings_are_handed_on(run, trainer):
    code, _, err = run(
        *(
            "train",
            "reader",
            "--data",
            "train.json",
            "--out",
            "out",
            "--start",
            "builtin",
        ),
        *("--absent", "names=0.2", "--absent", "figures=0.1", "--limit", 9, "--epochs", 2),
        *("--learning-rate", 1e-4, "--layer-decay", 0.9, "--average", 0.999, "--batch-tokens", 1024),
        *("--accumulate", 2, "--max-length", 384, "--precision", "int4", "--seed", 3),
    )
    assert code == 0, err
    loop = Recipe(learning_rate=1e-4, seed=3, accumulate=2, layer_decay=0.9, average=0.999)
    recipe = ReaderRecipe(loop, 2, batch_tokens=1024, max_length=384)
    shares = {"names": 0.2, "figures": 0.1}
    assert trainer[0][:6] == (1, recipe, 9, "int4", "builtin", shares)


def test_base_and_patience_are_handed_on(run, trainer):
    code, _, err = run(
        *("train", "reader", "--data", "train.json", "--out", "out", "--base", "mine"),
        *("--evaluations", 4, "--patience", 2),
    )
    assert code == 0, err
    loop = Recipe(evaluate_at=(0.25, 0.5, 0.75, 1.0), patience=2)
    assert trainer[0][1] == ReaderRecipe(loop)
    assert trainer[0][6] == {"base": "mine"}


def test_a_share_that_is_no_number_is_wrong_usage(run, trainer):
    code, _, err = run("train", "reader", "--data", "train.json", "--out", "out", "--absent", "figures")
    assert (code, "KIND=SHARE" in err, trainer) == (2, True, [])
