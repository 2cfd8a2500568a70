"""The base and token models as encoders of texts and of tokens."""

import numpy as np
import pytest
import torch
from helpers.tiny_models import tiny_token_model

from spanwise.models.batching import PackedTokens
from spanwise.models.encoder import TextEncoder, TokenEncoder, load_encoder, load_token_encoder
from spanwise.models.model_files import find_base, model_digest
from spanwise.models.packed_training import training_states
from spanwise.models.token_model import load_token_model
from spanwise.models.tokenizer import load_tokenizer

TEXTS = [
    "a mill",
    "The brewery, by the harbour: was founded.",
    "",
    "word " * 300,
    "A TRAM - the mill!",
    "- -",
]


@pytest.fixture(scope="module")
def base(without_int8):
    return load_encoder("base", "cpu")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_token_model(tmp_path_factory.mktemp("token-model"), max_length=40)


@pytest.fixture(scope="module")
def tokens(folder, without_int8):
    return load_token_encoder(str(folder), "cpu")


def states(backbone, text):
    """(L, H): the states of a text's first 40 tokens by the forward pass of training."""
    ids = load_tokenizer(find_base())(text)["input_ids"]
    if len(ids) > 40:
        ids = [*ids[:39], ids[-1]]
    with torch.no_grad():
        return training_states(backbone, PackedTokens.of([ids])).float()


def cosines(ours, exact):
    exact = torch.nn.functional.normalize(exact, dim=-1).detach().numpy()
    return np.sum(ours * exact, axis=-1)


def test_rows_are_unit_vectors_in_the_order_of_the_texts(base):
    vectors = base.encode_passages(TEXTS)
    assert vectors.shape == (len(TEXTS), 384)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert np.array_equal(vectors, base.encode_questions(TEXTS))


def test_a_row_does_not_depend_on_its_batch(base):
    alone = np.concatenate([base.encode_passages([text]) for text in TEXTS])
    assert np.min(np.sum(base.encode_passages(TEXTS) * alone, axis=1)) > 0.9999


def test_the_base_encodes_as_sentence_transformers_does(base):
    from sentence_transformers import SentenceTransformer

    library = SentenceTransformer(str(find_base()), device="cpu", local_files_only=True)
    texts = [text for text in TEXTS if len(text) < 1000]
    expected = library.encode(texts, normalize_embeddings=True)
    assert np.min(np.sum(base.encode_passages(texts) * expected, axis=1)) > 0.999


@pytest.mark.promise("T16")
@pytest.mark.parametrize("fits", [1, 7])
def test_out_of_memory_changes_no_vector(base, tokens, monkeypatch, fits):
    texts = [f"mill {'weir ' * (n % 13)}{n}" for n in range(40)]
    for encoder in (base, tokens):
        forward = encoder._forward
        expected = encoder.encode_passages(texts)
        reports = []

        def short_of_memory(rows, *rest, forward=forward):
            if len(rows) > fits:
                raise torch.OutOfMemoryError("CUDA out of memory")
            return forward(rows, *rest)

        monkeypatch.setattr(encoder, "_forward", short_of_memory)
        result = encoder.encode_passages(texts, reports.append)
        pairs = zip(result, expected, strict=True) if encoder is tokens else [(result, expected)]
        assert all(np.allclose(ours, exact, atol=0.02) for ours, exact in pairs)
        assert reports == sorted(set(reports))
        assert reports[-1] == len(texts)


def test_a_dense_vector_is_the_head_of_the_mean_of_all_states(folder, without_int8):
    encoder = load_encoder(str(folder), "cpu")
    model = load_token_model(folder)
    assert isinstance(encoder, TextEncoder)
    for text in TEXTS:
        mean = states(model.backbone, text).mean(dim=0)
        assert cosines(encoder.encode_questions([text])[0], model.question_head(mean)) > 0.999
        assert cosines(encoder.encode_passages([text])[0], model.passage_head(mean)) > 0.999


def test_a_token_vector_is_the_projection_of_its_state(folder, tokens):
    assert isinstance(tokens, TokenEncoder)
    model = load_token_model(folder)
    of_words = states(model.backbone, "the mill")[1:-1]
    [vectors] = tokens.encode_questions(["the mill"])
    assert vectors.shape == (2, 16)
    assert cosines(vectors, model.projection(of_words)).min() > 0.999


def test_token_vectors_do_not_depend_on_their_batch(tokens):
    vectors, lengths = tokens.encode_passages(TEXTS)
    assert lengths.tolist() == [len(rows) for rows in tokens.encode_questions(TEXTS)]
    assert lengths[-1] == 2  # a text of skipped tokens has their vectors
    alone = np.concatenate([tokens.encode_passages([text])[0] for text in TEXTS])
    assert np.min(np.sum(vectors * alone, axis=1)) > 0.9999
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_the_digest_is_computed_without_loading(base, folder, tokens):
    assert base.digest == model_digest("base")
    assert base.digest == model_digest("all-MiniLM-L6-v2")
    assert tokens.digest == model_digest(str(folder), "token-encoder")
    assert load_token_encoder("builtin", "cpu").digest == model_digest("builtin", "token-encoder")
