"""Models of other projects give the same results as in sentence-transformers."""

import numpy as np
import pytest
import torch
from helpers.tiny_models import (
    LANGUAGES,
    classifier,
    multi_vector_model,
    multilingual_model,
    sentence_model,
    tiny_encoder,
    tiny_span_model,
)

from spanwise.errors import ModelRejected
from spanwise.models.cross_encoder import load_cross_encoder
from spanwise.models.encoder import load_encoder, load_token_encoder
from spanwise.models.model_files import model_digest

TEXTS = ["a mill", "The brewery, by the harbour: was founded.", "", "word " * 90, "A TRAM - the mill!"]
PAIRS = [(question, text) for question in ("who built it?", "the tram") for text in TEXTS]


@pytest.fixture(autouse=True)
def _in_float32(float32):
    """Compare results in float32."""


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("third-party")
    return {
        "plain": tiny_encoder(root / "plain"),
        "mean": sentence_model(root / "mean"),
        "cls": sentence_model(root / "cls", pooling="cls"),
        "multilingual": multilingual_model(root / "multilingual"),
        "tokens": multi_vector_model(root / "tokens"),
        "pairs": classifier(root / "pairs"),
    }


@pytest.mark.parametrize("name", ["plain", "mean", "cls", "multilingual"])
def test_dense_vectors_are_those_of_sentence_transformers(folders, name):
    from sentence_transformers import SentenceTransformer

    library = SentenceTransformer(str(folders[name]), device="cpu", local_files_only=True)
    encoder = load_encoder(str(folders[name]), "cpu")
    for ours, theirs in (
        (encoder.encode_questions(TEXTS), library.encode_query(TEXTS, normalize_embeddings=True)),
        (encoder.encode_passages(TEXTS), library.encode_document(TEXTS, normalize_embeddings=True)),
    ):
        assert ours.shape == (len(TEXTS), encoder.width)
        assert ours.dtype == np.float32
        assert np.allclose(ours, theirs, atol=1e-5)


def test_token_vectors_are_those_of_sentence_transformers(folders):
    from sentence_transformers import MultiVectorEncoder

    library = MultiVectorEncoder(str(folders["tokens"]), device="cpu", local_files_only=True)
    encoder = load_token_encoder(str(folders["tokens"]), "cpu")
    vectors, lengths = encoder.encode_passages(TEXTS)
    theirs = library.encode_document(TEXTS, convert_to_numpy=True)
    assert lengths.tolist() == [len(rows) for rows in theirs]
    assert np.allclose(vectors, np.concatenate(theirs), atol=1e-5)
    for ours, rows in zip(encoder.encode_questions(TEXTS), library.encode_query(TEXTS), strict=True):
        assert np.allclose(ours, rows.numpy(), atol=1e-5)


def test_scores_are_those_of_sentence_transformers(folders):
    from sentence_transformers import CrossEncoder

    library = CrossEncoder(str(folders["pairs"]), device="cpu", local_files_only=True)
    expected = library.predict(PAIRS, activation_fn=torch.nn.Identity())
    encoder = load_cross_encoder(str(folders["pairs"]), "cpu")
    scores = encoder.score(["who built it?", "the tram"], [TEXTS] * 2)
    assert [len(of_question) for of_question in scores] == [len(TEXTS)] * 2
    assert np.allclose(np.concatenate(scores), expected, atol=1e-5)


def test_a_multilingual_model_separates_languages(folders):
    vectors = load_encoder(str(folders["multilingual"]), "cpu").encode_passages(LANGUAGES)
    similar = vectors @ vectors.T - np.eye(len(LANGUAGES))
    assert np.all(similar.max(axis=1) < 0.999)


@pytest.mark.parametrize("name", ["plain", "mean", "tokens", "pairs"])
def test_the_digest_is_computed_without_loading(folders, name):
    kind, load = {
        "tokens": ("token-encoder", load_token_encoder),
        "pairs": ("cross-encoder", load_cross_encoder),
    }.get(name, ("encoder", load_encoder))
    assert load(str(folders[name]), "cpu").digest == model_digest(str(folders[name]), kind)


@pytest.mark.promise("T16")
def test_out_of_memory_changes_no_vector(folders, monkeypatch):
    encoder = load_encoder(str(folders["mean"]), "cpu")
    texts = [f"mill {'weir ' * (n % 13)}{n}" for n in range(60)]
    expected = encoder.encode_passages(texts)
    forward = encoder.model.encode_document
    reports = []

    def short_of_memory(batch, **options):
        if len(batch) > 7:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return forward(batch, **options)

    monkeypatch.setattr(encoder.model, "encode_document", short_of_memory)
    assert np.allclose(encoder.encode_passages(texts, reports.append), expected, atol=1e-5)
    assert reports == sorted(set(reports))
    assert reports[-1] == 60


def test_every_text_has_a_token_vector(folders):
    encoder = load_token_encoder(str(folders["tokens"]), "cpu")
    vectors, lengths = encoder.encode_passages(["", ".", ", ."])
    assert lengths.min() > 0
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize(
    ("make", "load", "message"),
    [
        (lambda folder: sentence_model(folder, similarity="euclidean"), load_encoder, "compares vectors by"),
        (lambda folder: sentence_model(folder, similarity="dot"), load_encoder, "compares vectors by dot"),
        (multi_vector_model, load_encoder, "is a MultiVectorEncoder"),
        (tiny_encoder, load_token_encoder, "no late-interaction model"),
        (sentence_model, load_token_encoder, "no late-interaction model"),
        (tiny_encoder, load_cross_encoder, "is no cross-encoder"),
        (tiny_span_model, load_cross_encoder, "is no cross-encoder"),
        (lambda folder: classifier(folder, num_labels=3), load_cross_encoder, "has 3 outputs"),
    ],
)
def test_a_model_of_another_kind_is_refused(tmp_path, make, load, message):
    with pytest.raises(ModelRejected, match=message):
        load(str(make(tmp_path)), "cpu")
