"""SQuAD files are read unchanged, and errors name the place of a wrong value."""

import gzip
import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from spanwise.corpora.datasets.squad import (
    GoldAnswer,
    SquadDataset,
    SquadQuestion,
    read_na_probabilities,
    read_predictions,
    read_squad,
)
from spanwise.errors import DataMalformed

CONTEXT = "The mill was founded by Hale. Hale sold it."
QUESTION = {"id": "q1", "question": "Who founded it?", "answers": [{"text": "Hale", "answer_start": 24}]}
PARAGRAPH = {"context": CONTEXT, "qas": [QUESTION]}


def written(folder: Path, **changes: object) -> Path:
    """A data set of one question, with these changes."""
    paragraph = {**PARAGRAPH, "qas": [{**QUESTION, **changes}]}
    path = folder / "squad.json"
    path.write_text(json.dumps({"data": [{"title": "Mill", "paragraphs": [paragraph]}]}), encoding="utf-8")
    return path


def only_question(dataset: SquadDataset) -> SquadQuestion:
    return dataset.articles[0].paragraphs[0].questions[0]


def test_questions_have_answers_or_are_impossible(tmp_path: Path) -> None:
    dataset = read_squad(written(tmp_path))
    assert dataset.version == "1.1"
    assert dataset.articles[0].paragraphs[0].context == CONTEXT
    assert only_question(dataset) == SquadQuestion("q1", "Who founded it?", (GoldAnswer("Hale", 24),))
    dataset = read_squad(written(tmp_path, is_impossible=True, answers=[], type="why"))
    assert dataset.version == "2.0"
    assert dataset.relocated == ()
    assert only_question(dataset) == SquadQuestion("q1", "Who founded it?", (), "why")


@pytest.mark.parametrize(("declared", "start"), [(25, 24), (29, 30), (999, 30), (-1, 24), (10**30, 30)])
def test_a_start_that_misses_moves_to_the_nearest_text(tmp_path: Path, declared: int, start: int) -> None:
    dataset = read_squad(written(tmp_path, answers=[{"text": "Hale", "answer_start": declared}]))
    assert only_question(dataset).answers == (GoldAnswer("Hale", start),)
    assert dataset.relocated == ("q1",)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"answers": [{"text": "Low", "answer_start": 3}]}, "article 0 .'Mill'.*'q1'.*'Low', at 3"),
        ({"answers": [{"text": "Hale"}]}, "a whole number, found None"),
        ({"answers": [{"text": "Hale", "answer_start": True}]}, "a whole number, found True"),
        ({"answers": []}, "at least one answer, found 0"),
        ({"answers": ["Hale"]}, "answer 0: expected an object, found 'Hale'"),
        ({"is_impossible": True}, "no answers to an impossible question, found 1"),
        ({"is_impossible": 1}, "true or false, found 1"),
        ({"question": "\ud800"}, "surrogate"),
        ({"id": None}, "article 0.*paragraph 0, question 0: expected 'id'"),
    ],
)
def test_a_wrong_value_is_named(tmp_path: Path, changes: dict[str, object], complaint: str) -> None:
    path = written(tmp_path, **changes)
    with pytest.raises(DataMalformed, match=complaint) as raised:
        read_squad(path)
    assert str(raised.value).startswith(str(path))


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe\xfd", "not JSON"),
        (b'{"data": [], "data": [3]}', "'data' twice"),
        (b"[" * 200_000, "nested too deeply"),
        (gzip.compress(b"{}" * 999, mtime=0)[:-9], "cannot be read"),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, data: bytes, complaint: str) -> None:
    path = tmp_path / "squad.json"
    path.write_bytes(data)
    with pytest.raises(DataMalformed, match=complaint):
        read_squad(path)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_predictions_keep_the_order_of_the_file(tmp_path: Path, pack: type[bytes]) -> None:
    path = tmp_path / "predictions.json"
    path.write_bytes(pack('{"q2": "Zürich", "q1": ""}'.encode()))
    assert list(read_predictions(path).items()) == [("q2", "Zürich"), ("q1", "")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"q1": null}', "answer to 'q1' is None"),
        ('{"q1": ["Hawaii"]}', r"answer to 'q1' is \['Hawaii'\]"),
        ('{"q1": "a", "q1": "b"}', "the key 'q1' twice"),
        ('["Hawaii"]', r"found \['Hawaii'\]"),
        ('{"q1": "\\ud800"}', "half of a surrogate pair in the answer to 'q1'"),
        ('{"q\\udc00": "Hawaii"}', "half of a surrogate pair in the id"),
    ],
)
def test_malformed_predictions_are_refused(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "predictions.json").write_text(content)
    with pytest.raises(DataMalformed, match=rf"predictions\.json.*{message}"):
        read_predictions(tmp_path / "predictions.json")


@pytest.mark.parametrize("value", ["NaN", "Infinity", "1e999", "1" * 400, '"0.5"', "true", "null"])
def test_a_probability_that_is_not_a_finite_number_is_refused(tmp_path: Path, value: str) -> None:
    (tmp_path / "na.json").write_text(f'{{"q1": {value}}}')
    with pytest.raises(DataMalformed, match=r"'q1' is not a finite number"):
        read_na_probabilities(tmp_path / "na.json")


def test_more_than_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spanwise.corpora.datasets.squad.MAX_BYTES", 10)
    (tmp_path / "packed.json").write_bytes(gzip.compress(b'{"q1": "Hawaii"}'))
    with pytest.raises(DataMalformed, match="more than 10 bytes"):
        read_predictions(tmp_path / "packed.json")


@given(st.binary(max_size=60))
def test_any_bytes_are_predictions_or_refused(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_bytes(content)
    with suppress(DataMalformed):
        assert all(isinstance(text, str) for text in read_predictions(path).values())


@pytest.mark.parametrize(
    ("name", "n_questions", "n_impossible"), [("dev-v1.1", 10_570, 0), ("dev-v2.0", 11_873, 5_945)]
)
def test_official_files_are_read_whole(data: Path, name: str, n_questions: int, n_impossible: int) -> None:
    dataset = read_squad(data / "squad" / f"{name}.json.gz")
    questions = [q for article in dataset.articles for p in article.paragraphs for q in p.questions]
    assert dataset.relocated == ()
    assert len(questions) == n_questions
    assert sum(not question.answers for question in questions) == n_impossible
