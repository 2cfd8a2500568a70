"""`calibrate` from a SQuAD-format file to a reader's folder that declines by what was fitted."""

from __future__ import annotations

import json
import math
import random
import shutil
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

from spanwise.corpora.squad import SquadDataset
from spanwise.errors import DataMalformed, ModelRejected
from spanwise.pipelines.calibration import Observed, calibrate, keep_calibration, observe
from spanwise.pipelines.calibration.figures import confidence_figures
from spanwise.pipelines.calibration.fit import cross_fit, declining_for, folds_of
from spanwise.pipelines.calibration.observed import ObservedFile
from spanwise.pipelines.validation_split import is_validation
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


def test_what_was_observed_is_kept_and_fitted_again_without_reading(
    run, tmp_path, reader_folder, monkeypatch
):
    reader = shutil.copytree(reader_folder, tmp_path / "reader")
    given = ("calibrate", "--data", squad_file(tmp_path), "--out", reader, "--json")
    first = json.loads(run(*given, "--questions", 50)[1])
    [kept] = (reader / "run" / "calibration").glob("observed-*.jsonl")
    kept.write_bytes(kept.read_bytes() + b'{"torn')
    monkeypatch.setattr(observe, "_observed", lambda *of: pytest.fail("it was read again"))
    code, out, err = run(*given, "--questions", 50)
    assert (code, err) == (0, "")
    assert json.loads(out) == first
    chosen = [word for name in FEATURES[:-1] for word in ("--feature", name)]
    code, out, err = run(*given, "--questions", 50, *chosen, "--confidence", "none")
    assert code == 0, err
    one = json.loads(out)
    assert (tuple(one["weights"]), one["confidence_weights"]) == (FEATURES[:-1], {})


def test_observations_of_something_else_and_damaged_ones_are_refused(tmp_path):
    file = ObservedFile(tmp_path / "o.jsonl", {"reader": "d1"})
    file.read()
    file.add([Observed((Features(1, 0, 0, 0, 0),), (1.0,), True, (0,), "g")])
    assert file.read() == [Observed((Features(1, 0, 0, 0, 0),), (1.0,), True, (0,), "g")]
    with pytest.raises(ValueError, match="other observations"):
        ObservedFile(file.path, {"reader": "d2"}).read()
    file.path.write_bytes(file.path.read_bytes() + b'{"f1": [1]}\n')
    with pytest.raises(DataMalformed, match="line 3: no observation"):
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


def test_confidence_is_worth_what_it_says_on_held_back_questions():
    fitted = cross_fit(made_up(600), "r", "made-up questions", ["margin"])
    assert confidence_figures(fitted.held_back)["ece"] < 0.06
    assert fitted.calibration.slope > 0
    strict = declining_for(fitted, 0.2)
    given = [one.right for one in strict.held_back if one.score >= strict.calibration.threshold]
    assert 1 - sum(given) / len(given) < 0.2
    assert strict.threshold.outcome.answered == len(given)


@pytest.mark.parametrize("answers_null", [True, False])
def test_when_the_first_passages_are_enough_is_kept_and_told(run, tmp_path, monkeypatch, answers_null):
    reader = SimpleNamespace(digest="d1", answers_null=answers_null)
    monkeypatch.setattr(sys.modules[calibrate.__module__], "load_reader", lambda name: reader)
    monkeypatch.setattr(observe.Observer, "observe", lambda *given: ranked_last(made_up(200)))
    given = ("--data", squad_file(tmp_path), "--out", tmp_path, "--feature", "margin")
    code, _, err = run("calibrate", *given)
    assert code == 0, err
    rule = load_calibration(str(tmp_path), "d1").stopping
    assert (rule is not None) is answers_null
    told = "passages after the first 4 are left unread from margin"
    assert (told in err) is answers_null


def ranked_last(made: list[Observed]) -> list[Observed]:
    """The same with the wrong candidate in the last of twenty passages."""
    return [
        replace(one, features=(one.features[0], replace(one.features[1], log_rank=math.log(20))))
        for one in made
    ]


def test_a_reader_that_is_never_right_has_no_confidence():
    pair = Features(1, 0, 0, 0, 0), Features(0, 0, 0, 0, 0)
    observed = [Observed(pair, (0.0, 1.0), True, (), f"g{at}") for at in range(20)]
    with pytest.raises(ValueError, match="right for 0: confidence needs"):
        cross_fit(observed, "r", "", ["log_rank"])


def test_a_question_s_paragraph_is_never_on_both_sides():
    folds = folds_of([f"g{i // 3}" for i in range(60)])
    assert all(len(set(folds[at : at + 3])) == 1 for at in range(0, 60, 3))
    assert sorted(set(folds)) == [0, 1, 2, 3, 4]


def test_features_that_nobody_knows_are_refused(tmp_path):
    with pytest.raises(ValueError, match="'luck' is unknown"):
        calibrate(SquadDataset("1.1", (), ()), tmp_path, features=["luck"])


def test_a_threshold_and_an_error_are_wrong_usage(run):
    assert run("ask", "Who?", "--threshold", 0.5, "--max-error", 0.1)[0] == 2
