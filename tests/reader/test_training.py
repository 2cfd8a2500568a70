"""Fine-tuning a tiny reader: losses by hand, windows and batches, and what it learns of a group."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from helpers.tiny_models import tiny_encoder, tiny_mpnet, tiny_span_model

from spanwise.corpora.sentences import sentence_spans
from spanwise.models.batching import PackedTokens
from spanwise.models.bert import BertSpanModel
from spanwise.models.load import load_span_model
from spanwise.models.model_files import find_base
from spanwise.models.numpy_bert import EVIDENCE_HEAD, EVIDENCE_OUTPUTS
from spanwise.models.tokenizer import load_tokenizer, special_tokens
from spanwise.models.training import TrainingConfig, own_memory
from spanwise.reader.span_reader import SpanScores
from spanwise.reader.spans import assemble
from spanwise.reader.training import (
    RECIPES,
    ReaderExample,
    ReaderTrainingConfig,
    fine_tune,
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
    model = load_span_model(tiny_span_model(tmp_path / "model"))
    tokenizer = load_tokenizer(find_base())
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


def test_a_group_teaches_which_passage_answers_and_with_which_sentence(tmp_path):
    loop = TrainingConfig(learning_rate=1e-2, evaluate_at=(1.0,))
    recipe = ReaderTrainingConfig(loop=loop, epochs=60, batch_tokens=128)
    model, _ = trained(tmp_path, [GROUP], recipe, evidence=True)
    tokenizer = load_tokenizer(find_base())
    [rows] = training_groups([GROUP], tokenizer, 3, ReaderTrainingConfig(), sentence_spans)
    batch = assemble([row.ids for row in rows], special_tokens(tokenizer))
    arrays = (batch.input_ids, batch.attention_mask, batch.token_type_ids)
    logits = np.zeros((*batch.input_ids.shape, 2 + len(EVIDENCE_OUTPUTS)), np.float32)
    logits[batch.attention_mask > 0] = SpanScores(model)(PackedTokens.of_padded(*arrays))
    evidence = logits[..., 2:]
    first, *others = evidence[:, 0, 1].tolist()
    assert first > 0 > max(others)
    left, right = rows[0].support
    sentence = evidence[0, batch.shift[0] + left : batch.shift[0] + right + 1]
    assert sentence[:, 0].min() > 0
    assert sentence[:, 2].mean() < 0 < sentence[:, 4].mean()


def test_training_ends_after_the_tokens_that_the_recipe_names(tmp_path):
    _, losses = trained(tmp_path, EXAMPLES, replace(RECIPE, tokens=600))
    assert len(losses) == 6  # of two inputs of some 60 tokens each


def test_the_shared_loss_is_added_with_its_weight(tmp_path):
    loss = {}
    for weight in (0.0, 1.0, 2.0):
        recipe = replace(RECIPE, tokens=1, batch_tokens=4096, shared=weight)
        _, [loss[weight]] = trained(tmp_path / str(weight), [GROUP, *EXAMPLES[:2]], recipe, evidence=True)
    assert loss[1.0] > loss[0.0]
    assert loss[2.0] - loss[1.0] == pytest.approx(loss[1.0] - loss[0.0], rel=1e-2)


@pytest.mark.parametrize("plain", [tiny_encoder, tiny_mpnet])
def test_a_plain_encoder_gets_both_heads_and_keeps_its_lowest_layers(tmp_path, plain):
    folder = plain(tmp_path / "model")
    torch.manual_seed(0)
    before = load_span_model(folder).state_dict()
    torch.manual_seed(0)
    after = load_span_model(folder)
    assert isinstance(after, BertSpanModel)  # without transformers
    assert not hasattr(after, EVIDENCE_HEAD)
    recipe = replace(RECIPES["lists"], loop=RECIPE.loop, epochs=4, frozen_layers=1, max_length=64)
    fine_tune(
        own_memory(after),
        load_tokenizer(folder),
        [GROUP],
        recipe,
        tmp_path / "run",
        lambda model: {"f1": 0.0},
        evidence=True,
    )
    changed = {
        name
        for name, tensor in after.state_dict().items()
        if not torch.equal(tensor, before.get(name, tensor))
    }
    assert f"{EVIDENCE_HEAD}.weight" in after.state_dict()
    assert changed
    assert all("layer.1." in name or name.startswith("qa_outputs") for name in changed)
