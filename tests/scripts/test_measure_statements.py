"""The measurement of statements on questions made for the test."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"
ROWS = [
    ("When was the mill built?", "1811", "The mill was built in 1811.", "The mill was built in 1811."),
    ("Who built the mill?", "Ada Rook", "The mill was built by Ada Rook.", "Ada Rook built the mill."),
    ("Who lost the mill?", "Ada Rook", "The mill was built by Ada Rook.", "The text does not say."),
]


@pytest.fixture
def main(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(SCRIPTS), *sys.path])
    return import_module("measure_statements").main


def test_own_questions_are_compared_with_their_sentence(main, tmp_path, capsys):
    path = tmp_path / "statements.jsonl"
    fields = ("id", "question", "answer", "sentence", "references")
    lines = [dict(zip(fields, (str(n), *row[:3], [row[3]]), strict=True)) for n, row in enumerate(ROWS)]
    path.write_text("\n".join(map(json.dumps, lines)))
    main(["--set", "own", "--file", str(path)])
    out = capsys.readouterr().out
    assert "3 questions: 3 have a statement, 2 of them a supported one" in out
    assert "| statement, else the sentence |" in out


def test_data_must_be_named(main, monkeypatch, capsys):
    monkeypatch.delenv("SPANWISE_DATA", raising=False)
    with pytest.raises(SystemExit):
        main(["--set", "squad"])
    assert "--data" in capsys.readouterr().err
