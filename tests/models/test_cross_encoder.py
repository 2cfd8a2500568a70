"""Cross-encoders over the base score pairs as transformers does, in any batch and at any length."""

import numpy as np
import pytest
import torch
from helpers.tiny_models import layer, tiny_config
from hypothesis import given, strategies as st

from spanwise.corpora.sentences import sentence_spans
from spanwise.errors import ModelNotFound, ModelRejected
from spanwise.models import cross_encoder
from spanwise.models.cross_encoder import CrossEncoder, PairRows, load_cross_encoder
from spanwise.models.load import tuned_backbone
from spanwise.models.model_files import READER, find_base, model_digest
from spanwise.models.tokenizer import load_tokenizer
from spanwise.models.weights import save_tuned
from spanwise.reader.load import load_reader
from spanwise.types import Passage

QUESTIONS = ["who built the mill?", "when?", "what is it?"]
PASSAGES = [["Ada Rook built the mill.", "", "mill " * 300], [], ["It was in 1811.", "- a tram, or not"]]
TOKENIZER = load_tokenizer(find_base())
ROWS = PairRows(TOKENIZER, 96)


@pytest.fixture(scope="module")
def network():
    from transformers import BertModel

    torch.manual_seed(0)
    return BertModel(tiny_config()).eval(), torch.nn.Linear(16, 1)


def scorer_of(network):
    return CrossEncoder(*network, TOKENIZER, "tiny")


def padded_score(network, question, passage):
    tokens = ROWS.tokens_of([question, passage])
    batch = ROWS.packed([ROWS.row(tokens[question], tokens[passage])]).padded(0)
    backbone, head = network
    with torch.no_grad():
        return float(head(backbone(*map(torch.from_numpy, batch)).last_hidden_state[:, 0]))


def test_scores_are_those_of_the_padded_network(network):
    scorer = scorer_of(network)
    scorer.rows = ROWS
    scores = scorer.score(QUESTIONS, PASSAGES)
    assert [of_question.shape for of_question in scores] == [(3,), (0,), (2,)]
    assert scores[0][0] == pytest.approx(padded_score(network, QUESTIONS[0], PASSAGES[0][0]), abs=0.02)
    assert scores[2][1] == pytest.approx(padded_score(network, QUESTIONS[2], PASSAGES[2][1]), abs=0.02)


def test_scores_do_not_depend_on_the_batch(network):
    together = scorer_of(network).score(QUESTIONS, PASSAGES)
    encoder = scorer_of(network)
    encoder.batcher.budget = 64
    for question, passages, scores in zip(QUESTIONS, PASSAGES, together, strict=True):
        alone = [encoder.score([question], [[passage]])[0][0] for passage in passages]
        assert np.allclose(scores, alone, atol=0.02)


@given(st.integers(0, 600))
def test_windows_show_every_token_and_none_is_short(n_tokens):
    question = np.arange(5, dtype=np.int32)
    passage = np.arange(1000, 1000 + n_tokens, dtype=np.int32)
    windows = ROWS.windows(question, passage)
    assert set(np.concatenate([row.ids[row.second : -1] for row in windows])) == set(passage)
    assert len(windows) == 1 or {len(row) for row in windows} == {96}


def test_progress_ends_with_all_pairs(network, monkeypatch):
    monkeypatch.setattr(cross_encoder, "PAIRS_AT_ONCE", 2)
    reports = []
    scorer_of(network).score(QUESTIONS, PASSAGES, reports.append)
    assert reports == [2, 4, 5]


def test_no_questions_have_no_scores(network):
    assert scorer_of(network).score([], []) == []


def test_a_score_that_is_not_finite_is_refused(network):
    broken = torch.nn.Linear(16, 1)
    torch.nn.init.constant_(broken.weight, torch.nan)
    with pytest.raises(ModelRejected, match="is not a finite number"):
        scorer_of((network[0], broken)).score(["who?"], [["Ada"]])


def test_the_score_of_a_reader_is_its_relevance():
    passage = Passage(0, "mill.md", 0, 21, "Ada Rook built the mill in 1811.")
    read = load_reader(split=sentence_spans).read(["who built the mill?"], [[passage]])
    encoder = load_cross_encoder("builtin", "cpu")
    [scores] = encoder.score(["who built the mill?"], [[passage.text]])
    assert scores[0] == pytest.approx(read[0][0][0].relevance, abs=0.05)
    assert encoder.digest == model_digest("builtin", "cross-encoder")


def test_a_reader_without_evidence_and_a_missing_model_are_refused(tmp_path, monkeypatch):
    save_tuned(tmp_path / READER, tuned_backbone()[0], {"qa_outputs.weight": layer(2, 0).weight.detach()})
    with pytest.raises(ModelRejected, match="gives no relevance of passages"):
        load_cross_encoder(str(tmp_path), "cpu")
    monkeypatch.setattr("spanwise.models.cross_encoder.model_folder", lambda *_: tmp_path / "none")
    with pytest.raises(ModelNotFound, match="reinstall spanwise"):
        load_cross_encoder()
