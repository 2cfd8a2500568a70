from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny_models import tiny_encoder

from spanwise.errors import ModelRejected
from spanwise.models.encoder import TextEncoder
from spanwise.models.pooling import pooling_of

TEXTS = ["a mill", "The brewery by the harbour was founded by two sisters.", "", "word " * 300, "tram"]


@pytest.fixture(scope="module")
def base():
    return TextEncoder.load("base")


def test_rows_are_unit_vectors_in_the_order_of_the_texts(base):
    vectors = base.encode(TEXTS)
    assert vectors.shape == (5, 384)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_q19_a_row_does_not_depend_on_its_batch(base):
    together = base.encode(TEXTS)
    alone = np.concatenate([base.encode([text]) for text in TEXTS])
    assert np.min(np.sum(together * alone, axis=1)) > 0.9999


@pytest.mark.promise("T16")
@pytest.mark.parametrize("fits", [1, 2, 7, 64])
def test_out_of_memory_changes_no_vector(tmp_path, monkeypatch, fits):
    encoder = TextEncoder.load(str(tiny_encoder(tmp_path)), device="cpu")
    monkeypatch.setattr("spanwise.models.precision.has_bf16", lambda device: False)
    texts = [f"mill {'weir ' * (n % 13)}{n}" for n in range(200)]
    expected = encoder.encode(texts)
    monkeypatch.setattr(encoder, "_forward", short_of_memory(encoder._forward, fits))
    reports: list[int] = []
    assert np.allclose(encoder.encode(texts, reports.append), expected, atol=1e-5)
    assert reports == sorted(set(reports))
    assert reports[-1] == len(texts)


def short_of_memory(forward, fits):
    """The same computation with memory for `fits` rows."""

    def limited(rows):
        if len(rows) > fits:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return forward(rows)

    return limited


def test_b11_meaning_beats_words(base):
    query, near, far = base.encode(
        ["canine nutrition", "what to feed a dog: dog food", "timetable of the tram"]
    )
    assert query @ near > query @ far + 0.2


def test_covered_is_where_the_window_ends(tmp_path):
    encoder = TextEncoder.load(str(tiny_encoder(tmp_path)))
    fits = encoder.max_length - 2  # without [CLS] and [SEP]
    texts = ["a " * (fits + 9), "short", "", "a " * fits]
    assert encoder.covered(texts).tolist() == [2 * fits - 1, 5, 0, 2 * fits]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=4))
def test_what_lies_beyond_the_covered_part_changes_nothing(base, texts):
    long = [text + " word" * 600 for text in texts]
    cut = [text[:count] for text, count in zip(long, base.covered(long).tolist(), strict=True)]
    assert base._token_ids(long) == base._token_ids(cut)
    assert base.covered(cut).tolist() == [len(text) for text in cut]


def test_equals_sentence_transformers_on_the_base(base):
    from sentence_transformers import SentenceTransformer

    from spanwise.models.locate import find_base

    expected = SentenceTransformer(str(find_base()), device="cpu").encode(
        TEXTS[:2], normalize_embeddings=True
    )
    assert np.min(np.sum(base.encode(TEXTS[:2]) * expected, axis=1)) > 0.999


def test_digest_names_the_weights(tmp_path):
    one, two = tiny_encoder(tmp_path / "1", seed=1), tiny_encoder(tmp_path / "2", seed=2)
    assert TextEncoder.load(str(one)).digest == TextEncoder.load(str(one)).digest
    assert TextEncoder.load(str(one)).digest != TextEncoder.load(str(two)).digest


def test_cls_pooling_is_read_from_the_folder(tmp_path):
    tiny_encoder(tmp_path)
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
    assert pooling_of(tmp_path) == "cls"


def test_unknown_pooling_is_refused(tmp_path):
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_max_tokens": True}))
    with pytest.raises(ModelRejected, match="pooling"):
        pooling_of(tmp_path)
