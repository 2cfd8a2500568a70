"""Question sets about a folder."""

import json
from pathlib import Path
from typing import Any

import pytest

from spanwise.errors import DataMalformed
from spanwise.pipelines.evaluation.corpus import read_questions

RECORD: dict[str, Any] = {
    "id": "q1",
    "question": "Who founded the mill?",
    "type": "factoid",
    "answers": ["Ann"],
    "sentence": "Ann built it.",
    "documents": ["mill.md"],
    "answerable": True,
    "no_shared_words": True,
}
ABSENT = {**RECORD, "id": "q2", "answers": [], "sentence": "", "documents": [], "answerable": False}


def file(folder: Path, *records: object) -> Path:
    path = folder / "set.jsonl"
    lines = [json.dumps(record, ensure_ascii=False) for record in records]
    path.write_text("\n\n".join(lines), encoding="utf-8")
    return path


def test_four_fields_are_enough_and_only_a_line_feed_ends_a_line(tmp_path: Path) -> None:
    record = {name: RECORD[name] for name in ("question", "answers", "documents", "answerable")}
    [question, other] = read_questions(
        file(tmp_path, record, {**record, "question": "Who\u2028built\u0085it?"})
    )
    assert question.id == "1"
    assert question.type == "factoid"
    assert question.sentence == ""
    assert not question.no_shared_words
    assert other.id == "3"
    assert other.answers == ("Ann",)
    assert other.documents == ("mill.md",)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"type": "who"}, "type is 'who'"),
        ({"id": 7}, "'id' to be a string"),
        ({"question": " "}, "the question is empty"),
        ({"answerable": "yes"}, "'answerable' to be true or false"),
        ({"answers": [""]}, "the empty string"),
        ({"answers": []}, "answers has 0 items, but answerable is True"),
        ({"documents": None}, "'documents' to be a list, found None"),
        ({"type": "yes-no", "verdict": "maybe"}, "verdict is 'maybe'"),
        ({"extra": 1}, "the field extra is unknown"),
        ({"id": "q2"}, "'q2' is given twice"),
    ],
)
def test_a_malformed_line_is_named(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(DataMalformed, match=rf"set\.jsonl, line 3: .*{message}"):
        read_questions(file(tmp_path, ABSENT, {**RECORD, **change}))


@pytest.mark.parametrize("content", [b"[]", b"[" * 100_000, b"{}", b"\xe9"])
def test_a_damaged_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "set.jsonl").write_bytes(content)
    with pytest.raises(DataMalformed, match="line 1"):
        read_questions(tmp_path / "set.jsonl")
    with pytest.raises(DataMalformed, match="cannot be read"):
        read_questions(tmp_path / "absent.jsonl")


def test_questions_of_a_squad_file_have_its_titles_as_documents(tmp_path: Path) -> None:
    gold = {"text": "Ann", "answer_start": 0}
    qas = [{"id": "a", "question": "Who?", "answers": [gold], "is_impossible": False}]
    qas.append({"id": "b", "question": "Why?", "answers": [], "is_impossible": True})
    article = {"title": "mill.md", "paragraphs": [{"context": "Ann did.", "qas": qas}]}
    (tmp_path / "set.json").write_text(json.dumps({"version": "2", "data": [article]}))
    question, absent = read_questions(tmp_path / "set.json")
    assert question.answers == ("Ann",)
    assert question.documents == ("mill.md",)
    assert not absent.answerable
    assert absent.documents == ()


def test_of_joined_questions_those_answered_and_those_absent_are_asked(tmp_path: Path) -> None:
    row = {"id": "a", "document": "mill.md", "passage": "Yes, Ann.", "question": "Was it Ann?"}
    row |= {"type": "yes-no", "answer": "Yes, Ann", "answer_start": 0, "short": "yes"}
    none = {**row, "type": "none", "answer": "", "answer_start": -1, "short": ""}
    path = file(tmp_path, row, {**none, "id": "b", "absent": True}, {**none, "id": "c"})
    question, absent = read_questions(path)
    assert question.answers == ("Yes, Ann",)
    assert question.documents == ("mill.md",)
    assert question.verdict == "yes"
    assert absent.id == "b"
    assert not absent.answerable
    assert absent.documents == ()
