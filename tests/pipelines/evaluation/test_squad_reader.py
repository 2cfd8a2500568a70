"""A reader on SQuAD-format data: official figures, the official script's files, a folder to go on with."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from small_squad import ANSWERS, CONTEXTS, Scripted, small_squad, written

from spanwise.pipelines.evaluation import squad
from spanwise.pipelines.evaluation.result_folder import ResultFolder
from spanwise.pipelines.evaluation.squad import SquadTask, open_task
from spanwise.pipelines.evaluation.squad_predictions import evaluate_predictions
from spanwise.pipelines.evaluation.squad_reader import evaluate_squad


def task_of(folder: Path, version: str = "2.0", **options: Any) -> SquadTask:
    return open_task(written(folder / "dev.json", small_squad(version)), **options)


def kept(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_text(encoding="utf-8"))


def test_v1_answers_every_question(tmp_path: Path) -> None:
    figures = evaluate_squad(task_of(tmp_path, "1.1"), Scripted(), tmp_path / "out")
    assert figures == {"exact_match": 100.0, "f1": 100.0}
    assert kept(tmp_path / "out", "predictions.json") == ANSWERS
    assert not (tmp_path / "out" / "na_prob.json").exists()


def test_v2_declines_where_the_null_score_wins(tmp_path: Path) -> None:
    figures = evaluate_squad(task_of(tmp_path), Scripted(), tmp_path / "out")
    declined = {qid for qid, text in kept(tmp_path / "out", "predictions.json").items() if not text}
    assert declined == {"n0", "n1", "n2", "q1"}
    assert (figures["HasAns_exact"], figures["NoAns_exact"], figures["total"]) == (200 / 3, 100, 6)
    probabilities = kept(tmp_path / "out", "na_prob.json")
    assert probabilities["q1"] == pytest.approx(1 / (1 + math.exp(-0.5)))
    assert probabilities["q0"] == pytest.approx(1 - probabilities["n0"])


def test_a_threshold_declines_above_it(tmp_path: Path) -> None:
    figures = evaluate_squad(task_of(tmp_path, threshold=0.9), Scripted(), tmp_path / "out")
    assert figures["exact"] == figures["best_exact"] == figures["pr_oracle_ap"] == 100.0


def test_a_reader_without_a_null_answer_declines_nothing_by_itself(tmp_path: Path) -> None:
    figures = evaluate_squad(task_of(tmp_path), Scripted(answers_null=False), tmp_path / "out")
    assert (figures["HasAns_exact"], figures["NoAns_exact"]) == (100, 0)
    assert figures["best_exact"] == 100


def test_a_paragraph_without_a_span_is_declined(tmp_path: Path) -> None:
    data = small_squad("2.0")
    data["data"][0]["paragraphs"].append(
        {"context": "", "qas": [data["data"][0]["paragraphs"][0]["qas"].pop()]}
    )
    evaluate_squad(open_task(written(tmp_path / "dev.json", data)), Scripted(), tmp_path / "out")
    assert kept(tmp_path / "out", "na_prob.json")["n0"] == 1.0


def test_the_files_score_as_the_reader_did(tmp_path: Path) -> None:
    task, out = task_of(tmp_path), tmp_path / "out"
    figures = evaluate_squad(task, Scripted(), out)
    assert evaluate_predictions(task, out / "predictions.json", out / "na_prob.json") == figures


def test_records_hold_the_paragraph_and_the_span(tmp_path: Path) -> None:
    evaluate_squad(task_of(tmp_path), Scripted(), tmp_path / "out", "mine")
    results = ResultFolder.open(tmp_path / "out")
    tram, absent = (next(r for r in results.records("mine") if r.id == qid) for qid in ("q1", "n1"))
    assert (tram.scores, tram.prediction, tram.golds) == ({"exact": 0, "f1": 0}, "", ("Ute Falk",))
    assert (tram.confidence, tram.answerable, tram.documents) == (None, True, (tram.evidence[0].document,))
    [evidence] = tram.evidence
    assert evidence.span is not None
    assert (evidence.text, evidence.text[slice(*evidence.span)]) == (list(CONTEXTS)[1], "Ute Falk")
    assert (absent.scores, absent.answerable, absent.documents) == ({"exact": 1, "f1": 1}, False, ())
    assert results.metrics["systems"]["mine"]["total"] == 6


def test_it_goes_on_where_it_was_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(squad, "QUESTIONS_AT_ONCE", 2)
    task, out, whole = task_of(tmp_path), tmp_path / "out", tmp_path / "whole"
    with pytest.raises(KeyboardInterrupt):
        evaluate_squad(task, Scripted(stop_after=2), out)
    records = (out / "records.jsonl").read_text().splitlines(keepends=True)
    (out / "records.jsonl").write_text("".join(records[:3]))  # the second batch was kept in part
    reader, seen = Scripted(), []
    figures = evaluate_squad(task, reader, out, report=lambda stage, done, total: seen.append((done, total)))
    assert [len(batch) for batch in reader.batches] == [2, 2]
    assert seen == [(3, 6), (4, 6), (6, 6)]
    assert figures == evaluate_squad(task, Scripted(), whole)
    assert [r.id for r in ResultFolder.open(out).records()] == [q.id for q in task.questions]
    assert kept(out, "na_prob.json") == kept(whole, "na_prob.json")


def test_a_finished_folder_is_not_read_again(tmp_path: Path) -> None:
    task, reader = task_of(tmp_path), Scripted()
    figures = evaluate_squad(task, Scripted(), tmp_path / "out")
    assert evaluate_squad(task, reader, tmp_path / "out") == figures
    assert reader.batches == []


@pytest.mark.parametrize("size", [1, 4, 100])
def test_results_do_not_depend_on_the_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(squad, "QUESTIONS_AT_ONCE", size)
    evaluate_squad(task_of(tmp_path), Scripted(), tmp_path / "out")
    assert kept(tmp_path / "out", "predictions.json") == {**ANSWERS, "q1": "", "n0": "", "n1": "", "n2": ""}


def test_changed_data_are_refused(tmp_path: Path) -> None:
    evaluate_squad(task_of(tmp_path, "1.1"), Scripted(), tmp_path / "out")
    with pytest.raises(ValueError, match="was begun with data_sha256"):
        evaluate_squad(task_of(tmp_path, "2.0"), Scripted(), tmp_path / "out")


@pytest.mark.parametrize("version", ["1.1", "2.0"])
def test_the_command_reads_keeps_and_saves(
    run: Any, tmp_path: Path, reader_folder: str, version: str
) -> None:
    data = written(tmp_path / "dev.json", small_squad(version))
    arguments = ("eval", "squad", "--data", data, "--reader", reader_folder, "--json")
    code, out, err = run(*arguments, "--out", "kept", "--save", "mine.json")
    assert (code, err) == (0, "the report is kept/report.html\n")
    assert run(*arguments)[1] == out
    official = ["--na-probs", "kept/na_prob.json"] if version == "2.0" else []
    assert run("eval", "squad", "--data", data, "--predictions", "mine.json", *official, "--json")[1] == out
    assert {record.system for record in ResultFolder.open(tmp_path / "kept").records()} == {reader_folder}
