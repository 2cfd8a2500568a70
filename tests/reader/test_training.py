"""Fine-tuning a tiny reader on five sentences: it learns, and learns the same twice."""

from __future__ import annotations

import numpy as np
import torch
from tiny_models import tiny_span_model

from spanwise.models.locate import find_base
from spanwise.models.pretrained import load_span_model, load_tokenizer
from spanwise.models.training import Recipe
from spanwise.reader.training import ReaderExample, ReaderRecipe, fine_tune, plan_batches, training_rows

PASSAGE = "The mill was built by Ada Rook. " + "It stands by the weir. " * 40
EXAMPLES = [ReaderExample(f"q{i}", f"Who built mill {i}?", PASSAGE, 22, 30, "Mill") for i in range(8)] + [
    ReaderExample("n", "Who sold it?", PASSAGE, None, None, "Mill")
]
RECIPE = ReaderRecipe(
    loop=Recipe(learning_rate=1e-2, evaluate_at=(1.0,)), epochs=10, batch_tokens=256, max_length=64
)


def trained(folder, tmp):
    model, tokenizer = load_span_model(tiny_span_model(tmp)), load_tokenizer(find_base())
    losses = []
    fine_tune(
        model, tokenizer, EXAMPLES, RECIPE, folder, lambda m: {"f1": 0.0}, lambda p: losses.append(p.loss)
    )
    return model, losses


def test_the_loss_falls_and_word_embeddings_stay(tmp_path):
    before = load_span_model(tiny_span_model(tmp_path / "model"))
    model, losses = trained(tmp_path / "run", tmp_path / "model")
    assert losses[-1] < losses[0] - 1
    name = "bert.embeddings.word_embeddings.weight"
    assert torch.equal(model.state_dict()[name], before.state_dict()[name])


def test_two_runs_are_equal(tmp_path):
    one, _ = trained(tmp_path / "1", tmp_path / "model")
    two, _ = trained(tmp_path / "2", tmp_path / "model")
    assert all(
        torch.equal(a, b) for a, b in zip(one.state_dict().values(), two.state_dict().values(), strict=True)
    )


def test_a_window_of_a_long_passage_holds_the_answer():
    tokenizer = load_tokenizer(find_base())
    rows = training_rows(EXAMPLES, tokenizer, 3, RECIPE)
    gold = tokenizer("Ada Rook", add_special_tokens=False)["input_ids"]
    for row in rows:
        assert len(row.question) + len(row.window) + 3 <= 64
        if row.first is not None:
            assert row.window[row.first : row.last + 1].tolist() == gold


def test_every_row_is_in_one_batch():
    rows = training_rows(EXAMPLES, load_tokenizer(find_base()), 3, RECIPE)
    batches = plan_batches(rows, 3, RECIPE)
    assert np.sort(np.concatenate(batches)).tolist() == list(range(len(rows)))
