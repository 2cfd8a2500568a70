"""Result folders, and `eval compare`."""

import json
from pathlib import Path

import pytest

from spanwise.errors import DataMalformed
from spanwise.eval.questions import Evidence, QuestionRecord
from spanwise.pipelines.evaluation.results import ResultFolder, compare_results, read_records

ONE = QuestionRecord(
    "bm25",
    "q1",
    "Who built the mill?",
    {"exact": 1.0},
    golds=("Ada Rook",),
    prediction="Ada Rook",
    confidence=0.5,
    timings_ms={"retrieve": 2.0},
    evidence=(Evidence("a file.md", 0, 20, "Ada Rook built this.", 1.5, (0, 8)),),
)
TWO = QuestionRecord("bm25", "q2", "Who sold it?", {"exact": 0.0}, answerable=False, prediction="")


def result_folder(path: Path, **systems: list[float]) -> Path:
    results = ResultFolder.start(path, "open", {})
    for system, scores in systems.items():
        results.add(
            QuestionRecord(system, f"q{i}", f"What is {i}?", {"exact": score, "rr": 0.5})
            for i, score in enumerate(scores)
        )
    results.finish({})
    return path


def test_a_torn_line_is_dropped(tmp_path: Path) -> None:
    results = ResultFolder.start(tmp_path / "out", "open", {"k": 20})
    results.add([ONE])
    with (tmp_path / "out/records.jsonl").open("a") as file:
        file.write('{"system": "bm')
    again = ResultFolder.start(tmp_path / "out", "open", {"k": 20})
    assert again.question_ids("bm25") == {"q1"}
    again.add([TWO])
    again.finish({"bm25": {"exact": 50.0}})
    results = ResultFolder.open(tmp_path / "out")
    assert results.records("bm25") == [ONE, TWO]
    assert json.loads((tmp_path / "out/metrics.json").read_text())["systems"] == {"bm25": {"exact": 50.0}}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[]", "expected an object"),
        ('{"system": "a", "id": 1, "question": ""}', "'id' to be a string"),
        ('{"system": "a", "id": "1", "question": "", "scores": {"f1": "x"}}', "f1"),
        ('{"system": "a", "id": "1", "question": "", "scores": {"f1": NaN}}', "finite"),
        ('{"system": "a", "id": "1", "question": "", "scores": {}, "colour": 1}', "colour"),
        ('{"system": "a", "id": "1", "question": "", "scores": {}, "evidence": [1]}', "another form"),
    ],
)
def test_a_wrong_record_is_refused_by_name(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "records.jsonl").write_text(line)
    with pytest.raises(DataMalformed, match=rf"line 1: .*{message}"):
        read_records(tmp_path / "records.jsonl")


def test_other_settings_and_other_content_are_refused(tmp_path: Path) -> None:
    ResultFolder.start(tmp_path / "out", "open", {"k": 20})
    with pytest.raises(ValueError, match="k = 20, not 10"):
        ResultFolder.start(tmp_path / "out", "open", {"k": 10})
    with pytest.raises(ValueError, match="results of `eval open`"):
        ResultFolder.start(tmp_path / "out", "squad", {"k": 20})
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("Dear")
    with pytest.raises(ValueError, match="holds no evaluation"):
        ResultFolder.start(tmp_path / "mine", "open", {})
    with pytest.raises(DataMalformed, match=r"settings\.json"):
        ResultFolder.open(tmp_path)


def test_two_folders_are_compared_measure_by_measure(tmp_path: Path) -> None:
    before = result_folder(tmp_path / "before", bm25=[0, 0, 0, 1, 0, 0])
    after = result_folder(tmp_path / "after", bm25=[1, 1, 1, 1, 1, 1, 1])
    comparison = compare_results([before, after / "records.jsonl"])
    assert comparison.measures["exact"].questions == 6
    assert comparison.measures["exact"].p == 2 / 32
    assert comparison.measures["rr"].difference == 0.0
    assert comparison.left_out == ("q6",)
    record = comparison.record()["measures"]["exact"]
    assert len(record["wins"]) == 5
    assert record["wins"][0]["question"] == "What is 0?"


def test_two_systems_of_one_folder_are_named(tmp_path: Path) -> None:
    folder = result_folder(tmp_path / "out", bm25=[0, 1], dense=[1, 1], hybrid=[1, 0])
    comparison = compare_results([folder], ["bm25", "hybrid"], ["exact"])
    assert comparison.baseline == "bm25"
    assert comparison.system == "hybrid"
    assert list(comparison.measures) == ["exact"]
    for systems in ((), ("bm25",), ("bm25", "bm26")):
        with pytest.raises(ValueError, match="expected two systems"):
            compare_results([folder], systems)
    with pytest.raises(ValueError, match="do not share 'f1'"):
        compare_results([folder], ["bm25", "hybrid"], ["f1"])


def test_changed_questions_are_left_out(tmp_path: Path) -> None:
    for name, text in (("a", "Who?"), ("b", "Whom?")):
        records = [QuestionRecord("s", "q1", text, {"f1": 1.0}), QuestionRecord("s", "q2", "?", {"f1": 1.0})]
        ResultFolder.start(tmp_path / name, "open", {}).add(records)
    assert compare_results([tmp_path / "a", tmp_path / "b"]).left_out == ("q1",)


def test_fail_if_worse_exits_with_1_for_a_significant_loss(tmp_path: Path, run) -> None:
    good = result_folder(tmp_path / "good", bm25=[1] * 8)
    bad = result_folder(tmp_path / "bad", bm25=[0] * 7 + [1])
    code, out, err = run("eval", "compare", good, bad, "--fail-if-worse", "--json")
    assert code == 1
    assert json.loads(out)["measures"]["exact"]["p"] == 1 / 128
    assert "is worse than" in err
    assert run("eval", "compare", bad, good, "--fail-if-worse")[0] == 0
    code, out, _ = run("eval", "compare", good, bad)
    assert code == 0
    assert out.splitlines()[2].split()[:4] == ["exact", "8", "1.0000", "0.1250"]
