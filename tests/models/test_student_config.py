"""A student's folder is read without loading it; what is damaged, foreign or cut is refused by name."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import suppress

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from made_students import student
from safetensors.torch import load_file, save_file

from spanwise.errors import ModelNotFound, ModelRejected
from spanwise.models import fingerprint as fingerprints
from spanwise.models import sides
from spanwise.models.encoder import load_encoder
from spanwise.models.fingerprint import model_fingerprint, token_model_fingerprint
from spanwise.models.locate import (
    BASE_SHA256,
    STUDENT,
    absolute_name,
    base_folders,
    file_sha256,
    model_digest,
)
from spanwise.models.student import SETTINGS, load_student
from spanwise.models.student_config import student_token_tower, student_towers
from spanwise.models.token_encoder import load_token_encoder
from spanwise.models.token_models import token_model_digest


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return student(tmp_path_factory.mktemp("made"))


@pytest.fixture
def folder(made, tmp_path):
    return shutil.copytree(made, tmp_path / "student")


def change(folder, **settings):
    stated = json.loads((folder / SETTINGS).read_text())
    (folder / SETTINGS).write_text(json.dumps(stated | settings))


def store(folder, tensors, base=BASE_SHA256):
    save_file(tensors, folder / STUDENT, metadata={"format": "spanwise-delta-1", "base_sha256": base})
    change(folder, sha256=file_sha256(folder / STUDENT))


def test_digests_are_those_of_the_encoders_and_known_without_torch(made):
    code = f"""import sys
from spanwise.models import sides, token_models
print(sides.model_digest({str(made)!r}), token_models.token_model_digest({str(made)!r}), *sys.modules)"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ, timeout=60
    )
    dense, tokens, *modules = done.stdout.split()
    assert dense == load_encoder(str(made), device="cpu").digest
    assert tokens == load_token_encoder(str(made), device="cpu").digest
    assert not {"torch", "transformers", "faiss"} & set(modules)


def test_whatever_vectors_depend_on_changes_the_digests(made, tmp_path):
    folders = [made, *(shutil.copytree(made, tmp_path / name) for name in "abc")]
    change(folders[1], max_length=20)
    change(folders[2], skiplist=[])
    shutil.rmtree(folders[3])
    student(folders[3], seed=1)
    assert len({token_model_digest(str(each)) for each in folders}) == 4
    assert len({model_digest(str(each)) for each in folders}) == 3  # no token is skipped in a mean


def test_the_two_heads_are_two_sides(made):
    question, passage = student_towers(made)
    assert question.weights == passage.weights == student_token_tower(made).network.weights
    assert question.digest != passage.digest


def test_the_unchanged_base_stays_the_base(tmp_path):
    folder = student(tmp_path, tuned=False)
    assert student_token_tower(folder).network.weights == (BASE_SHA256,)
    assert student_towers(folder)[0].delta is None


def test_a_student_may_give_token_vectors_alone(tmp_path):
    folder = student(tmp_path, dense=False)
    assert load_token_encoder(str(folder), device="cpu").width == 16
    for ask in (load_encoder, model_digest):
        with pytest.raises(ModelNotFound, match="no dense heads"):
            ask(str(folder))


def test_dpr_is_the_heads_of_the_builtin(made, monkeypatch, tmp_path):
    monkeypatch.setattr(sides, "builtin_colbert_folder", lambda: made)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dpr").mkdir()
    assert absolute_name("dpr") == "dpr"
    assert model_digest("dpr") == load_encoder("dpr", device="cpu").digest == model_digest(str(made))


@pytest.mark.parametrize("name", [SETTINGS, STUDENT])
def test_half_a_student_is_none(folder, name):
    (folder / name).unlink()
    with pytest.raises(ModelNotFound, match=name):
        student_token_tower(folder)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"format": 2}, "of the format 2, expected 1"),
        ({"format": None}, "of the format None"),
        ({"base_sha256": "0" * 64}, BASE_SHA256),
        ({"sha256": "0" * 64}, "has sha256"),
        ({"max_length": 2}, "max_length is 2"),
        ({"max_length": "64"}, "max_length is '64'"),
        ({"skiplist": "."}, "skiplist is '.'"),
        ({"dense": 1}, "dense is 1"),
        (
            {"dense": False},
            r"adds .*passage_head.* expected \['projection\.bias:new', 'projection\.weight:new'\]",
        ),
        ({"auto_map": {"AutoModel": "theirs.Model"}}, "asks for code"),
    ],
)
def test_odd_settings_are_refused(folder, settings, message):
    change(folder, **settings)
    with pytest.raises(ModelRejected, match=message):
        student_token_tower(folder)


@pytest.mark.promise("T10")
@pytest.mark.parametrize("harm", ["cut", "flipped", "pickle"])
def test_damaged_weights_are_refused(folder, harm):
    whole = (folder / STUDENT).read_bytes()
    middle = len(whole) // 2
    flipped = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
    damaged = {"cut": whole[:middle], "flipped": flipped, "pickle": b"\x80\x04 a pickle"}
    (folder / STUDENT).write_bytes(damaged[harm])
    with pytest.raises(ModelRejected, match=STUDENT):
        load_token_encoder(str(folder), device="cpu")
    change(folder, sha256=file_sha256(folder / STUDENT))
    if harm != "flipped":
        with pytest.raises(ModelRejected, match="not a whole safetensors file"):
            load_student(folder)


def test_differences_from_another_base_are_refused(folder):
    store(folder, load_file(folder / STUDENT), base="0" * 64)
    with pytest.raises(ModelRejected, match="not made for the base"):
        load_token_encoder(str(folder), device="cpu")


@pytest.mark.parametrize(
    ("name", "tensor", "message"),
    [
        ("projection.weight:new", None, "adds"),
        ("passage_head.bias:new", None, "adds"),
        ("pooler.extra:new", torch.zeros(3), "adds"),
        ("projection.weight:new", torch.zeros(16), "has a weight of"),
        ("projection.weight:new", torch.zeros(16, 10), "10"),
        ("projection.bias:new", torch.zeros(15), "and a bias of"),
        ("projection.weight:new", torch.full((16, 384), torch.nan), "not finite"),
        ("encoder.layer.5.output.dense.bias:f32", torch.full((384,), torch.inf), "not finite"),
        ("encoder.layer.9.output.dense.bias:f32", torch.zeros(384), "does not fit"),
        ("encoder.layer.5.output.dense.bias:f32", torch.zeros(383), "does not fit"),
    ],
)
def test_weights_that_do_not_fit_are_refused(folder, name, tensor, message):
    tensors = load_file(folder / STUDENT)
    tensors.pop(name, None)
    store(folder, tensors if tensor is None else tensors | {name: tensor})
    with pytest.raises(ModelRejected, match=message):
        load_token_encoder(str(folder), device="cpu")


@given(
    name=st.sampled_from(["format", "base_sha256", "sha256", "max_length", "dense", "skiplist"]),
    value=st.none()
    | st.booleans()
    | st.integers(-2, 99)
    | st.text(max_size=3)
    | st.lists(st.text(max_size=2)),
)
def test_an_odd_setting_is_refused_or_harmless(made, name, value):
    before = (made / SETTINGS).read_text()
    try:
        change(made, **{name: value})
        with suppress(ModelRejected):
            assert len(student_token_tower(made, made).digest) == 64
    finally:
        (made / SETTINGS).write_text(before)


def test_a_fingerprint_sees_the_student_and_the_base(folder, monkeypatch):
    monkeypatch.setattr(fingerprints, "SETTLED_S", 0.0)
    seen = {model_fingerprint(str(folder)), token_model_fingerprint(str(folder))}
    assert seen == {fingerprints.fingerprint([folder, *base_folders()])}
    change(folder, max_length=9)
    changed = model_fingerprint(str(folder))
    monkeypatch.setattr(fingerprints, "base_folders", lambda: [])
    assert len({*seen, changed, model_fingerprint(str(folder))}) == 3
    monkeypatch.setattr(fingerprints, "builtin_colbert_folder", lambda: folder)
    assert model_fingerprint("dpr") == model_fingerprint(str(folder))
