"""`calibrate` from a SQuAD-format file to a reader's folder that declines by what was fitted."""

from __future__ import annotations

import json
import shutil

import pytest

from spanwise.errors import ModelRejected
from spanwise.pipelines.validation_split import is_validation
from spanwise.reader.builtin import load_calibration, load_reader

HELD_BACK = next(title for i in range(1000) if is_validation(title := f"Title {i}"))


def squad_file(folder):
    """Sixty paragraphs of a validation article and a few of another one."""
    people = [f"Ada{number} Rook{number}" for number in range(60)]
    articles = {HELD_BACK: people, "Town": ["Ute Falk", "Otto Brandt"]}
    data = [
        {"title": title, "paragraphs": [paragraph(title, name, at) for at, name in enumerate(names)]}
        for title, names in articles.items()
    ]
    path = folder / "train.json"
    path.write_text(json.dumps({"version": "1.1", "data": data}))
    return path


def paragraph(title, name, at):
    """All of the paragraph is the answer, so that a reader without training finds it now and then."""
    question = {"id": f"{title}{at}", "question": f"Who is {name.split()[1]}?"}
    return {"context": name, "qas": [question | {"answers": [{"text": name, "answer_start": 0}]}]}


def test_a_calibration_is_fitted_written_and_bound_to_its_reader(run, tmp_path, reader_folder):
    reader = shutil.copytree(reader_folder, tmp_path / "reader")
    code, out, err = run(
        "calibrate", "--data", squad_file(tmp_path), "--out", reader, "--questions", 50, "--json"
    )
    assert code == 0, err
    figures = json.loads(out)
    assert figures["questions"] == 50
    assert 0 < figures["answerable"] < 50
    digest = load_reader(str(reader)).digest
    assert load_calibration(str(reader), digest).threshold == figures["threshold"]
    with pytest.raises(ModelRejected, match="spanwise calibrate --out"):
        load_calibration(str(reader), "another")
