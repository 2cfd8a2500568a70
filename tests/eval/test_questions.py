"""Question sets, verdicts on answers, and records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from spanwise.errors import DataMalformed
from spanwise.eval.questions import (
    Evidence,
    FolderQuestion,
    QuestionRecord,
    Verdict,
    is_right,
    judge_answer,
    parse_record,
    read_question_set,
    record_line,
    text_matches,
)
from spanwise.types import AnswerSpan, Passage, Span

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


def test_four_fields_are_enough(tmp_path: Path) -> None:
    record = {name: RECORD[name] for name in ("question", "answers", "documents", "answerable")}
    (found,) = read_question_set(file(tmp_path, record))
    assert (found.id, found.type, found.sentence, found.no_shared_words) == ("1", "factoid", "", False)


def test_only_a_line_feed_ends_a_record(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    path.write_text(json.dumps({**RECORD, "question": "Who\u2028founded\u0085it?"}, ensure_ascii=False))
    assert len(read_question_set(path)) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"type": []}, r"type is \[\]"),
        ({"id": 7}, "id is 7"),
        ({"question": " "}, "the question is empty"),
        ({"answerable": "yes"}, "answerable is 'yes'"),
        ({"answers": [""]}, "non-empty strings"),
        ({"answers": []}, "answers has 0 items, but answerable is True"),
        ({"extra": 1}, "the field extra is unknown"),
    ],
)
def test_malformed_record_is_refused_with_its_line(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(DataMalformed, match=message) as caught:
        read_question_set(file(tmp_path, ABSENT, {**RECORD, **change}))
    assert "set.jsonl, line 3" in str(caught.value)


def test_id_given_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataMalformed, match="'q1' is given twice"):
        read_question_set(file(tmp_path, RECORD, RECORD))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[]", "line 1"),
        (b"[" * 100_000, "line 1"),
        (b'{"question": ""}', "missing"),
        (b"\xe9", "cannot be read"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "set.jsonl").write_bytes(content)
    with pytest.raises(DataMalformed, match=message):
        read_question_set(tmp_path / "set.jsonl")


SENTENCE = "Ann Weaver founded the mill in 1887 because the river never froze."


def question(kind: str = "factoid", *answers: str, answerable: bool = True) -> FolderQuestion:
    documents = ("mill.md", "history.md") if answerable else ()
    return FolderQuestion(
        "q", "…?", kind, answers, SENTENCE if answerable else "", documents, answerable, False
    )


def answer(text: str, document: str = "mill.md", sentence: str = SENTENCE) -> AnswerSpan:
    passage = Passage(1, document, 0, len(sentence), sentence)
    span = Span(document, 0, len(text), text)
    return AnswerSpan(
        span,
        span,
        Span(document, 0, len(sentence), sentence),
        passage,
        page=None,
        line=1,
        score=1.0,
        confidence=None,
    )


@pytest.mark.parametrize(
    ("gold", "text", "matches"),
    [
        ("1887", "in 1887", True),
        ("The Mill", "mill!", True),
        ("Ann Weaver", "Weaver", True),
        ("Ann Maria Berta Weaver", "Weaver", False),
        ("river never froze", "the river froze", False),
        ("froze river", "river froze", False),
        ("weave", "weaver", False),
        ("Ann", "", False),
        ("the", "a", False),
    ],
)
def test_text_matches(gold: str, text: str, matches: bool) -> None:
    assert text_matches(gold, text) is matches


@pytest.mark.parametrize("kind", ["factoid", "how", "why", "list"])
def test_the_sentence_counts_as_the_span_does(kind: str) -> None:
    assert is_right(question(kind, "the river never froze"), answer("Ann Weaver"))
    assert not is_right(
        question(kind, "the river never froze"), answer("Ann Weaver", sentence="Ann Weaver did.")
    )


@pytest.mark.parametrize(
    ("answerable", "given", "verdict"),
    [
        (True, answer("1887"), Verdict.RIGHT),
        (True, answer("in 1887", document="history.md"), Verdict.RIGHT),
        (True, answer("1887", document="other.md"), Verdict.WRONG),
        (True, answer("1990", sentence="in 1990"), Verdict.WRONG),
        (True, None, Verdict.WRONGLY_DECLINED),
        (False, None, Verdict.RIGHTLY_DECLINED),
        (False, answer("1887"), Verdict.FALSE_ANSWER),
    ],
)
def test_verdicts(answerable: bool, given: AnswerSpan | None, verdict: Verdict) -> None:
    golds = ("1887",) if answerable else ()
    assert judge_answer(question("factoid", *golds, answerable=answerable), given) is verdict


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


def test_a_record_comes_back_from_its_line() -> None:
    assert parse_record(record_line(ONE)) == ONE


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[]", "expected an object"),
        ('{"system": "a", "id": 1, "question": ""}', "id is 1"),
        ('{"system": "a", "id": "1", "question": "", "scores": {"f1": "x"}}', "f1"),
        ('{"system": "a", "id": "1", "question": "", "scores": {}, "colour": 1}', "colour"),
        ('{"system": "a", "id": "1", "question": "", "scores": {}, "evidence": [1]}', "another form"),
    ],
)
def test_a_wrong_record_is_refused_by_name(line: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_record(line)
