from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from spanwise.errors import DataMalformed
from spanwise.eval.question_set import read_question_set

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
    path.write_text("\n\n".join(json.dumps(record) for record in records), encoding="utf-8")
    return path


def test_reads_questions_in_order(tmp_path: Path) -> None:
    found, absent = read_question_set(file(tmp_path, RECORD, ABSENT))
    assert (found.id, found.answers, found.documents) == ("q1", ("Ann",), ("mill.md",))
    assert (absent.answerable, absent.answers) == (False, ())


def test_four_fields_are_enough(tmp_path: Path) -> None:
    record = {name: RECORD[name] for name in ("question", "answers", "documents", "answerable")}
    (found,) = read_question_set(file(tmp_path, record))
    assert (found.id, found.type, found.sentence, found.no_shared_words) == ("1", "factoid", "", False)


def test_a_missing_field_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataMalformed, match="answerable is missing"):
        read_question_set(file(tmp_path, {"question": "Who?"}))


def test_only_a_line_feed_ends_a_record(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    path.write_text(json.dumps({**RECORD, "question": "Who\u2028founded\u0085it?"}, ensure_ascii=False))
    assert len(read_question_set(path)) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"type": "who"}, "type is 'who'"),
        ({"id": 7}, "id is 7"),
        ({"question": " "}, "the question is empty"),
        ({"answerable": "yes"}, "answerable is 'yes'"),
        ({"answers": "Ann"}, "answers is 'Ann'"),
        ({"answers": [""]}, "non-empty strings"),
        ({"answers": []}, "answers has 0 items, but answerable is True"),
        ({"answerable": False}, "has 1 items, but answerable is False"),
        ({"type": []}, r"type is \[\]"),
        ({"extra": 1}, "the field extra is unknown"),
    ],
)
def test_malformed_record_is_refused_with_its_line(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(DataMalformed, match=message) as caught:
        read_question_set(file(tmp_path, ABSENT, {**RECORD, **change}))
    assert "set.jsonl, line 3" in str(caught.value)


@pytest.mark.parametrize("content", [b"{", b"[]", b"null", b"[" * 100_000])
def test_line_that_is_not_an_object_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "set.jsonl"
    path.write_bytes(content)
    with pytest.raises(DataMalformed, match="line 1"):
        read_question_set(path)


def test_id_given_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataMalformed, match="'q1' is given twice"):
        read_question_set(file(tmp_path, RECORD, RECORD))


def test_file_that_is_not_utf8_or_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataMalformed, match="cannot be read"):
        read_question_set(tmp_path / "absent.jsonl")
    (tmp_path / "latin.jsonl").write_bytes(b"\xe9")
    with pytest.raises(DataMalformed, match="cannot be read"):
        read_question_set(tmp_path / "latin.jsonl")
