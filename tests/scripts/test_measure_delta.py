"""The measurement of precisions runs on a cross-encoder of which one layer was changed."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
import torch
from made_students import changed_trunk, student
from tiny_students import HELD_OUT, lists_of

from spanwise.corpora.ranking_examples import write_ranking_examples
from spanwise.models.stored_model import save_tuned

SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "scripts" / "measure_delta.py"))


def test_it_prints_a_row_for_each_precision(tmp_path, capsys):
    write_ranking_examples(tmp_path / "lists", lists_of(HELD_OUT[:2]))
    head = {"head.weight": torch.randn(1, 384), "head.bias": torch.zeros(1)}
    save_tuned(tmp_path / "weights", changed_trunk(), head, "bf16")
    arguments = [
        str(tmp_path / "weights"),
        "--lists",
        str(tmp_path / "lists"),
        "--precisions",
        "int8/int4",
        "rank4",
    ]
    SCRIPT["main"](arguments)
    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines()[2:]]
    assert [row[0] for row in rows] == ["| int8/int4", "| rank4"]
    assert float(rows[0][2].rstrip("%")) == pytest.approx(0.82, abs=0.1)
    assert float(rows[0][1]) == pytest.approx(1.0, abs=0.1)


def test_a_student_is_measured_by_its_tokens_and_its_dense_heads(tmp_path, capsys):
    write_ranking_examples(tmp_path / "lists", lists_of(HELD_OUT[:2]))
    weights = student(tmp_path / "student", tuned=True) / "student.safetensors"
    SCRIPT["main"]([str(weights), "--lists", str(tmp_path / "lists"), "--precisions", "int4"])
    head, _, row = capsys.readouterr().out.splitlines()
    assert head.endswith("| MRR | first | dense MRR | dense first |")
    assert row.count("|") == head.count("|")


def test_it_says_what_a_kind_of_model_is_measured_on(tmp_path, capsys):
    save_tuned(tmp_path / "weights", changed_trunk(), {}, "int8")
    with pytest.raises(SystemExit):
        SCRIPT["main"]([str(tmp_path / "weights")])
    assert "--lists what ranks" in capsys.readouterr().err


def test_the_upper_half_of_the_layers_may_have_another_precision():
    chosen = SCRIPT["by_layer"]("int3/int6", 6)
    names = ("embeddings.x", "encoder.layer.2.x", "bert.encoder.layer.3.x", "encoder.layer.5.x")
    assert [chosen(name) for name in names] == ["int3", "int3", "int6", "int6"]
