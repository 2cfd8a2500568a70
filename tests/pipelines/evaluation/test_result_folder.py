"""What an evaluation found survives a stop, and goes on only with the same settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from spanwise.errors import DataMalformed, IndexLocked
from spanwise.eval.question_record import Evidence, QuestionRecord, parse_record, record_line
from spanwise.pipelines.evaluation.result_folder import ResultFolder

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


def append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def test_a_record_comes_back_from_its_line() -> None:
    assert parse_record(record_line(ONE)) == ONE


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[]", "expected an object"),
        ('{"system": "a", "id": 1, "question": ""}', "id is 1"),
        ('{"system": "a", "id": "1", "question": "", "scores": {"f1": "x"}}', "f1"),
        ('{"system": "a", "id": "1", "question": "", "scores": {}, "colour": 1}', "colour"),
        ('{"system": "a", "id": "1", "question": "", "evidence": [1]}', "evidence"),
    ],
)
def test_a_wrong_line_is_refused_by_name(line: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_record(line)


def test_it_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    with ResultFolder.start(tmp_path / "out", "open", {"k": 20}) as results:
        results.add([ONE], {"q1": [("d 1", 2.0), ("d2", 1.0)]})
        append(results.path / "records.jsonl", '{"system": "bm')
    with ResultFolder.start(tmp_path / "out", "open", {"k": 20}) as results:
        assert results.done("bm25") == {"q1"}
        results.add([TWO], {"q2": [("d2", 1.0)]})
        assert list(results.records("bm25")) == [ONE, TWO]


def test_a_ranking_without_its_record_is_dropped(tmp_path: Path) -> None:
    with ResultFolder.start(tmp_path / "out", "open", {}) as results:
        results.add([ONE], {"q1": [("d1", 2.0), ("d2", 1.0)]})
        append(results.run_path("bm25"), "q2 Q0 d9 1 0.5 bm25\nq2 Q0 d")
    with ResultFolder.start(tmp_path / "out", "open", {}) as results:
        results.add([TWO], {"q2": [("d 3", 1.0)]})
        lines = results.run_path("bm25").read_text().splitlines()
        results.finish({"bm25": {"exact": 50.0}})
    assert lines == ["q1 Q0 d1 1 2.0 bm25", "q1 Q0 d2 2 1.0 bm25", "q2 Q0 d%203 1 1.0 bm25"]
    assert ResultFolder.open(tmp_path / "out").metrics["systems"] == {"bm25": {"exact": 50.0}}


def test_other_settings_and_other_content_are_refused(tmp_path: Path) -> None:
    with ResultFolder.start(tmp_path / "out", "open", {"k": 20}):
        pass
    with pytest.raises(ValueError, match="k = 20, not 10"):
        ResultFolder.start(tmp_path / "out", "open", {"k": 10})
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("Dear")
    with pytest.raises(ValueError, match="holds no evaluation"):
        ResultFolder.start(tmp_path / "mine", "open", {})


def test_two_processes_do_not_share_it(tmp_path: Path) -> None:
    with ResultFolder.start(tmp_path / "out", "open", {}), pytest.raises(IndexLocked):
        ResultFolder.start(tmp_path / "out", "open", {})


def test_what_is_no_result_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(DataMalformed, match=r"settings\.json"):
        ResultFolder.open(tmp_path)
