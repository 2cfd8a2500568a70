from __future__ import annotations

import json
import time

import pytest

from spanwise.errors import ModelNotFound, ModelRejected
from spanwise.models import locate
from spanwise.models.locate import BASE_NAME, BASE_SHA256, WEIGHTS, file_sha256, find_base, find_model


def test_the_base_has_the_digest_of_the_public_model():
    assert file_sha256(find_base() / WEIGHTS) == BASE_SHA256


def test_spanwise_models_comes_first_and_is_not_trusted(tmp_path, monkeypatch):
    folder = tmp_path / BASE_NAME
    folder.mkdir()
    for path in find_base().iterdir():
        if path.name != WEIGHTS and path.is_file():
            (folder / path.name).write_bytes(path.read_bytes())
    (folder / WEIGHTS).symlink_to(find_base() / WEIGHTS)
    monkeypatch.setenv("SPANWISE_MODELS", str(tmp_path))
    assert find_base() == folder


@pytest.mark.promise("T10")
def test_a_base_with_another_digest_is_never_used(tmp_path, monkeypatch):
    (tmp_path / WEIGHTS).write_bytes(b"not the weights")
    monkeypatch.setenv("SPANWISE_MODELS", str(tmp_path))
    monkeypatch.setattr("sys.path", [])
    with pytest.raises(ModelRejected, match=BASE_SHA256):
        find_base()


@pytest.mark.promise("T10")
def test_a_hub_name_needs_a_commit():
    with pytest.raises(ModelNotFound, match="name@revision"):
        find_model("someone/some-model@main")


def test_a_hub_model_that_is_not_cached_is_named_when_offline():
    with pytest.raises(ModelNotFound, match="neither cached"):
        find_model("someone/some-model@" + "0" * 40)


@pytest.mark.promise("T10")
def test_a_folder_with_only_pickled_weights_is_refused(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x04")
    with pytest.raises(ModelRejected, match="safetensors"):
        find_model(str(tmp_path))


@pytest.mark.promise("T10")
def test_a_folder_that_brings_code_is_refused(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"auto_map": {"AutoModel": "evil.Model"}}))
    (tmp_path / WEIGHTS).write_bytes(b"")
    with pytest.raises(ModelRejected, match="auto_map"):
        find_model(str(tmp_path))


def test_a_file_that_was_changed_has_another_digest(tmp_path):
    path = tmp_path / "weights"
    path.write_bytes(b"one")
    before = file_sha256(path)
    path.write_bytes(b"two")
    assert file_sha256(path) != before


def test_a_file_that_stays_the_same_is_read_once(tmp_path, monkeypatch):
    path = tmp_path / "weights"
    path.write_bytes(b"one")
    later = time.time_ns() + 10**10
    monkeypatch.setattr(time, "time_ns", lambda: later)
    digest = file_sha256(path)
    monkeypatch.setattr(locate, "_read_sha256", None)
    assert file_sha256(path) == digest
