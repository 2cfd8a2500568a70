"""Fine-tuning a tiny reader: losses by hand, windows and batches, and that it learns the same twice."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from tiny_models import tiny_span_model

from spanwise.corpora.sentences import sentence_spans
from spanwise.models.load import load_span_model, load_tokenizer
from spanwise.models.locate import find_base
from spanwise.models.training import TrainingConfig
from spanwise.reader.span_reader import SpanReader
from spanwise.reader.training import (
    ReaderExample,
    ReaderTrainingConfig,
    fine_tune,
    sentence_loss,
    span_loss,
    training_rows,
)
from spanwise.types import Passage

PASSAGE = "The mill was built by Ada Rook. " + "It stands by the weir. " * 40
EXAMPLES = [ReaderExample(f"q{i}", f"Who built mill {i}?", PASSAGE, 22, 30, "Mill") for i in range(8)] + [
    ReaderExample("n", "Who sold it?", PASSAGE, None, None, "Mill")
]
RECIPE = ReaderTrainingConfig(
    loop=TrainingConfig(learning_rate=1e-2, evaluate_at=(1.0,)), epochs=10, batch_tokens=256, max_length=64
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


def test_a_window_of_a_long_passage_holds_the_answer():
    tokenizer = load_tokenizer(find_base())
    rows = training_rows(EXAMPLES, tokenizer, 3, RECIPE)
    gold = tokenizer("Ada Rook", add_special_tokens=False)["input_ids"]
    for row in rows:
        assert len(row.question) + len(row.window) + 3 <= 64
        if row.first is not None:
            assert row.window[row.first : row.last + 1].tolist() == gold


@pytest.mark.parametrize(
    ("allowed", "p"), [(range(15), 0.446807), (range(8, 15), 0.900987), ([0, *range(8, 15)], 0.886360)]
)
def test_r11_range_of_the_softmax(allowed, p):
    logits = torch.zeros(1, 15)
    logits[0, [3, 12]] = 4
    mask = torch.zeros(1, 15, dtype=torch.bool)
    mask[0, list(allowed)] = True
    gold = torch.tensor([12])
    loss = float(span_loss(logits, logits, mask, gold, gold))
    assert torch.tensor(-loss / 2).exp() == pytest.approx(p, abs=1e-5)


TEXT = "It stands by the weir. The mill was built by Ada Rook. It has two wheels. Nobody lives there now."
AT = TEXT.index("Ada")
GOLD = ReaderExample("a", "Who built the mill?", TEXT, AT, AT + 8, "Mill")
ABSENT = ReaderExample("b", "Who sold the tram?", TEXT, None, None, "Mill")
HEAD_RECIPE = ReaderTrainingConfig(
    loop=TrainingConfig(learning_rate=1e-2, evaluate_at=(1.0,)),
    epochs=60,
    batch_tokens=128,
    sentence_weight=1.0,
)


def test_the_loss_is_that_of_a_softmax_over_mean_scores():
    logits = torch.tensor([[0.5, 1.0, 3.0, -1.0], [0.25, 2.0, 0.0, 0.0]])
    ranges = [np.array([[1, 3], [3, 4]], np.int32), np.array([[1, 2]], np.int32)]
    rows = [(0.5, 2.0, -1.0), (0.25, 2.0)]
    expected = [
        -math.log(math.exp(row[i]) / sum(map(math.exp, row))) for row, i in zip(rows, (1, 0), strict=True)
    ]
    loss = sentence_loss(logits, ranges, 0, [0, None])
    assert float(loss) == pytest.approx(sum(expected) / 2, abs=1e-6)


def trained_head(tmp_path) -> SpanReader:
    model, tokenizer = load_span_model(tiny_span_model(tmp_path / "model")), load_tokenizer(find_base())
    fine_tune(
        model,
        tokenizer,
        [GOLD, ABSENT],
        HEAD_RECIPE,
        tmp_path / "run",
        lambda model: {"f1": 0.0},
        split=sentence_spans,
    )
    return SpanReader(model, tokenizer, "trained", split=sentence_spans)


def test_a_trained_head_finds_the_sentence_and_says_when_there_is_none(tmp_path):
    reader = trained_head(tmp_path)
    passage = Passage(1, "d", 0, len(TEXT), TEXT)
    [found], [absent] = reader.read([GOLD.question, ABSENT.question], [[passage], [passage]], 8)
    best = max(found, key=lambda span: span.sentence_score)
    assert sentence_spans(TEXT)[1][0] <= best.span.start < sentence_spans(TEXT)[1][1]
    assert best.sentence_score > 0 > max(span.sentence_score for span in absent)
