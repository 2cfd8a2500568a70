"""A saved model gives the same vectors: loaded here, and loaded by sentence-transformers."""

from __future__ import annotations

import numpy as np
import pytest
from made_students import student
from made_token_models import multi_vector_model, pylate_model, stanford_model

from spanwise.models.multi_vector_folder import save_token_model
from spanwise.models.token_encoder import load_token_encoder

TEXTS = ["a mill", "The brewery, by the harbour: was founded.", "word " * 90, "A TRAM - the mill!"]
MODELS = {
    "plain": lambda folder: multi_vector_model(
        folder,
        layers=((24, "activation.Tanh"), (5, "linear.Identity")),
        mask={"skiplist_words": [",", "."], "skiplist_tasks": ["query", "document"]},
        stated={"document_length": 40, "query_expansion": {"strategy": "min", "length": 12}},
    ),
    "lowercase": lambda folder: multi_vector_model(folder, stated={"do_lower_case": True}),
    "roberta": lambda folder: multi_vector_model(folder, stated={"document_length": 40}, family="Roberta"),
    "pylate": lambda folder: pylate_model(
        folder, query_prefix="[unused0] ", document_prefix="[unused1] ", query_length=16, document_length=20
    ),
    "stanford": lambda folder: stanford_model(folder, {"query_maxlen": 16, "doc_maxlen": 24}),
    "builtin": lambda folder: "builtin",
    "student": student,
}


@pytest.fixture(autouse=True)
def _in_float32(monkeypatch):
    monkeypatch.setattr("spanwise.models.precision.has_bf16", lambda device: False)


@pytest.mark.parametrize("kind", MODELS)
def test_vectors_stay_the_same(tmp_path, kind):
    from sentence_transformers import MultiVectorEncoder

    encoder = load_token_encoder(str(MODELS[kind](tmp_path / "model")), device="cpu")
    save_token_model(encoder, tmp_path / "saved")
    again = load_token_encoder(str(tmp_path / "saved"), device="cpu")
    library = MultiVectorEncoder(str(tmp_path / "saved"), device="cpu", local_files_only=True)
    passages, lengths = encoder.encode_passages(TEXTS)
    assert np.allclose(again.encode_passages(TEXTS)[0], passages, atol=1e-6)
    theirs = library.encode_document(TEXTS, convert_to_numpy=True)
    assert [len(rows) for rows in theirs] == lengths.tolist()
    assert np.allclose(np.concatenate(theirs), passages, atol=1e-4)
    questions = library.encode_query(TEXTS, convert_to_numpy=True)
    for ours, saved, others in zip(
        encoder.encode_questions(TEXTS), again.encode_questions(TEXTS), questions, strict=True
    ):
        assert np.allclose(saved, ours, atol=1e-6)
        assert np.allclose(others, ours, atol=1e-4)


def test_nothing_is_written_over(tmp_path):
    encoder = load_token_encoder(str(multi_vector_model(tmp_path / "model")), device="cpu")
    with pytest.raises(ValueError, match="expected a new folder"):
        save_token_model(encoder, tmp_path / "model")
    (tmp_path / "empty").mkdir()
    save_token_model(encoder, tmp_path / "empty")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "model"]
