"""What the folder of a late-interaction model says is read without loading it, or refused by name."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from made_encoders import sentence_model, write
from made_token_models import (
    TOKENS,
    TYPES,
    modules,
    multi_vector_model,
    pylate_model,
    stanford_model,
    trunk,
)
from safetensors.torch import load_file, save_file

from spanwise.errors import ModelNotFound, ModelRejected
from spanwise.models import fingerprint as fingerprints
from spanwise.models.fingerprint import token_model_fingerprint
from spanwise.models.locate import absolute_name, builtin_folder
from spanwise.models.token_encoder import load_token_encoder
from spanwise.models.token_models import token_model_digest, token_tower_of

EXPANSION = {"strategy": "fixed", "length": 12}
REFUSED = {
    "cosine": ({"model": {"similarity_fn_name": "cosine"}}, "similarity cosine"),
    "xtr": ({"model": {"similarity_fn_name": "xtr"}}, "similarity xtr"),
    "shortened": ({"model": {"truncate_dim": 4}}, "cut to 4"),
    "one vector": ({"model": {"model_type": "SentenceTransformer"}}, "no late-interaction model"),
    "not normalised": ({"ends": ("MultiVectorMask",)}, "known are Transformer"),
    "expansion unscored": (
        {"ends": ("Normalize",), "stated": {"query_expansion": EXPANSION}},
        "without a MultiVectorMask",
    ),
    "pooling": (
        {"ends": ("MultiVectorMask", "Normalize", "HierarchicalTokenPooling")},
        "TokenPooling is not",
    ),
    "router": ({"ends": ("Router", "MultiVectorMask", "Normalize")}, "Router is not known"),
    "gelu": ({"layers": ((8, "activation.GELU"),)}, "activation torch.nn.modules.activation.GELU"),
    "allowlist": ({"mask": {"keep_only_token_ids": [5]}}, "keep_only_token_ids"),
    "no words": ({"mask": {"skiplist_words": 7}}, "skiplist_words is 7"),
    "strategy": ({"stated": {"query_expansion": {"strategy": "max", "length": 9}}}, "query_expansion is"),
    "odd key": ({"stated": {"query_expansion": EXPANSION | {"top": 1}}}, "query_expansion is"),
    "odd length": ({"stated": {"query_expansion": {"strategy": "min", "length": "9"}}}, "query_expansion is"),
    "no such token": ({"stated": {"query_expansion": EXPANSION | {"token": "[NO]"}}}, "has no \\[NO\\]"),
    "cut too short": ({"stated": {"query_expansion": EXPANSION, "query_length": 8}}, "filled up to 12"),
    "too long": ({"stated": {"query_expansion": EXPANSION | {"length": 65}}}, "the model sees 64"),
    "length of 2": ({"stated": {"document_length": 2}}, "document_length is 2"),
    "length of text": ({"stated": {"query_length": "many"}}, "query_length is 'many'"),
    "long prompt": ({"model": {"prompts": {"query": "word " * 70}}}, "no room for a text"),
    "masks": ({"stated": {"transformer_task": "fill-mask"}}, "transformer_task"),
    "modality": ({"stated": {"modality_config": {"text": {"method": "encode"}}}}, "modality_config"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_not_known_is_refused_by_name(tmp_path, kind):
    changes, message = REFUSED[kind]
    folder = multi_vector_model(tmp_path / "model", **changes)
    with pytest.raises(ModelRejected, match=message):
        load_token_encoder(str(folder), device="cpu")


def test_the_mean_over_a_question_ranks_as_the_sum(tmp_path):
    folder = multi_vector_model(tmp_path / "model", model={"similarity_fn_name": "meanmaxsim"})
    assert token_tower_of(str(folder)) == token_tower_of(str(multi_vector_model(tmp_path / "plain")))


def test_modules_of_other_libraries_are_refused(tmp_path):
    folder = multi_vector_model(tmp_path / "model")
    modules(folder, ["Transformer", "Dense", "custom.Normalize"], TYPES)
    with pytest.raises(ModelRejected, match=r"custom\.Normalize is not known"):
        token_tower_of(str(folder))


def test_a_layer_on_the_pooled_vector_is_refused(tmp_path):
    folder = multi_vector_model(tmp_path / "model")
    path = folder / "1_Dense" / "config.json"
    write(path, json.loads(path.read_text()) | {name: "sentence_embedding" for name in TOKENS})
    with pytest.raises(ModelRejected, match="not one linear map of token_embeddings"):
        token_tower_of(str(folder))


def test_layers_that_do_not_fit_are_refused(tmp_path):
    folder = multi_vector_model(tmp_path / "model", layers=((8, "linear.Identity"), (4, "linear.Identity")))
    path = folder / "2_Dense" / "config.json"
    write(path, json.loads(path.read_text()) | {"in_features": 9})
    with pytest.raises(ModelRejected, match="do not fit"):
        load_token_encoder(str(folder), device="cpu")


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_not_finite_are_refused(tmp_path, value):
    folder = stanford_model(tmp_path / "model", {})
    weights = load_file(folder / "model.safetensors")
    weights["linear.weight"][0, 0] = value
    save_file(weights, folder / "model.safetensors")
    with pytest.raises(ModelRejected, match="not finite"):
        load_token_encoder(str(folder), device="cpu")


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        (None, "holds no artifact.metadata"),
        ({"similarity": "l2"}, "similarity is 'l2'"),
        ({"interaction": "flipr"}, "interaction is 'flipr'"),
        ({"dim": 128}, "dim is 128"),
        ({"doc_maxlen": 1}, "doc_maxlen is 1,"),
        ({"query_maxlen": "32"}, "query_maxlen is '32'"),
        ({"query_maxlen": 400}, "the model sees 64"),
    ],
)
def test_odd_checkpoints_of_colbert_are_refused(tmp_path, metadata, message):
    with pytest.raises(ModelRejected, match=message):
        load_token_encoder(str(stanford_model(tmp_path / "model", metadata)), device="cpu")


@pytest.mark.parametrize("names", [[], ["linear.weight", "linear.bias"]])
def test_a_checkpoint_needs_one_projection_without_a_bias(tmp_path, names):
    folder = stanford_model(tmp_path / "model", {})
    weights = load_file(folder / "model.safetensors")
    projection = weights.pop("linear.weight")
    made = {"linear.weight": projection, "linear.bias": torch.zeros(len(projection))}
    save_file(weights | {name: made[name] for name in names}, folder / "model.safetensors")
    with pytest.raises(ModelRejected, match=r"expected one linear\.weight"):
        token_tower_of(str(folder))


def test_pickled_weights_are_refused(tmp_path):
    folder = stanford_model(tmp_path / "model", {})
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(ModelRejected, match="no safetensors weights"):
        token_tower_of(str(folder))


def test_code_in_the_metadata_is_refused(tmp_path):
    folder = stanford_model(tmp_path / "model", {"auto_map": {"AutoModel": "theirs.Model"}})
    with pytest.raises(ModelRejected, match="asks for code"):
        token_tower_of(str(folder))


@pytest.mark.parametrize("make", [trunk, sentence_model], ids=["transformer", "sentence-transformers"])
def test_models_of_one_vector_are_refused(tmp_path, make):
    with pytest.raises(ModelRejected, match="no late-interaction model"):
        token_tower_of(str(make(tmp_path / "model")))


def test_what_is_not_there_is_not_found(tmp_path):
    with pytest.raises(ModelNotFound):
        token_tower_of(str(tmp_path / "gone"))


def test_pylate_marks_by_its_prefixes_before_its_prompts(tmp_path):
    folder = pylate_model(
        tmp_path / "model", query_prefix="[Q] ", document_prefix="", prompts={"query": "ask: "}
    )
    tower = token_tower_of(str(folder))
    assert (tower.question.prompt, tower.passage.prompt, tower.markers) == ("[Q] ask: ", "", ("[Q] ",))
    assert (tower.question.max_length, tower.passage.max_length) == (32, 31)
    assert "." in tower.passage.skiplist


DIFFERENT = {
    "plain": {},
    "prompt": {"model": {"prompts": {"document": "the "}}},
    "length": {"stated": {"document_length": 20}},
    "skiplist": {"mask": {"skiplist_words": ["mill"]}},
    "both sides": {"mask": {"skiplist_words": ["mill"], "skiplist_tasks": ["query", "document"]}},
    "expansion": {"stated": {"query_expansion": EXPANSION}},
    "attending": {"stated": {"query_expansion": EXPANSION | {"attend": True}}},
    "layers": {"layers": ((8, "activation.Tanh"),)},
    "lowercase": {"stated": {"do_lower_case": True}},
}


def test_whatever_vectors_depend_on_changes_the_digest(tmp_path):
    folders = [multi_vector_model(tmp_path / kind, **changes) for kind, changes in DIFFERENT.items()]
    assert len({token_model_digest(str(folder)) for folder in folders}) == len(DIFFERENT)
    again = multi_vector_model(tmp_path / "again")
    assert token_model_digest(str(again)) == token_model_digest(str(tmp_path / "plain"))


def test_the_digest_is_known_without_the_base_and_without_torch():
    lines = [
        "import sys",
        "from spanwise.models.token_models import token_model_digest",
        "print(token_model_digest('builtin'), 'torch' in sys.modules, 'numba' in sys.modules)",
    ]
    ran = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == [load_token_encoder("builtin", device="cpu").digest, "False", "False"]


def test_names_mean_the_same_from_every_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model").mkdir()
    (tmp_path / "builtin").mkdir()
    assert absolute_name("model") == str(tmp_path / "model")
    assert absolute_name("builtin") == "builtin"
    assert absolute_name("org/model@" + "c" * 40) == "org/model@" + "c" * 40


def test_the_builtin_skips_what_says_nothing():
    encoder = load_token_encoder("builtin", device="cpu")
    assert (encoder.width, encoder.projection.in_features) == (128, 384)
    assert encoder.question_offsets("Who, “then”?") == [(0, 3), (6, 10)]
    assert encoder.covered(["word " * 600]).tolist() == [5 * 510 - 1]


def test_a_fingerprint_looks_at_the_layer_and_at_the_base(tmp_path, monkeypatch):
    monkeypatch.setattr(fingerprints, "SETTLED_S", 0.0)
    seen = token_model_fingerprint("builtin")
    monkeypatch.setattr(fingerprints, "base_folders", lambda: [])
    without_base = token_model_fingerprint("builtin")
    monkeypatch.setattr(fingerprints, "builtin_colbert_folder", lambda: tmp_path)
    assert len({seen, without_base, token_model_fingerprint("builtin")}) == 3
    assert token_model_fingerprint(str(builtin_folder())) == without_base
    assert token_model_fingerprint("org/model@" + "c" * 40) == "org/model@" + "c" * 40


ODD = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 99) | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=3,
)
SETTINGS = {
    "multi-vector": {
        "config_sentence_transformers.json": ("prompts", "similarity_fn_name", "truncate_dim", "model_type"),
        "sentence_bert_config.json": ("query_length", "max_seq_length", "query_expansion", "modality_config"),
        "2_MultiVectorMask/config.json": ("skiplist_words", "skiplist_tasks", "keep_only_token_ids"),
        "3_Normalize/config.json": ("module_input_name", "module_output_name"),
        "1_Dense/config.json": ("module_input_name", "in_features", "activation_function"),
    },
    "pylate": {
        "config_sentence_transformers.json": (
            "prompts",
            "query_prefix",
            "query_length",
            "document_length",
            "skiplist_words",
            "query_expansion",
        )
    },
    "stanford": {
        "artifact.metadata": ("query_maxlen", "doc_maxlen", "dim", "query_token_id", "similarity"),
        "config.json": ("architectures",),
    },
}
MADE = {
    "multi-vector": multi_vector_model,
    "pylate": lambda folder: pylate_model(folder, query_prefix="[Q] "),
    "stanford": lambda folder: stanford_model(folder, {}),
}


@pytest.mark.parametrize("layout", SETTINGS)
def test_an_odd_setting_is_refused_or_harmless(tmp_path, layout):
    folder = MADE[layout](tmp_path / "model")
    places = [(path, name) for path, names in SETTINGS[layout].items() for name in names]

    @given(st.sampled_from(places), ODD)
    def loads(place, value):
        path = folder / place[0]
        before = path.read_text()
        write(path, json.loads(before) | {place[1]: value})
        try:
            with suppress(ModelRejected):
                assert len(token_model_digest(str(folder))) == 64
        finally:
            path.write_text(before)

    loads()
