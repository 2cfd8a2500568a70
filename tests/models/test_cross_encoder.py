"""Cross-encoders load from every layout, and score pairs as the libraries do that they come from."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from made_cross_encoders import classifier, sentence_classifier, tuned_base
from safetensors.torch import load_file, save_file

from spanwise.errors import ModelNotFound, ModelRejected
from spanwise.models.cross_encoder import DELTA, CrossEncoder, PairRows, PairScorer, load_cross_encoder
from spanwise.models.cross_encoder_models import cross_encoder_digest
from spanwise.models.load import load_tokenizer
from spanwise.models.locate import find_base

QUESTIONS = ["the mill?", "word, word: a brewery"]
PASSAGES = [["the mill", "A word is long. " * 6, ""], ["x"]]
PAIRS = [(q, text) for q, texts in zip(QUESTIONS, PASSAGES, strict=True) for text in texts]
FAMILIES = ["Bert", "Roberta", "XLMRoberta", "DistilBert", "Electra", "DebertaV2", "MPNet", "ModernBert"]


@pytest.fixture(autouse=True)
def _float32(monkeypatch):
    monkeypatch.setattr("spanwise.models.precision.has_bf16", lambda device: False)


@pytest.fixture(scope="module")
def base_tokenizer():
    return load_tokenizer(find_base())


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return str(classifier(tmp_path_factory.mktemp("plain")))


def flat(scores) -> np.ndarray:
    return np.concatenate(scores)


def of_transformers(folder, pairs=PAIRS) -> np.ndarray:
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    found = []
    for pair in pairs:
        inputs = tokenizer([pair[0]], [pair[1]], return_tensors="pt")
        if getattr(model.config, "type_vocab_size", 0) < 2:
            inputs.pop("token_type_ids", None)
        with torch.inference_mode():
            found.append(model(**inputs).logits[0, 0].item())
    return np.array(found)


@pytest.mark.parametrize("family", FAMILIES)
def test_scores_are_those_of_transformers(tmp_path, family):
    folder = str(classifier(tmp_path, family))
    scores = load_cross_encoder(folder, "cpu").score(QUESTIONS, PASSAGES)
    assert [len(each) for each in scores] == [3, 1]
    assert np.allclose(flat(scores), of_transformers(folder), atol=1e-5)


@pytest.mark.parametrize("family", ["Bert", "DistilBert"])
def test_scores_are_those_of_sentence_transformers(tmp_path, family):
    from sentence_transformers import CrossEncoder as Theirs

    theirs = Theirs(str(classifier(tmp_path / "plain", family)), device="cpu")
    theirs.save_pretrained(str(tmp_path / "theirs"))
    expected = theirs.predict(PAIRS, activation_fn=torch.nn.Identity(), show_progress_bar=False)
    ours = load_cross_encoder(str(tmp_path / "theirs"), "cpu")
    assert np.allclose(flat(ours.score(QUESTIONS, PASSAGES)), expected, atol=1e-5)


def test_differences_from_the_base_are_added_to_it(tmp_path):
    folder = tuned_base(tmp_path)
    pair = ["who built it?"], ["Ada built it."]
    [[score]] = load_cross_encoder(str(folder), "cpu").score(pair[0], [pair[1]])
    from transformers import AutoModel, AutoTokenizer

    trunk = AutoModel.from_pretrained(find_base()).eval()
    added = load_file(folder / DELTA)
    with torch.inference_mode():
        trunk.embeddings.LayerNorm.bias += added["embeddings.LayerNorm.bias:f32"]
        tokens = AutoTokenizer.from_pretrained(find_base())(*pair, return_tensors="pt")
        first = trunk(**tokens).last_hidden_state[0, 0]
        expected = first @ added["head.weight:new"][0] + added["head.bias:new"][0]
    assert score == pytest.approx(expected.item(), abs=1e-4)


def test_a_long_passage_counts_by_its_best_window(plain):
    model = load_cross_encoder(plain, "cpu")
    words = [f"{letter} the mill" for letter in "abcdefghijklmnopqrstuvwxyz"] * 3  # three tokens each
    [[whole]] = model.score(["the?"], [[" ".join(words)]])
    room = model.rows.room(model.rows.tokens_of(["the?"])["the?"])
    tokens = " ".join(words).split()
    last = len(tokens) - room
    parts = [" ".join(tokens[at : at + room]) for at in [*range(0, last, room // 2), last]]
    assert whole == pytest.approx(max(flat(model.score(["the?"], [parts]))), abs=1e-5)


@given(st.integers(0, 600))
def test_windows_show_every_token_and_none_is_short(base_tokenizer, n_tokens):
    rows = PairRows(base_tokenizer, 100)
    question, passage = np.arange(5, dtype=np.int32), np.arange(1000, 1000 + n_tokens, dtype=np.int32)
    windows = rows.windows(question, passage)
    shown = [row.ids[row.second : -1] for row in windows]
    assert set(np.concatenate(shown)) == set(passage)
    assert len(windows) == 1 or {len(row) for row in windows} == {100}


def test_a_score_does_not_depend_on_its_company(plain):
    model = load_cross_encoder(plain, "cpu")
    alone = [flat(model.score([question], [[text]]))[0] for question, text in PAIRS]
    assert np.allclose(flat(model.score(QUESTIONS, PASSAGES)), alone, atol=1e-5)


def test_each_distinct_text_is_tokenized_once(plain, monkeypatch):
    model, seen = load_cross_encoder(plain, "cpu"), []
    tokenizer = model.rows.tokenizer
    monkeypatch.setattr(
        model.rows, "tokenizer", lambda texts, **given: seen.extend(texts) or tokenizer(texts, **given)
    )
    model.score(["who?", "who?"], [["a", "b"], ["b"]])
    assert sorted(seen) == ["a", "b", "who?"]


def test_progress_ends_with_all_pairs(plain):
    heard: list[int] = []
    load_cross_encoder(plain, "cpu").score(QUESTIONS, PASSAGES, heard.append)
    assert heard == sorted(heard)
    assert heard[-1] == 4


def test_nothing_to_score_gives_nothing(plain):
    model = load_cross_encoder(plain, "cpu")
    assert model.score([], []) == []
    assert [len(each) for each in model.score(["who?"], [[]])] == [0]


@pytest.mark.parametrize("make", [classifier, sentence_classifier, tuned_base])
def test_the_digest_is_known_before_the_model_is_loaded(tmp_path, make):
    folder = str(make(tmp_path))
    assert cross_encoder_digest(folder) == load_cross_encoder(folder, "cpu").digest


def test_other_weights_have_another_digest(tmp_path):
    one, other = (cross_encoder_digest(str(tuned_base(tmp_path / str(seed), seed))) for seed in (0, 1))
    assert one != other


def test_a_score_that_is_no_number_is_refused(plain):
    good = load_cross_encoder(plain, "cpu")
    broken = torch.nn.Linear(32, 1)
    torch.nn.init.constant_(broken.weight, torch.nan)
    model = CrossEncoder(PairScorer(good.model, broken), good.rows.tokenizer, "broken", 100)
    with pytest.raises(ModelRejected, match="is not a finite number"):
        model.score(["who?"], [["Ada"]])


def test_weights_that_are_not_finite_are_refused(tmp_path):
    folder = classifier(tmp_path)
    weights = load_file(folder / "model.safetensors")
    weights["classifier.weight"][0, 0] = torch.inf
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelRejected, match="not finite"):
        load_cross_encoder(str(folder), "cpu")


def test_a_model_without_room_for_a_passage_is_refused(tmp_path):
    with pytest.raises(ModelRejected, match="no room for a passage"):
        load_cross_encoder(str(classifier(tmp_path, max_position_embeddings=64)), "cpu")


def test_differences_of_another_model_are_refused(tmp_path):
    from spanwise.models.load import tuned_backbone
    from spanwise.models.weights import save_tuned

    save_tuned(tmp_path / DELTA, tuned_backbone()[0], {"qa_outputs.weight": torch.zeros(2, 384)})
    with pytest.raises(ModelRejected, match="is no cross-encoder"):
        load_cross_encoder(str(tmp_path), "cpu")


def test_a_missing_builtin_model_says_what_can_be_named_instead(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "spanwise.models.cross_encoder_models.cross_encoder_folder", lambda name: tmp_path / "none"
    )
    with pytest.raises(ModelNotFound, match="name another one"):
        load_cross_encoder()


@pytest.mark.gpu
def test_a_gpu_scores_as_the_processor_does(plain):
    here, there = (load_cross_encoder(plain, device).score(QUESTIONS, PASSAGES) for device in ("cpu", "cuda"))
    assert np.allclose(flat(here), flat(there), atol=0.1)
