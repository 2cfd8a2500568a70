"""`eval squad`: a reader, or a predictions file, on a small data set."""

import json
from pathlib import Path
from typing import Any

import pytest
from helpers.squad import ANSWERS, Scripted, small_squad, written

from spanwise.eval.squad import score_v2
from spanwise.pipelines.evaluation import squad
from spanwise.pipelines.evaluation.results import ResultFolder
from spanwise.pipelines.evaluation.squad import SquadTask, evaluate_squad, open_task

ABSENT = {"n0": "", "n1": "Ute Falk", "n2": ""}
NA = {"q0": 0.1, "q1": 0.2, "q2": 0.6, "n0": 0.9, "n1": 0.7, "n2": 0.5}


def task_of(folder: Path, version: str = "2.0", **options: Any) -> SquadTask:
    return open_task(written(folder / "dev.json", small_squad(version)), **options)


def read_json(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_text())


def test_version_1_answers_every_question(tmp_path: Path) -> None:
    figures = evaluate_squad(task_of(tmp_path, "1.1"), Scripted(), tmp_path / "out")
    assert figures == {"exact_match": 100.0, "f1": 100.0}
    assert read_json(tmp_path / "out", "predictions.json") == ANSWERS
    assert not (tmp_path / "out" / "na_prob.json").exists()


def test_version_2_declines_where_the_null_answer_wins(tmp_path: Path) -> None:
    task = task_of(tmp_path)
    out = tmp_path / "out"
    figures = evaluate_squad(task, Scripted(), out)
    predictions = read_json(out, "predictions.json")
    na = read_json(out, "na_prob.json")
    assert predictions == {**ANSWERS, "q1": "", "n0": "", "n1": "", "n2": ""}
    assert figures == score_v2({q.id: q.answers for q in task.questions}, predictions, na)
    assert "exact" in (out / "metrics.md").read_text()


@pytest.mark.parametrize(("threshold", "declined"), [(0.99, {"n0", "n1", "n2"}), (1.0, set())])
def test_another_threshold_declines_others(tmp_path: Path, threshold: float, declined: set[str]) -> None:
    evaluate_squad(task_of(tmp_path, threshold=threshold), Scripted(), tmp_path / "out")
    predictions = read_json(tmp_path / "out", "predictions.json")
    assert {qid for qid, text in predictions.items() if not text} == declined


def test_a_reader_without_a_null_answer_declines_nothing(tmp_path: Path) -> None:
    evaluate_squad(task_of(tmp_path), Scripted(answers_null=False), tmp_path / "out")
    assert all(read_json(tmp_path / "out", "predictions.json").values())


def test_an_interrupted_run_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(squad, "QUESTIONS_AT_ONCE", 2)
    task = task_of(tmp_path)
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        evaluate_squad(task, Scripted(stop_after=2), out)
    records = (out / "records.jsonl").read_text().splitlines(keepends=True)
    (out / "records.jsonl").write_text("".join(records[:3]) + '{"torn')  # the second batch in part
    reader = Scripted()
    assert evaluate_squad(task, reader, out) == evaluate_squad(task, Scripted())
    assert [len(batch) for batch in reader.batches] == [2, 2]
    assert [r.id for r in ResultFolder.open(out).records()] == [q.id for q in task.questions]


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


def test_a_missing_prediction_is_counted_and_scores_0_in_v1(evaluate: Any) -> None:
    _, out, err = evaluate("1.1", {"q0": "Ada Rook"})
    assert json.loads(out)["exact_match"] == pytest.approx(100 / 3)
    assert "2 of 3 questions have no prediction" in err
    assert "they score 0" in err


def test_a_missing_prediction_is_left_out_in_v2(evaluate: Any) -> None:
    _, out, err = evaluate("2.0", {"q0": "Ada Rook", "n0": ""}, {"q0": 0, "n0": 1})
    figures = json.loads(out)
    assert figures["exact"] == 100
    assert figures["total"] == 2
    assert figures["best_exact"] == 100
    assert "left out of every average" in err


def test_unknown_ids_are_counted(evaluate: Any, tmp_path: Path) -> None:
    _, _, err = evaluate("2.0", {**ANSWERS, **ABSENT, "x": "", "y": ""}, {**NA, "z": 0.5})
    assert err.splitlines() == [
        f"2 of 8 entries in {tmp_path / 'bert.json'} are for ids not in the data: ignored",
        f"1 of 7 entries in {tmp_path / 'na.json'} are for ids not in the data: ignored",
    ]


def test_a_threshold_declines_in_figures_and_records(evaluate: Any, tmp_path: Path) -> None:
    code, out, _ = evaluate("2.0", {**ANSWERS, **ABSENT}, NA, "--na-prob-thresh", 0.55, "--out", "kept")
    figures = json.loads(out)
    records = ResultFolder.open(tmp_path / "kept").records("bert")
    assert code == 0
    assert figures["HasAns_exact"] == 200 / 3
    assert figures["NoAns_exact"] == 100
    assert {r.id for r in records if not r.prediction} == {"n0", "n1", "n2", "q2"}


@pytest.mark.parametrize(
    ("version", "na", "more", "code", "complaint"),
    [
        ("1.1", NA, (), 2, "every question has an answer"),
        ("1.1", None, ("--na-prob-thresh", 0.5), 2, "declines nothing"),
        ("2.0", None, ("--na-prob-thresh", 0.5), 2, "needs no-answer probabilities"),
        ("2.0", NA, ("--na-prob-thresh", "nan"), 2, "expected a finite number"),
        ("2.0", {"q0": 0.5}, (), 1, "no no-answer probability for 'n0' (5 of 6 missing)"),
    ],
)
def test_wrong_usage_is_one_line(
    evaluate: Any, version: str, na: object, more: tuple[object, ...], code: int, complaint: str
) -> None:
    exit_code, out, err = evaluate(version, {**ANSWERS, **(ABSENT if version == "2.0" else {})}, na, *more)
    assert exit_code == code
    assert out == ""
    assert err.count("\n") == 1
    assert complaint in err


def test_predictions_of_other_data_are_refused_in_v2(evaluate: Any) -> None:
    code, _, err = evaluate("2.0", {"x": "y"})
    assert code == 1
    assert "no prediction for any of the 6 questions" in err
