"""A model's digest names all that its vectors depend on, and that of a plain model is what it always was."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import pytest
from made_encoders import bert, dense, dpr_pair, sentence_model
from tiny_models import tiny_encoder

from spanwise.errors import ModelRejected
from spanwise.models.encoder import TextEncoder, load_encoder
from spanwise.models.locate import BASE_SHA256, WEIGHTS, absolute_name, file_sha256, find_base, model_digest

# What every index that was made with the base so far has its vectors under.
BASE_DIGEST = hashlib.sha256(f"{BASE_SHA256} mean".encode()).hexdigest()


def test_the_base_keeps_its_digest_and_its_window():
    base = load_encoder("base")
    assert isinstance(base, TextEncoder)
    assert (base.digest, base.max_length, base.width) == (BASE_DIGEST, 512, 384)
    assert model_digest("base") == BASE_DIGEST


def test_a_plain_folder_keeps_its_digest(tmp_path):
    folder = tiny_encoder(tmp_path)
    expected = hashlib.sha256(f"{file_sha256(folder / WEIGHTS)} mean".encode()).hexdigest()
    assert model_digest(str(folder)) == load_encoder(str(folder)).digest == expected


def test_the_limit_of_another_folder_counts_also_with_the_weights_of_the_base():
    assert load_encoder(str(find_base())).max_length == 256
    assert model_digest(str(find_base())) != BASE_DIGEST


CHANGES = {
    "plain": {},
    "cls": {"pooling": "cls"},
    "dot": {"model": {"similarity_fn_name": "dot"}},
    "query": {"model": {"prompts": {"query": "q: "}}},
    "document": {"model": {"prompts": {"document": "q: "}}},
    "both": {"model": {"prompts": {"query": "q: ", "document": "q: "}}},
    "not pooled": {"model": {"prompts": {"query": "q: ", "document": "q: "}}, "include_prompt": False},
    "layer": {"layers": ((8, "linear.Identity"),)},
    "tanh": {"layers": ((8, "activation.Tanh"),)},
    "length": {"stated": {"max_seq_length": 20}},
    "case": {"stated": {"do_lower_case": True}},
    "weights": {"seed": 1},
}


def test_whatever_changes_vectors_changes_the_digest(tmp_path):
    digests = {
        kind: model_digest(str(sentence_model(tmp_path / kind, **changes)))
        for kind, changes in CHANGES.items()
    }
    assert len(set(digests.values())) == len(CHANGES)
    for kind in CHANGES:
        assert load_encoder(str(tmp_path / kind)).digest == digests[kind]


def test_a_layers_weights_are_part_of_the_digest(tmp_path):
    folder = sentence_model(tmp_path, layers=((8, "linear.Identity"),))
    before = model_digest(str(folder))
    dense(folder / "2_Dense", 32, 8, seed=9)
    assert model_digest(str(folder)) != before


def test_what_changes_no_vector_changes_no_digest(tmp_path):
    plain = model_digest(str(bert(tmp_path / "plain")))
    same = sentence_model(tmp_path / "same", normalize=True, model={"prompts": {"query": "", "document": ""}})
    assert model_digest(str(same)) == plain
    assert model_digest(f"{same}::{tmp_path / 'plain'}") == plain


def test_a_pair_is_not_the_pair_the_other_way_round(tmp_path):
    one, two = bert(tmp_path / "1", 1), bert(tmp_path / "2", 2)
    assert model_digest(f"{one}::{two}") != model_digest(f"{two}::{one}")


def test_a_model_with_two_sides_is_not_one_text_encoder(tmp_path):
    with pytest.raises(ModelRejected, match="use `load_encoder`"):
        TextEncoder.load(str(dpr_pair(tmp_path)))


def test_names_of_folders_mean_the_same_from_everywhere(tmp_path, monkeypatch):
    (tmp_path / "model").mkdir()
    monkeypatch.chdir(tmp_path)
    assert absolute_name("model::base") == f"{tmp_path / 'model'}::base"
    assert absolute_name("someone/model@abc") == "someone/model@abc"


def test_digests_are_known_without_torch(tmp_path):
    name = repr(str(sentence_model(tmp_path)))
    code = f"import sys; from spanwise.models import sides; sides.model_digest({name}); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ, timeout=60
    )
    assert not {"torch", "transformers", "faiss"} & set(done.stdout.split())
