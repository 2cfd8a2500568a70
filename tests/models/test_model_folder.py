"""Every loader refuses folders that could run code or compute nonsense, by name, and runs nothing of them."""

from __future__ import annotations

import json
import os
import pickle
from pathlib import Path

import pytest
import torch
from made_encoders import bert, dense, dpr_pair, router_model, sentence_model, tokenizer, write
from safetensors.torch import load_file, save_file
from tiny_models import tiny_span_model

from spanwise.errors import ModelNotFound, ModelRejected
from spanwise.models.dual_encoder import load_encoder
from spanwise.models.linear_layer import LinearLayer
from spanwise.models.pretrained import load_encoder_trunk, load_span_model, load_tokenizer
from spanwise.models.sides import model_digest
from spanwise.reader.load import load_reader

pytestmark = pytest.mark.promise("T10")

WEIGHTS = "model.safetensors"


class Canary:
    """What unpickling it would leave behind."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.fixture
def payload(tmp_path):
    """A pickle that makes a folder; the test fails when it was run."""
    path = tmp_path / "canary"
    yield pickle.dumps(Canary(path))
    assert not path.exists()


def change(path: Path, **changes) -> None:
    write(path, json.loads(path.read_text(encoding="utf-8")) | changes)


def only_pickled(folder: Path, payload: bytes) -> None:
    (folder / WEIGHTS).unlink()
    (folder / "pytorch_model.bin").write_bytes(payload)


def renamed_pickle(folder: Path, payload: bytes) -> None:
    (folder / WEIGHTS).write_bytes(payload)


def code_in_config(folder: Path, payload: bytes) -> None:
    change(folder / "config.json", auto_map={"AutoModel": "evil.Model"})


def code_deep_in_config(folder: Path, payload: bytes) -> None:
    change(folder / "config.json", parts=[{"inner": {"auto_map": {}}}])


def code_in_tokenizer(folder: Path, payload: bytes) -> None:
    change(folder / "tokenizer_config.json", auto_map={"AutoTokenizer": ["evil.Tokenizer", None]})


def adapter(folder: Path, payload: bytes) -> None:
    write(folder / "adapter_config.json", {"base_model_name_or_path": "someone/else"})
    (folder / "adapter_model.bin").write_bytes(payload)


def pickled_shard(folder: Path, payload: bytes) -> None:
    (folder / "pytorch_model.bin").write_bytes(payload)
    names = dict.fromkeys(load_file(folder / WEIGHTS), "pytorch_model.bin")
    (folder / WEIGHTS).rename(folder / "other.safetensors")
    write(folder / "model.safetensors.index.json", {"metadata": {}, "weight_map": names})


def shard_outside(folder: Path, payload: bytes) -> None:
    names = dict.fromkeys(load_file(folder / WEIGHTS), "../other.safetensors")
    (folder / WEIGHTS).rename(folder.parent / "other.safetensors")
    save_file({"x": torch.zeros(1)}, folder / "x.safetensors")
    write(folder / "model.safetensors.index.json", {"metadata": {}, "weight_map": names})


def cut_off(folder: Path, payload: bytes) -> None:
    whole = (folder / WEIGHTS).read_bytes()
    (folder / WEIGHTS).write_bytes(whole[: len(whole) // 2])


def not_finite(folder: Path, payload: bytes) -> None:
    weights = load_file(folder / WEIGHTS)
    next(iter(weights.values())).view(-1)[1] = float("nan")
    save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})


def infinite(folder: Path, payload: bytes) -> None:
    weights = load_file(folder / WEIGHTS)
    list(weights.values())[-1].view(-1)[0] = float("inf")
    save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})


def other_shapes(folder: Path, payload: bytes) -> None:
    change(folder / "config.json", intermediate_size=48)


def other_depth(folder: Path, payload: bytes) -> None:
    change(folder / "config.json", num_hidden_layers=3)


def no_json(folder: Path, payload: bytes) -> None:
    (folder / "config.json").write_text("{" * 100_000)


def list_for_config(folder: Path, payload: bytes) -> None:
    write(folder / "config.json", [])


def unknown_architecture(folder: Path, payload: bytes) -> None:
    change(folder / "config.json", model_type="mystery", architectures=["Mystery"])


HOSTILE = {
    only_pickled: "holds no safetensors weights",
    renamed_pickle: "not a whole safetensors file",
    code_in_config: "asks for code of its own",
    code_deep_in_config: "asks for code of its own",
    code_in_tokenizer: "asks for code of its own",
    adapter: "adapter of another model",
    pickled_shard: "names weights other than",
    shard_outside: "names weights other than",
    cut_off: "not a whole safetensors file",
    not_finite: "is not finite",
    infinite: "is not finite",
    other_shapes: "cannot be loaded",
    other_depth: "lacks 16 of its weights",
    no_json: "cannot be read",
    list_for_config: "no JSON object",
    unknown_architecture: "cannot be loaded|the other by inner products",
}


LAYOUTS = {
    bert: "",
    sentence_model: "",
    router_model: "query_0_Transformer",
    dpr_pair: "passage",
}  # weights in


@pytest.mark.parametrize("damage", HOSTILE, ids=lambda damage: damage.__name__)
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
def test_an_encoder_is_refused_by_name(tmp_path, payload, layout, damage):
    folder = layout(tmp_path / "model")
    damage(folder / LAYOUTS[layout], payload)
    with pytest.raises(ModelRejected, match=HOSTILE[damage]):
        load_encoder(str(folder))


@pytest.mark.parametrize("damage", HOSTILE, ids=lambda damage: damage.__name__)
def test_a_reader_is_refused_by_name(tmp_path, payload, damage):
    folder = tiny_span_model(tmp_path / "reader")
    damage(folder, payload)
    with pytest.raises(ModelRejected, match=HOSTILE[damage]):
        load_reader(str(folder))


@pytest.mark.parametrize("load", [load_encoder_trunk, load_span_model, load_tokenizer, model_digest])
def test_no_loader_reads_a_pickle(tmp_path, payload, load):
    (tmp_path / "model").mkdir()
    write(tmp_path / "model" / "config.json", {"model_type": "bert"})
    (tmp_path / "model" / "pytorch_model.bin").write_bytes(payload)
    with pytest.raises(ModelRejected):
        load(tmp_path / "model" if load is not model_digest else str(tmp_path / "model"))


def test_a_layer_with_pickled_weights_is_refused(tmp_path, payload):
    folder = dense(tmp_path / "layer", 4, 2)
    (folder / WEIGHTS).unlink()
    (folder / "pytorch_model.bin").write_bytes(payload)
    with pytest.raises(ModelRejected, match="other formats can run code"):
        LinearLayer.read(folder)


def test_a_layer_that_is_a_renamed_pickle_is_refused(tmp_path, payload):
    folder = dense(tmp_path / "layer", 4, 2)
    (folder / WEIGHTS).write_bytes(payload)
    with pytest.raises(ModelRejected, match="not a whole safetensors file"):
        LinearLayer.read(folder)


@pytest.mark.parametrize("changes", [{"in_features": 5}, {"bias": False}])
def test_a_layer_whose_weights_do_not_fit_is_refused(tmp_path, changes):
    folder = dense(tmp_path, 4, 2)
    change(folder / "config.json", **changes)
    with pytest.raises(ModelRejected, match="do not fit"):
        LinearLayer.read(folder).load()


def test_a_layer_that_is_not_finite_is_refused(tmp_path):
    folder = dense(tmp_path, 4, 2)
    not_finite(folder, b"")
    with pytest.raises(ModelRejected, match="not finite"):
        LinearLayer.read(folder).load()


@pytest.mark.parametrize("sizes", [(0, 2), (4, -1), (True, 2), ("4", 2), (None, 2)])
def test_a_layer_of_no_size_is_refused(tmp_path, sizes):
    folder = dense(tmp_path, 4, 2)
    change(folder / "config.json", in_features=sizes[0], out_features=sizes[1])
    with pytest.raises(ModelRejected, match="expected numbers from 1"):
        LinearLayer.read(folder)


@pytest.mark.parametrize("path", ["../outside", "/etc", "1_Pooling/../../outside", None])
def test_a_module_outside_of_the_folder_is_refused(tmp_path, path):
    folder = sentence_model(tmp_path / "model")
    entries = json.loads((folder / "modules.json").read_text())
    write(tmp_path / "outside" / "config.json", {"pooling_mode": "cls"})
    write(folder / "modules.json", [entries[0], entries[1] | {"path": path}])
    with pytest.raises(ModelRejected, match="does not lie in the folder"):
        load_encoder(str(folder))


def test_a_module_that_is_a_link_out_of_the_folder_is_refused(tmp_path):
    folder = sentence_model(tmp_path / "model")
    (folder / "1_Pooling").rename(tmp_path / "outside")
    (folder / "1_Pooling").symlink_to(tmp_path / "outside")
    with pytest.raises(ModelRejected, match="leads out of the folder"):
        load_encoder(str(folder))


def test_a_folder_without_a_tokenizer_is_refused(tmp_path):
    folder = bert(tmp_path)
    for name in ("tokenizer.json", "vocab.txt"):
        (folder / name).unlink(missing_ok=True)
    with pytest.raises(ModelRejected, match="holds no tokenizer"):
        load_encoder(str(folder))


def test_a_tokenizer_that_cannot_be_read_is_refused(tmp_path):
    folder = bert(tmp_path)
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelRejected, match="cannot be loaded"):
        load_encoder(str(folder))


def test_a_vocabulary_smaller_than_the_tokenizers_ids_is_refused(tmp_path):
    folder = bert(tmp_path, vocab_size=20)
    tokenizer(folder)
    with pytest.raises(ModelRejected, match="its vocabulary has 20 words"):
        load_encoder(str(folder))


def test_attention_kernels_that_a_folder_names_are_not_fetched(tmp_path):
    folder = bert(tmp_path)
    for key in ("attn_implementation", "_attn_implementation", "_attn_implementation_internal"):
        change(folder / "config.json", **{key: "kernels-community/evil"})
    model = load_span_model(folder)  # always one of transformers
    assert model.config._attn_implementation == "sdpa"


def test_a_model_with_a_decoder_is_refused(tmp_path):
    from transformers import T5Config, T5Model

    T5Model(T5Config(vocab_size=140, d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2)).save_pretrained(
        tmp_path
    )
    tokenizer(tmp_path)
    with pytest.raises(ModelRejected, match="t5 with a decoder"):
        load_encoder(str(tmp_path))


def test_a_folder_of_something_else_is_not_found(tmp_path):
    with pytest.raises(ModelNotFound, match="not a model folder"):
        load_encoder(str(tmp_path))
