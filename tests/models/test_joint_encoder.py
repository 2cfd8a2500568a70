"""One go through a transformer gives the vectors that two encoders give, for models that share one."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from made_students import student

from spanwise.models.dual_encoder import load_encoder
from spanwise.models.encoder import TextEncoder
from spanwise.models.joint_encoder import JointEncoder, joined
from spanwise.models.locate import find_base
from spanwise.models.token_encoder import load_token_encoder

TEXTS = ["a mill", "The brewery, by the harbour: was founded by two sisters.", "word " * 700, "", "-", "q"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return str(student(tmp_path_factory.mktemp("student")))


@pytest.fixture(scope="module")
def untuned(tmp_path_factory):
    """A layer behind the base as it is."""
    return str(student(tmp_path_factory.mktemp("untuned"), dense=False, tuned=False))


@cache
def dense_of(name):
    return load_encoder(name, device="cpu")


@cache
def tokens_of(name):
    return load_token_encoder(name, device="cpu")


def pair(dense, tokens):
    return dense_of(dense), tokens_of(tokens)


def assert_equal(joint, dense, tokens, texts):
    found = joint.encode_passages(texts)
    vectors, lengths = tokens.encode_passages(texts)
    assert found.lengths.tolist() == lengths.tolist()
    assert (found.tokens * vectors).sum(axis=1).min(initial=1) >= 0.9999
    assert (found.dense * dense.encode_passages(texts)).sum(axis=1).min(initial=1) >= 0.9999
    assert joint.covered(texts).tolist() == dense.covered(texts).tolist()


@pytest.mark.parametrize("texts", [TEXTS, []])
def test_the_base_and_a_layer_behind_it_share_a_go(texts, untuned):
    dense, tokens = pair("base", untuned)
    joint = joined(dense, tokens)
    assert joint.dense_digest == dense.digest
    assert_equal(joint, dense, tokens, texts)


def test_the_heads_of_a_student_share_a_go(folder):
    dense, tokens = pair(folder, folder)
    joint = joined(dense, tokens)
    assert joint.dense_digest == dense.digest != dense.passage.digest
    assert_equal(joint, dense, tokens, TEXTS)


def test_the_builtin_models_share_a_go():
    dense, tokens = pair("dpr", "builtin")
    assert_equal(joined(dense, tokens), dense, tokens, TEXTS)


def test_windows_and_batches_keep_the_order_and_count(folder, monkeypatch):
    monkeypatch.setattr("spanwise.models.batched_encoder.WINDOW", 4)
    dense, tokens = pair(folder, folder)
    joint, told = joined(dense, tokens), []
    joint.batcher.budget = 32
    texts = [f"the mill {'word ' * (7 * i % 11)}" for i in range(10)]
    found = joint.encode_passages(texts, told.append)
    assert (found.dense * dense.encode_passages(texts)).sum(axis=1).min() >= 0.9999
    assert (found.tokens * tokens.encode_passages(texts)[0]).sum(axis=1).min() >= 0.9999
    assert told == sorted(told)
    assert told[-1] == 10


def test_another_process_can_encode_the_rows(folder):
    dense, tokens = pair(folder, folder)
    rows = tokens.passages.of(TEXTS)
    there = JointEncoder.of_towers(dense.passage.tower, tokens.tower, "cpu")
    assert there.dense.trunk is there.trunk
    assert np.allclose(joined(dense, tokens).encode_rows(rows), there.encode_rows(rows), atol=1e-3)


def test_other_transformers_limits_and_prompts_share_nothing(folder, untuned, tmp_path):
    short = str(student(tmp_path / "short", max_length=64))
    base = str(find_base())  # the same weights, cut at 256 tokens
    for names in (("base", folder), (folder, "builtin"), (folder, short), (base, untuned)):
        assert joined(*pair(*names)) is None


def test_other_encoders_share_nothing(untuned):
    dense, tokens = pair("base", untuned)
    assert joined(dense, object()) is joined(object(), tokens) is None
    made_by_hand = TextEncoder(dense.model, dense.tokenizer, "mean", "digest")
    assert joined(made_by_hand, tokens) is None
