"""Models are found by name, refused if unsafe, and identified by a digest of their files."""

import json
import os
import pickle
import time
from pathlib import Path

import pytest
from helpers.tiny_models import change, sentence_model, tiny_encoder, tiny_span_model
from safetensors.torch import load_file, save_file

from spanwise.errors import ModelNotFound, ModelRejected
from spanwise.models import model_files
from spanwise.models.encoder import load_encoder
from spanwise.models.model_files import (
    BASE_NAME,
    BASE_SHA256,
    CONFIG,
    WEIGHTS,
    absolute_name,
    checked_folder,
    file_sha256,
    find_base,
    find_model,
    model_digest,
    wrong_weights,
)
from spanwise.reader.load import load_reader

COMMIT = "0" * 40


def test_the_base_has_the_digest_of_the_public_model():
    assert file_sha256(find_base() / WEIGHTS) == BASE_SHA256
    assert checked_folder(find_base()) == find_base()


def test_the_builtin_weights_have_their_published_digests():
    assert wrong_weights() == []


def test_spanwise_models_comes_first(tmp_path, monkeypatch):
    (tmp_path / BASE_NAME).mkdir()
    (tmp_path / BASE_NAME / WEIGHTS).symlink_to(find_base() / WEIGHTS)
    monkeypatch.setenv("SPANWISE_MODELS", str(tmp_path))
    assert find_base() == tmp_path / BASE_NAME


@pytest.mark.promise("T10")
def test_a_base_with_another_digest_is_never_used(tmp_path, monkeypatch):
    (tmp_path / WEIGHTS).write_bytes(b"not the weights")
    monkeypatch.setenv("SPANWISE_MODELS", str(tmp_path))
    monkeypatch.setattr("sys.path", [])
    with pytest.raises(ModelRejected, match=BASE_SHA256):
        find_base()


@pytest.mark.promise("T10")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("someone/model@main", "name@revision"),
        (f"someone/model@{COMMIT}", "cannot download"),
        ("nowhere", "is not a folder"),
        ("/", "is not a model folder"),
    ],
)
def test_a_model_that_is_not_found_is_named(name, message):
    with pytest.raises(ModelNotFound, match=message):
        find_model(name)


def test_an_absolute_name_means_the_same_everywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    assert absolute_name("mine") == str(tmp_path / "mine")
    for name in ("base", "dpr", "builtin", "a/b@c"):
        assert absolute_name(name) == name


def test_a_file_that_does_not_change_is_read_once(tmp_path, monkeypatch):
    path = tmp_path / "weights"
    later = time.time_ns() + 10**10
    path.write_bytes(b"one")
    monkeypatch.setattr(time, "time_ns", lambda: later)
    digest = file_sha256(path)
    monkeypatch.setattr(model_files, "_read_sha256", None)
    assert file_sha256(path) == digest


def test_the_digest_covers_weights_settings_and_vocabulary(tmp_path):
    folder = tiny_encoder(tmp_path / "model")
    seen = [model_digest(str(folder))]
    for name in (WEIGHTS, CONFIG, "vocab.txt"):
        (folder / name).write_bytes((folder / name).read_bytes() + b" ")
        if name == WEIGHTS:
            tiny_encoder(folder, seed=1)
        seen.append(model_digest(str(folder)))
    (folder / "run").mkdir()
    for by_product in ("README.md", "training.json", "run/state.json"):
        (folder / by_product).write_text("{}")
    assert len(set(seen)) == 4
    assert model_digest(str(folder)) == seen[-1]


class Canary:
    """Leaves a folder behind when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.fixture
def payload(tmp_path):
    """A pickle that makes a folder; the test fails if it was run."""
    path = tmp_path / "canary"
    yield pickle.dumps(Canary(path))
    assert not path.exists()


def only_pickled(folder: Path, payload: bytes) -> None:
    (folder / WEIGHTS).unlink()
    (folder / "pytorch_model.bin").write_bytes(payload)


def code_deep_in_config(folder: Path, payload: bytes) -> None:
    change(folder / CONFIG, parts=[{"inner": {"auto_map": {}}}])


def adapter(folder: Path, payload: bytes) -> None:
    (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "someone/else"}')


def not_finite(folder: Path, payload: bytes) -> None:
    weights = load_file(folder / WEIGHTS)
    next(iter(weights.values())).view(-1)[1] = float("nan")
    save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})


def other_depth(folder: Path, payload: bytes) -> None:
    change(folder / CONFIG, num_hidden_layers=3)


def unknown_architecture(folder: Path, payload: bytes) -> None:
    change(folder / CONFIG, model_type="mystery", architectures=["Mystery"])


HOSTILE = {
    only_pickled: "holds no safetensors weights",
    code_deep_in_config: "asks to run Python code",
    adapter: "adapter of another model",
    not_finite: "is not finite",
    other_depth: "lacks 16 of its weights",
    unknown_architecture: "cannot be loaded",
}


@pytest.mark.promise("T10")
@pytest.mark.parametrize("damage", HOSTILE, ids=lambda damage: damage.__name__)
@pytest.mark.parametrize("make", [tiny_encoder, sentence_model, tiny_span_model])
def test_a_hostile_folder_is_refused_by_name(tmp_path, payload, make, damage):
    folder = make(tmp_path / "model")
    damage(folder, payload)
    with pytest.raises(ModelRejected, match=HOSTILE[damage]):
        load_reader(str(folder)) if make is tiny_span_model else load_encoder(str(folder))


@pytest.mark.promise("T10")
def test_a_module_with_code_or_pickled_weights_is_refused(tmp_path, payload):
    folder = sentence_model(tmp_path / "model")
    modules = json.loads((folder / "modules.json").read_text())
    only_pickled(folder / modules[2]["path"], payload)
    with pytest.raises(ModelRejected, match="holds no safetensors weights"):
        load_encoder(str(folder))
    folder = sentence_model(tmp_path / "other")
    (folder / "modules.json").write_text(json.dumps([modules[0] | {"type": "evil.Module"}]))
    with pytest.raises(ModelRejected, match="cannot be loaded"):
        load_encoder(str(folder))


@pytest.mark.promise("T10")
def test_a_pickle_is_refused(tmp_path, payload):
    (tmp_path / "model.pt").write_bytes(payload)
    with pytest.raises(ModelRejected, match="is a pickle"):
        find_model(str(tmp_path / "model.pt"))
