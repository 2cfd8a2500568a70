"""The threshold of held-back questions, and what SQuAD 2.0 prints beside the official figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from small_squad import ANSWERS, Scripted, small_squad, written

from spanwise.errors import DataMalformed
from spanwise.pipelines.evaluation.result_folder import ResultFolder
from spanwise.pipelines.evaluation.squad import SquadTask, open_task
from spanwise.pipelines.evaluation.squad_predictions import evaluate_predictions
from spanwise.pipelines.evaluation.squad_reader import evaluate_squad
from spanwise.pipelines.evaluation.squad_threshold import fitted_threshold


def task_of(folder: Path, version: str = "2.0", **options: Any) -> SquadTask:
    return open_task(written(folder / "dev.json", small_squad(version)), **options)


def metrics(folder: Path) -> Any:
    [figures] = ResultFolder.open(folder).metrics["systems"].values()
    return figures


def test_the_best_threshold_reaches_what_was_declined(tmp_path: Path) -> None:
    figures = evaluate_squad(task_of(tmp_path), Scripted(), tmp_path / "out")
    point = metrics(tmp_path / "out")["at_best_f1"]
    assert (figures["HasAns_f1"], point["HasAns_f1"], point["NoAns_f1"], point["AvNA"]) == (
        pytest.approx(200 / 3),
        100,
        100,
        100,
    )
    assert 0.5 < point["threshold"] < 0.9


def test_the_spans_score_as_the_best_points_say(tmp_path: Path) -> None:
    task, out = task_of(tmp_path), tmp_path / "out"
    evaluate_squad(task, Scripted(), out)
    found = evaluate_predictions(task, out / "spans.json", out / "na_prob.json")
    assert found["best_f1"] == metrics(out)["at_best_f1"]["f1"]
    assert json.loads((out / "spans.json").read_text())["q1"] == ANSWERS["q1"]


def test_held_back_questions_choose_the_threshold(tmp_path: Path) -> None:
    evaluate_squad(task_of(tmp_path), Scripted(), tmp_path / "held")
    threshold = fitted_threshold(tmp_path / "held", Scripted.digest)
    figures = evaluate_squad(task_of(tmp_path, threshold=threshold), Scripted(), tmp_path / "dev")
    assert (figures["exact"], metrics(tmp_path / "dev")["AvNA"]) == (100, 100)


def test_a_reader_without_a_null_answer_says_so_and_chooses_none(tmp_path: Path) -> None:
    reader = Scripted(answers_null=False)
    evaluate_squad(task_of(tmp_path), reader, tmp_path / "out")
    assert metrics(tmp_path / "out")["answers_null"] is False
    assert metrics(tmp_path / "out")["AvNA"] == 50
    with pytest.raises(ValueError, match="chose no threshold"):
        fitted_threshold(tmp_path / "out", reader.digest)


def test_another_reader_an_unfinished_folder_and_a_wrong_measure_are_refused(tmp_path: Path) -> None:
    evaluate_squad(task_of(tmp_path), Scripted(), tmp_path / "out")
    with pytest.raises(ValueError, match="another reader"):
        fitted_threshold(tmp_path / "out", "other")
    with pytest.raises(ValueError, match="expected f1 or exact"):
        fitted_threshold(tmp_path / "out", "scripted", "aurc")
    (tmp_path / "out" / "metrics.json").unlink()
    with pytest.raises(DataMalformed, match="is not there"):
        fitted_threshold(tmp_path / "out", "scripted")


def test_details_are_printed_beside_the_official_keys(run: Any, tmp_path: Path) -> None:
    absent = {"n0": "", "n1": "Ute Falk", "n2": ""}
    paths = ["--data", written(tmp_path / "dev.json", small_squad("2.0"))]
    paths += ["--predictions", written(tmp_path / "p.json", {**ANSWERS, **absent})]
    _, out, _ = run("eval", "squad", *paths, "--details", "--json")
    found = json.loads(out)
    assert (found["AvNA"], found["total"]) == (pytest.approx(500 / 6), 6)
    assert found["by"]["answer length"]["2 words"]["n"] == 3
    assert found["by"]["kind of answer"]["no answer"]["exact"] == pytest.approx(200 / 3)
    _, out, _ = run("eval", "squad", *paths, "--details")
    assert "by kind of answer" in out


@pytest.mark.parametrize("other", ["--predictions", "--na-prob-thresh"])
def test_one_threshold_alone_can_be_named(run: Any, tmp_path: Path, other: str) -> None:
    value = 0.5 if other == "--na-prob-thresh" else written(tmp_path / "p.json", ANSWERS)
    data = written(tmp_path / "dev.json", small_squad("2.0"))
    code, _, err = run("eval", "squad", "--data", data, "--threshold-from", tmp_path, other, value)
    assert (code, f"expected no {other}" in err) == (2, True)
