"""A predictions file against SQuAD-format data: figures, counted notices, wrong usage."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from small_squad import ANSWERS, small_squad, written

from spanwise.pipelines.evaluation.result_folder import ResultFolder

ABSENT = {"n0": "", "n1": "Ute Falk", "n2": ""}
NA = {"q0": 0.1, "q1": 0.2, "q2": 0.6, "n0": 0.9, "n1": 0.7, "n2": 0.5}


@pytest.fixture
def evaluate(run: Any, tmp_path: Path) -> Any:
    """Runs `eval squad` on data of a version with these predictions and probabilities."""

    def call(version: str, predictions: object, na: object = None, *more: object) -> tuple[int, str, str]:
        paths = ["--data", written(tmp_path / "dev.json", small_squad(version))]
        paths += ["--predictions", written(tmp_path / "bert.json", predictions)]
        if na is not None:
            paths += ["--na-probs", written(tmp_path / "na.json", na)]
        code, out, err = run("eval", "squad", *paths, *more, "--json")
        return code, out, err

    return call


def test_v1_prints_its_two_keys(evaluate: Any) -> None:
    code, out, err = evaluate("1.1", {**ANSWERS, "q1": "Falk", "q2": ""})
    assert (code, err) == (0, "")
    assert json.loads(out) == {"exact_match": pytest.approx(100 / 3), "f1": pytest.approx(500 / 9)}


def test_what_has_no_prediction_is_counted_and_scores_0_in_v1(evaluate: Any) -> None:
    _, out, err = evaluate("1.1", {"q0": "Ada Rook"})
    assert json.loads(out)["exact_match"] == pytest.approx(100 / 3)
    assert "2 of 3 questions have no prediction" in err
    assert "they score 0" in err


def test_what_has_no_prediction_is_left_out_in_v2(evaluate: Any) -> None:
    _, out, err = evaluate("2.0", {"q0": "Ada Rook", "n0": ""}, {"q0": 0, "n0": 1})
    figures = json.loads(out)
    assert (figures["exact"], figures["total"], figures["best_exact"], figures["pr_exact_ap"]) == (
        100,
        2,
        100,
        100,
    )
    assert "4 of 6 questions have no prediction" in err
    assert "left out of every average" in err


def test_ids_that_the_data_do_not_hold_are_counted(evaluate: Any, tmp_path: Path) -> None:
    _, _, err = evaluate("2.0", {**ANSWERS, **ABSENT, "x": "", "y": ""}, {**NA, "z": 0.5})
    assert err.splitlines() == [
        f"2 of 8 entries in {tmp_path / 'bert.json'} are for ids not in the data: ignored",
        f"1 of 7 entries in {tmp_path / 'na.json'} are for ids not in the data: ignored",
    ]


def test_questions_outside_of_a_limit_are_not_unknown(evaluate: Any) -> None:
    code, out, err = evaluate("2.0", {**ANSWERS, **ABSENT}, None, "--limit", 2)
    assert (code, json.loads(out)["total"], err) == (0, 2, "")


def test_moved_answers_are_counted(run: Any, tmp_path: Path) -> None:
    data = small_squad("1.1")
    data["data"][0]["paragraphs"][0]["qas"][0]["answers"][0]["answer_start"] = 3
    paths = (
        "--data",
        written(tmp_path / "dev.json", data),
        "--predictions",
        written(tmp_path / "p.json", ANSWERS),
    )
    code, out, err = run("eval", "squad", *paths, "--json")
    assert (code, json.loads(out)["exact_match"]) == (0, 100)
    assert "1 of 3 questions" in err
    assert "moved to the nearest place" in err


def test_a_threshold_declines_in_figures_and_records(evaluate: Any, tmp_path: Path) -> None:
    predictions = {**ANSWERS, **ABSENT}
    code, out, _ = evaluate("2.0", predictions, NA, "--na-prob-thresh", 0.55, "--out", "kept")
    figures, records = json.loads(out), list(ResultFolder.open(tmp_path / "kept").records())
    assert (code, figures["HasAns_exact"], figures["NoAns_exact"]) == (0, 200 / 3, 100)
    assert figures["exact"] == pytest.approx(100 * sum(r.scores["exact"] for r in records) / len(records))
    assert {r.id for r in records if not r.prediction} == {"n0", "n1", "n2", "q2"}
    assert (figures["best_exact"], figures["best_exact_thresh"]) == (100, 0.6)


def test_records_name_the_file_and_point_at_the_answer(evaluate: Any, tmp_path: Path) -> None:
    evaluate("1.1", {"q0": "Ada Rook", "q1": "nowhere"}, None, "--out", "kept")
    first, nowhere, unanswered = ResultFolder.open(tmp_path / "kept").records("bert")
    assert first.evidence[0].text[slice(*first.evidence[0].span)] == "Ada Rook"
    assert (nowhere.prediction, nowhere.evidence[0].span) == ("nowhere", None)
    assert (unanswered.prediction, unanswered.scores) == ("", {"exact": 0, "f1": 0})


def test_the_same_folder_again_adds_nothing(evaluate: Any, tmp_path: Path) -> None:
    first = evaluate("1.1", ANSWERS, None, "--out", "kept")
    assert evaluate("1.1", ANSWERS, None, "--out", "kept") == first
    assert len(list(ResultFolder.open(tmp_path / "kept").records())) == 3
    code, _, err = evaluate("1.1", {**ANSWERS, "q0": ""}, None, "--out", "kept")
    assert (code, "was begun with predictions_sha256" in err) == (2, True)


@pytest.mark.parametrize(
    ("version", "na", "more", "code", "complaint"),
    [
        ("1.1", NA, (), 2, "every question has an answer"),
        ("1.1", None, ("--na-prob-thresh", 0.5), 2, "declines nothing"),
        ("2.0", None, ("--na-prob-thresh", 0.5), 2, "needs no-answer probabilities"),
        ("2.0", NA, ("--na-prob-thresh", "nan"), 2, "expected a finite number"),
        ("2.0", NA, ("--save", "mine.json"), 2, "--save is for the predictions of a reader"),
        ("2.0", {"q0": 0.5}, (), 1, "no no-answer probability for 'n0' (5 of 6 missing)"),
    ],
)
def test_wrong_usage_is_one_line(
    evaluate: Any, version: str, na: object, more: tuple[object, ...], code: int, complaint: str
) -> None:
    found, out, err = evaluate(version, {**ANSWERS, **(ABSENT if version == "2.0" else {})}, na, *more)
    assert (found, out, err.count("\n")) == (code, "", 1)
    assert complaint in err


def test_probabilities_belong_to_predictions(run: Any, tmp_path: Path) -> None:
    code, _, err = run("eval", "squad", "--data", "dev.json", "--na-probs", "na.json")
    assert (code, "belongs to --predictions" in err) == (2, True)


def test_predictions_of_other_data_are_refused_in_v2(evaluate: Any) -> None:
    code, _, err = evaluate("2.0", {"x": "y"})
    assert (code, "no prediction for any of the 6 questions" in err) == (1, True)
