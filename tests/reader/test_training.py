"""Fine-tuning a tiny reader: losses by hand, windows and batches, and what it learns of a group."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from tiny_models import tiny_span_model

from spanwise.corpora.sentences import sentence_spans
from spanwise.models.load import load_span_model
from spanwise.models.locate import find_base
from spanwise.models.numpy_bert import EVIDENCE_HEAD
from spanwise.models.tokenizer import load_tokenizer, special_tokens
from spanwise.models.training import TrainingConfig
from spanwise.reader.spans import assemble
from spanwise.reader.training import (
    ReaderExample,
    ReaderTrainingConfig,
    TrainingRow,
    evidence_loss,
    fine_tune,
    span_loss,
    training_groups,
)

PASSAGE = "The mill was built by Ada Rook. " + "It stands by the weir. " * 40
EXAMPLES = [ReaderExample(f"q{i}", f"Who built mill {i}?", PASSAGE, 22, 30, "Mill") for i in range(8)] + [
    ReaderExample("n", "Who sold it?", PASSAGE, None, None, "Mill")
]
RECIPE = ReaderTrainingConfig(
    loop=TrainingConfig(learning_rate=1e-2, evaluate_at=(1.0,)), epochs=10, batch_tokens=256, max_length=64
)
LABELS = (0.0, -1.0, 1.0)
TEXT = "It stands by the weir. The mill was built by Ada Rook. It has two wheels. Nobody lives there now."
OTHERS = (("Tram. ", "Ute Falk opened the tram."), ("", "The weir holds the water."))
AT = TEXT.index("Ada")
GROUP = ReaderExample("a", "Who built the mill?", TEXT, AT, AT + 8, "Mill", "Town. ", OTHERS, LABELS)


def trained(tmp_path, examples, recipe, evidence=False):
    model, tokenizer = load_span_model(tiny_span_model(tmp_path / "model")), load_tokenizer(find_base())
    losses = []
    rest = lambda m: {"f1": 0.0}, lambda p: losses.append(p.loss), sentence_spans, evidence
    fine_tune(model, tokenizer, examples, recipe, tmp_path / "run", *rest)
    return model, losses


def test_the_loss_falls_and_word_embeddings_stay(tmp_path):
    before = load_span_model(tiny_span_model(tmp_path / "before"))
    model, losses = trained(tmp_path, EXAMPLES, RECIPE)
    assert losses[-1] < losses[0] - 1
    name = "bert.embeddings.word_embeddings.weight"
    assert torch.equal(model.state_dict()[name], before.state_dict()[name])


def test_a_window_of_a_long_passage_holds_the_answer_and_its_sentence():
    tokenizer = load_tokenizer(find_base())
    for [row] in training_groups(EXAMPLES, tokenizer, 3, RECIPE, sentence_spans):
        assert sum(map(len, row.ids)) + 3 <= 64
        if row.answer:
            for text, (first, last) in (("Ada Rook", row.answer), (PASSAGE[:31], row.support)):
                gold = tokenizer(text, add_special_tokens=False)["input_ids"]
                assert row.window[first : last + 1].tolist() == gold[first - last - 1 :]


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


def test_the_loss_of_the_evidence_by_hand():
    ids = np.ones(2, np.int32)
    rows = [TrainingRow(ids, ids, ids, (1, 1), (1, 1), LABELS), TrainingRow(ids, ids, ids)]
    special = special_tokens(load_tokenizer(find_base()))
    batch = assemble([row.ids for row in rows], special)
    evidence = torch.zeros(2, batch.input_ids.shape[1], 5)
    evidence[0, 0, 1], evidence[1, 0, 1] = 2, 1
    evidence[0, int(batch.shift[0]) + 1] = torch.tensor([3.0, 9, -1, 9, 4])

    def bce(logit, sign):
        return math.log1p(math.exp(-sign * logit))

    support = (bce(3, 1) + 3 * bce(0, -1)) / 4
    passage = (bce(2, 1) + bce(1, -1)) / 2 + bce(2 - 1, 1)
    labels = 0.9 * (bce(-1, -1) + bce(4, 1)) / 2
    loss = evidence_loss(evidence, rows, batch, special.null, [2])
    assert float(loss) == pytest.approx(support + passage + labels, abs=1e-5)


def test_a_group_teaches_which_passage_answers_and_with_which_sentence(tmp_path):
    loop = TrainingConfig(learning_rate=1e-2, evaluate_at=(1.0,))
    recipe = ReaderTrainingConfig(loop=loop, epochs=60, batch_tokens=128)
    model, _ = trained(tmp_path, [GROUP], recipe, evidence=True)
    tokenizer = load_tokenizer(find_base())
    [rows] = training_groups([GROUP], tokenizer, 3, ReaderTrainingConfig(), sentence_spans)
    batch = assemble([row.ids for row in rows], special_tokens(tokenizer))
    inputs = [torch.from_numpy(one) for one in (batch.input_ids, batch.attention_mask, batch.token_type_ids)]
    with torch.no_grad():
        evidence = getattr(model, EVIDENCE_HEAD)(model.base_model(*inputs).last_hidden_state)
    first, *others = evidence[:, 0, 1].tolist()
    assert first > 0 > max(others)
    left, right = rows[0].support
    sentence = evidence[0, batch.shift[0] + left : batch.shift[0] + right + 1]
    assert sentence[:, 0].min() > 0
    assert sentence[:, 2].mean() < 0 < sentence[:, 4].mean()
