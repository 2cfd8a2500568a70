"""`calibrate` from questions about folders to a reader's folder with a fitted confidence."""

from __future__ import annotations

import json
import math
import random
import shutil
from dataclasses import replace

import pytest

from spanwise.errors import DataMalformed, ModelRejected
from spanwise.pipelines.training import observe
from spanwise.pipelines.training.calibrate import fit, held_out_figures, judge, keep_calibration, shortened
from spanwise.pipelines.training.observe import Observed, ObservedFile
from spanwise.reader.evidence import FEATURES, Calibration, Features
from spanwise.reader.load import load_calibration, load_reader


def folders_with_questions(folder):
    """Two folders of thirty files with questions about twenty of them, and as many about nobody."""
    for domain in ("mills", "towns"):
        (folder / domain).mkdir(parents=True)
        questions = []
        for at in range(30):
            name = f"{domain[:3]}{at} Rook{at}"
            (folder / domain / f"{at}.txt").write_text(f"{name}\n")
            given = {"id": str(at), "question": f"Who is Rook{at}?", "answerable": at < 20}
            held = ([name], [f"{at}.txt"]) if at < 20 else ([], [])
            questions.append(given | dict(zip(("answers", "documents"), held, strict=True)))
        (folder / f"{domain}.jsonl").write_text("\n".join(map(json.dumps, questions)))
    return folder


def test_a_calibration_is_fitted_kept_and_fitted_again_without_reading(
    run, tmp_path, reader_folder, monkeypatch
):
    reader = shutil.copytree(reader_folder, tmp_path / "reader")
    data = folders_with_questions(tmp_path / "data")
    given = ("calibrate", "--data", data, "--out", reader, "--retriever", "bm25", "--json")
    code, out, err = run(*given)
    assert code == 0, err
    figures = json.loads(out)
    assert 0 <= figures["held_out"]["false"] <= 1
    digest = load_reader(str(reader)).digest
    assert load_calibration(str(reader), digest).threshold == figures["threshold"]
    with pytest.raises(ModelRejected, match="spanwise calibrate --out"):
        load_calibration(str(reader), "another")
    kept, _ = sorted((reader / "run" / "calibration").glob("observed-*.jsonl"))
    kept.write_bytes(kept.read_bytes() + b'{"torn')
    monkeypatch.setattr(observe, "_judged", lambda *of: pytest.fail("it was read again"))
    assert json.loads(run(*given)[1]) == figures
    (data / "towns.jsonl").unlink()
    assert "expected two or more" in run(*given)[2]


def test_another_retriever_gets_a_calibration_of_its_own(tmp_path, reader_folder):
    reader = shutil.copytree(reader_folder, tmp_path / "reader")
    for name, threshold in (("bm25", 0.2), ("colbert", 0.3), ("dense", 0.4)):
        keep_calibration(
            Calibration(dict.fromkeys(FEATURES, 1.0), 1.0, 0.0, threshold, "d1", ""), reader, name
        )
    names = ("bm25", "colbert", "dense", "bm25+dense")
    found = [load_calibration(str(reader), "d1", name).threshold for name in names]
    assert found == [0.2, 0.3, 0.4, 0.3]


def test_other_observations_and_damaged_ones_are_refused(tmp_path):
    file, one = ObservedFile(tmp_path / "o.jsonl", {"reader": "d1"}), Features(1, 0, 0, 0)
    assert file.read("mills") == []
    file.add([Observed((one,), (True,), True, (0,), "mills")])
    assert file.read("mills") == [Observed((one,), (True,), True, (0,), "mills")]
    with pytest.raises(DataMalformed, match="other observations"):
        ObservedFile(file.path, {"reader": "d2"}).read("mills")
    file.path.write_bytes(file.path.read_bytes() + b'{"right": [true]}\n')
    with pytest.raises(DataMalformed, match="Remove it to start anew"):
        file.read("mills")


def made_up(n: int) -> list[Observed]:
    """Questions with a right and a wrong candidate; the margin of the right one says how sure to be."""
    rng = random.Random(4)
    made = []
    for _ in range(n):
        sure = rng.gauss(0, 2)
        right = rng.random() < 1 / (1 + math.exp(-sure))
        pair = Features(sure, 0, 0, 0), Features(sure - 3, 0, 0, 0)
        made.append(Observed(pair, (right, False), right or rng.random() < 0.5, (0, 1), "mills"))
    return made


def test_confidence_and_threshold_hold_on_other_questions():
    found = fit(made_up(600), "r", "made-up questions")
    rows = judge(made_up(900)[600:], found)
    figures = held_out_figures(rows, [one.confidence >= found.threshold for one in rows])
    assert figures["ece"] < 0.1
    assert figures["false"] < 0.2
    assert 0.3 < figures["right"] < figures["right_forced"] < 1


@pytest.mark.parametrize("answers_null", [True, False])
def test_reading_ends_early_where_the_rest_changes_nothing(answers_null):
    far = [
        replace(one, features=(one.features[0], replace(one.features[1], log_rank=math.log(20))))
        for one in made_up(200)
    ]
    rule = fit(far, "r", "", answers_null=answers_null).stopping
    assert (rule is not None) is answers_null
    assert rule is None or (rule.first, rule.of, rule.changed <= 0.01) == (4, 20, True)
    assert shortened(far[0], 4).same == (0,)
