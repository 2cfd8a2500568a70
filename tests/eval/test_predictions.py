from __future__ import annotations

import gzip
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.errors import DataMalformed
from spanwise.eval.predictions import read_na_probabilities, read_predictions


def file(folder: Path, content: bytes | str) -> Path:
    path = folder / "predictions.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_reads_answers_in_the_order_of_the_file(tmp_path: Path, pack: type[bytes]) -> None:
    path = file(tmp_path, pack('{"q2": "Zürich", "q1": ""}'.encode()))
    assert list(read_predictions(path, required_ids=["q1", "q2"]).items()) == [("q2", "Zürich"), ("q1", "")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"q1": 3}', "answer to 'q1' is a number"),
        ('{"q1": null}', "answer to 'q1' is null"),
        ('{"q1": ["Hawaii"]}', "answer to 'q1' is an array"),
        ('{"q1": "a", "q1": "b"}', "the id 'q1' is given twice"),
        ('["Hawaii"]', "holds an array"),
        ('{"q2": "Hawaii"}', r"no prediction for 'q1' \(1 of 1 missing\)"),
        ('{"q1": ', "not a JSON object"),
        ("", "not a JSON object"),
        (b"\xff\xfe\x00", "not a JSON object"),
        ("[" * 100_000, "not a JSON object"),
        ('{"q1": "\\ud800"}', "half of a surrogate pair in the answer to 'q1'"),
        ('{"q\\udc00": "Hawaii"}', "half of a surrogate pair in the id"),
        (b"\x1f\x8b damaged", "cannot be read"),
        (gzip.compress(b'{"q1": "Hawaii"}')[:-9], "cannot be read"),
        (gzip.compress(b'{"q1": "Hawaii"}') + b"more", "cannot be read"),
    ],
)
def test_malformed_file_is_refused_by_name(tmp_path: Path, content: bytes | str, message: str) -> None:
    with pytest.raises(DataMalformed, match=message) as caught:
        read_predictions(file(tmp_path, content), required_ids=["q1"])
    assert "predictions.json" in str(caught.value)


def test_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataMalformed, match=r"absent\.json"):
        read_predictions(tmp_path / "absent.json")


def test_reads_integer_probabilities_as_floats(tmp_path: Path) -> None:
    assert read_na_probabilities(file(tmp_path, '{"q1": 0, "q2": 0.5}')) == {"q1": 0.0, "q2": 0.5}


@pytest.mark.parametrize("value", ["NaN", "Infinity", "1e999", "1" * 400, '"0.5"', "true", "null"])
def test_probability_that_is_not_a_finite_number_is_refused(tmp_path: Path, value: str) -> None:
    with pytest.raises(DataMalformed, match="expected a finite number"):
        read_na_probabilities(file(tmp_path, f'{{"q1": {value}}}'))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32", "utf-16-le"])
def test_other_encodings_of_json_are_understood(tmp_path: Path, encoding: str) -> None:
    assert read_predictions(file(tmp_path, '{"q1": "Zürich"}'.encode(encoding))) == {"q1": "Zürich"}


def test_more_than_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spanwise.eval.predictions.MAX_BYTES", 10)
    with pytest.raises(DataMalformed, match="more than 10 bytes"):
        read_predictions(file(tmp_path, gzip.compress(b'{"q1": "Hawaii"}')))


def test_a_missing_probability_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataMalformed, match=r"no no-answer probability for 'q2' \(1 of 2 missing\)"):
        read_na_probabilities(file(tmp_path, '{"q1": 0.5}'), required_ids=["q1", "q2"])


@given(content=st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(content: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = file(tmp_path_factory.mktemp("any"), content)
    with suppress(DataMalformed):
        assert all(isinstance(text, str) for text in read_predictions(path).values())
