"""The script that averages readers' weights."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from small_squad import small_squad, written

from spanwise.models.delta import save_delta
from spanwise.models.locate import BASE_SHA256
from spanwise.pipelines.training.reader_start import base_state, starting_reader
from spanwise.pipelines.validation_split import is_validation
from spanwise.reader.load import DELTA, builtin_folder, load_reader

ROOT = Path(__file__).parents[2]
BIAS = "bert.encoder.layer.0.output.dense.bias"
HELD_BACK = next(title for i in range(1000) if is_validation(title := f"Title {i}"))


@pytest.fixture
def data(tmp_path):
    value = small_squad("1.1")
    value["data"][0]["title"] = HELD_BACK
    return written(tmp_path / "data.json", value)


def run(*arguments):
    command = [sys.executable, ROOT / "scripts" / "average_readers.py", *arguments]
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=ROOT)


def moved(folder, by):
    """A reader whose one bias is that of the built-in one and `by` more; without a sentence head."""
    weights = starting_reader(builtin_folder() / DELTA, 0).state_dict()
    weights = {name: tensor.clone() for name, tensor in weights.items() if not name.startswith("sentence")}
    weights[BIAS] += by
    folder.mkdir()
    save_delta(folder / DELTA, weights, base_state(), BASE_SHA256)
    return folder


def test_the_mean_is_written_and_reads(tmp_path, data):
    readers = moved(tmp_path / "one", 1.0), moved(tmp_path / "three", 3.0)
    done = run(data, *readers, "--shares", 0.75, 0.25, "--out", tmp_path / "mean")
    assert done.stdout.startswith("0.75 0.25   exact "), done.stderr
    key = f"{BIAS}:f32"
    before, mean = (load_file(folder / DELTA)[key] for folder in (builtin_folder(), tmp_path / "mean"))
    assert torch.allclose(mean - before, torch.full_like(mean, 1.5), atol=1e-5)
    assert json.loads((tmp_path / "mean" / "settings.json").read_text()) == {"answers_null": True}
    assert load_reader(str(tmp_path / "mean")).digest


def test_a_head_that_one_reader_lacks_is_that_of_the_others(tmp_path, data):
    done = run(data, moved(tmp_path / "one", 0.0), builtin_folder(), "--out", tmp_path / "mean")
    assert " sentence " in done.stdout, done.stderr
    head, mean = (load_file(folder / DELTA) for folder in (builtin_folder(), tmp_path / "mean"))
    names = [name for name in head if name.startswith("sentence")]
    assert names
    assert all(torch.allclose(head[name], mean[name]) for name in names)


@pytest.mark.parametrize("shares", [[1], [0, 0], [-1, 2]])
def test_shares_that_do_not_fit_are_refused(tmp_path, data, shares):
    done = run(data, tmp_path, tmp_path, "--shares", *shares)
    assert done.returncode == 2
    assert "expected 2 shares" in done.stderr


def test_what_is_no_reader_is_named(tmp_path, data):
    done = run(data, tmp_path)
    assert done.returncode == 1
    assert str(tmp_path / DELTA) in done.stderr
    assert "Traceback" not in done.stderr
