"""`calibrate` from a SQuAD-format file to a reader's folder that declines by what was fitted."""

from __future__ import annotations

import json
import shutil

import pytest

from spanwise.errors import ModelRejected
from spanwise.pipelines.calibration import keep_calibration
from spanwise.pipelines.validation_split import is_validation
from spanwise.reader.builtin import load_calibration, load_reader
from spanwise.reader.evidence import FEATURES, Calibration

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


def test_another_retriever_gets_a_calibration_of_its_own(tmp_path, reader_folder):
    reader = shutil.copytree(reader_folder, tmp_path / "reader")
    fitted = {
        name: calibration(threshold) for name, threshold in (("bm25", 0.2), ("hybrid", 0.3), ("dense", 0.4))
    }
    for name, one in fitted.items():
        keep_calibration(one, reader, name)
    found = {
        name: load_calibration(str(reader), "d1", name) for name in ("bm25", "bm25+dense", "dense", "colbert")
    }
    assert {name: one.threshold for name, one in found.items()} == {
        "bm25": 0.2,
        "bm25+dense": 0.3,
        "dense": 0.4,
        "colbert": 0.3,
    }


def calibration(threshold):
    return Calibration(dict.fromkeys(FEATURES, 1.0), 1.0, 0.0, threshold, "d1", "")
