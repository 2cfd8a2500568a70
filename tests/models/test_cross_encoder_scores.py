"""Scores of pairs are those of transformers for the same weights, in whatever batch they are computed."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tiny_models import tiny_config

from spanwise.models.cross_encoder import PAIRS_AT_ONCE, CrossEncoder, PairScorer
from spanwise.models.load import load_tokenizer
from spanwise.models.locate import find_base

QUESTIONS = ["who built the mill?", "when?", "what is it?"]
PASSAGES = [["Ada Rook built the mill.", "", "mill " * 300], [], ["It was in 1811.", "- a tram, or not"]]


@pytest.fixture(scope="module")
def network():
    from transformers import BertModel

    torch.manual_seed(0)
    return PairScorer(BertModel(tiny_config()), torch.nn.Linear(16, 1)).eval()


def scorer_of(network, **settings):
    return CrossEncoder(network, load_tokenizer(find_base()), "tiny", **settings)


def test_scores_are_those_of_transformers(network):
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(find_base())
    found = scorer_of(network, max_length=96).score(QUESTIONS, PASSAGES)
    assert [scores.shape for scores in found] == [(3,), (0,), (2,)]
    for question, passages, scores in zip(QUESTIONS, PASSAGES, found, strict=True):
        for passage, score in zip(passages, scores, strict=True):
            pair = tokenizer(question, passage, truncation="only_second", max_length=96, return_tensors="pt")
            with torch.no_grad():
                expected = float(network.head(network.trunk(**pair).last_hidden_state[:, 0]))
            assert score == pytest.approx(expected, abs=0.02)  # bf16 where that is fast


def test_a_padded_batch_scores_as_the_packed_one(network):
    encoder = scorer_of(network)
    tokens = encoder.rows.tokens_of([QUESTIONS[0], *PASSAGES[0]])
    rows = [encoder.rows.row(tokens[QUESTIONS[0]], tokens[passage]) for passage in PASSAGES[0]]
    padded = [torch.from_numpy(values) for values in encoder.rows.packed(rows).padded(0)]
    with torch.no_grad():
        scores = network(*padded).numpy()
    assert np.allclose(scores, encoder.score(QUESTIONS[:1], PASSAGES[:1])[0], atol=0.02)


def test_l8_scores_do_not_depend_on_the_batch(network):
    together = scorer_of(network).score(QUESTIONS, PASSAGES)
    encoder = scorer_of(network, batch_tokens=64)
    for question, passages, scores in zip(QUESTIONS, PASSAGES, together, strict=True):
        alone = [encoder.score([question], [[passage]])[0][0] for passage in passages]
        assert np.allclose(scores, alone, atol=0.02)


def test_it_tells_how_far_it_is(network, monkeypatch):
    monkeypatch.setattr("spanwise.models.cross_encoder.PAIRS_AT_ONCE", 2)
    heard = []
    found = scorer_of(network).score(QUESTIONS, PASSAGES, heard.append)
    assert heard == [2, 4, 5]
    assert PAIRS_AT_ONCE > 2
    assert [len(scores) for scores in found] == [3, 0, 2]


def test_no_question_has_no_scores(network):
    assert scorer_of(network).score([], []) == []


def test_questions_without_passages_of_their_own_are_refused(network):
    with pytest.raises(ValueError, match="argument"):
        scorer_of(network).score(QUESTIONS, PASSAGES[:1])
