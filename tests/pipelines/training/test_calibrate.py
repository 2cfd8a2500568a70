"""`calibrate` from a SQuAD-format file to a reader's folder with a fitted confidence."""

from __future__ import annotations

import json
import math
import random
import shutil
from dataclasses import replace

import pytest

from spanwise.errors import DataMalformed, ModelRejected
from spanwise.pipelines.evaluation.corpus import is_validation
from spanwise.pipelines.training import observe
from spanwise.pipelines.training.calibrate import (
    confidence_figures,
    cross_fit,
    folds_of,
    keep_calibration,
    shortened,
)
from spanwise.pipelines.training.observe import Observed, ObservedFile
from spanwise.reader.evidence import FEATURES, Calibration, Features
from spanwise.reader.load import load_calibration, load_reader

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


def test_a_calibration_is_fitted_kept_and_fitted_again_without_reading(
    run, tmp_path, reader_folder, monkeypatch
):
    reader = shutil.copytree(reader_folder, tmp_path / "reader")
    given = ("calibrate", "--data", squad_file(tmp_path), "--out", reader, "--questions", 50, "--json")
    code, out, err = run(*given)
    assert code == 0, err
    figures = json.loads(out)
    assert figures["questions"] == 50
    assert 0 < figures["answerable"] < 50
    digest = load_reader(str(reader)).digest
    assert load_calibration(str(reader), digest).threshold == figures["threshold"]
    with pytest.raises(ModelRejected, match="spanwise calibrate --out"):
        load_calibration(str(reader), "another")
    [kept] = (reader / "run" / "calibration").glob("observed-*.jsonl")
    kept.write_bytes(kept.read_bytes() + b'{"torn')
    monkeypatch.setattr(observe, "_judged", lambda *of: pytest.fail("it was read again"))
    assert json.loads(run(*given)[1]) == figures


def test_another_retriever_gets_a_calibration_of_its_own(tmp_path, reader_folder):
    reader = shutil.copytree(reader_folder, tmp_path / "reader")
    for name, threshold in (("bm25", 0.2), ("hybrid", 0.3), ("dense", 0.4)):
        keep_calibration(
            Calibration(dict.fromkeys(FEATURES, 1.0), 1.0, 0.0, threshold, "d1", ""), reader, name
        )
    names = ("bm25", "bm25+dense", "dense", "colbert")
    found = [load_calibration(str(reader), "d1", name).threshold for name in names]
    assert found == [0.2, 0.3, 0.4, 0.3]


def test_other_observations_and_damaged_ones_are_refused(tmp_path):
    file, one = ObservedFile(tmp_path / "o.jsonl", {"reader": "d1"}), Features(1, 0, 0, 0, 0)
    assert file.read() == []
    file.add([Observed((one,), (1.0,), True, (0,), "g")])
    assert file.read() == [Observed((one,), (1.0,), True, (0,), "g")]
    with pytest.raises(DataMalformed, match="other observations"):
        ObservedFile(file.path, {"reader": "d2"}).read()
    file.path.write_bytes(file.path.read_bytes() + b'{"f1": [1]}\n')
    with pytest.raises(DataMalformed, match="Remove it to start anew"):
        file.read()


def made_up(n: int) -> list[Observed]:
    """Questions with a right and a wrong candidate; the margin of the right one says how sure to be."""
    rng = random.Random(4)
    made = []
    for at in range(n):
        sure = rng.gauss(0, 2)
        right = rng.random() < 1 / (1 + math.exp(-sure))
        pair = Features(sure, 0, 0, 0, 0), Features(sure - 3, 0, 0, 0, 0)
        made.append(Observed(pair, (float(right), 0.0), True, (0, 1), f"paragraph {at // 2}"))
    return made


def test_confidence_holds_on_held_out_questions():
    fitted = cross_fit(made_up(600), "r", "made-up questions")
    assert confidence_figures(fitted.held_out)["ece"] < 0.06
    assert fitted.calibration.slope > 0
    answered = sum(one.score >= fitted.calibration.threshold for one in fitted.held_out)
    assert fitted.threshold.answered == answered


@pytest.mark.parametrize("answers_null", [True, False])
def test_reading_ends_early_where_the_rest_changes_nothing(answers_null):
    far = [
        replace(one, features=(one.features[0], replace(one.features[1], log_rank=math.log(20))))
        for one in made_up(200)
    ]
    rule = cross_fit(far, "r", "", answers_null=answers_null).calibration.stopping
    assert (rule is not None) is answers_null
    assert rule is None or (rule.first, rule.of, rule.changed <= 0.01) == (4, 20, True)


def test_a_shortened_observation_shares_probability_among_what_is_read():
    near = Features(1.0, 0.0, 0, 0, 0, log_share=math.log(0.5), agreement=0.25, agreeing=math.log(2))
    far = Features(math.inf, math.log(9), 0, 0, 0, log_share=math.log(0.25), agreement=0.5)
    one = Observed((near, far), (1.0, 1.0), True, (0, 0), "g")
    [left] = shortened(one, 4).features
    assert (math.exp(left.log_share), left.agreement, left.agreeing) == pytest.approx((0.5 / 0.75, 0, 0))
    assert shortened(one, 9).features == one.features


def test_the_questions_of_a_paragraph_are_in_one_fold():
    folds = folds_of([f"g{i // 3}" for i in range(60)])
    assert all(len(set(folds[at : at + 3])) == 1 for at in range(0, 60, 3))
    assert sorted(set(folds)) == [0, 1, 2, 3, 4]
