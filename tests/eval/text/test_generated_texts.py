from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.errors import DataMalformed
from spanwise.eval.text.generated_texts import GeneratedText, read_generated_texts


def file(folder: Path, content: bytes | str) -> Path:
    path = folder / "texts.jsonl"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_reads_what_is_given_and_counts_lines_for_ids(tmp_path: Path) -> None:
    lines = (
        '{"id": "q1", "references": ["a", ""], "prediction": "", "question": "Why?", "confidence": 1}\n\n'
        '{"references": ["水車"]}\r\n'
    )
    assert read_generated_texts(file(tmp_path, lines)) == (
        GeneratedText("q1", ("a", ""), "", "Why?", 1),
        GeneratedText("3", ("水車",)),
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2: "),
        ("[]", "expected an object, found list"),
        ('{"prediction": "a"}', "references is None"),
        ('{"references": "a"}', "references is 'a'; expected an array"),
        ('{"references": []}', "expected at least one"),
        ('{"references": ["a", 3]}', "one of references is 3; expected a string"),
        ('{"references": [" "]}', "not blank"),
        ('{"references": ["a"], "prediction": null}', "prediction is None; expected a string"),
        ('{"references": ["a"], "id": 7}', "id is 7"),
        ('{"references": ["a"], "id": "first"}', "the id 'first' is given twice"),
        (
            '{"references": ["a"], "answer": "b"}',
            "the field 'answer' is unknown; expected canaries, confidence, id",
        ),
        ('{"references": ["a"], "confidence": 1.5}', r"confidence is 1\.5; expected a number in 0\.\.1"),
        ('{"references": ["a"], "confidence": NaN}', "confidence is nan"),
        ('{"references": ["a"], "confidence": true}', "confidence is True"),
        ('{"references": ["a"], "prediction": "\\ud800"}', "surrogates not allowed"),
        ('{"references": [], "sources": []}', "expected at least one"),
        ('{"sources": [null]}', "one of sources is None; expected a string"),
        ('{"references": ["a"], "canaries": "x"}', "canaries is 'x'; expected an array"),
        ('{"references": ["a"], "seconds": -1}', "seconds is -1; expected a number of seconds"),
        ('{"references": ["a"], "seconds": Infinity}', "seconds is inf"),
        ('{"references": ["a"], "tokens": 1.5}', r"tokens is 1\.5; expected a count"),
        ('{"references": ["a"], "tokens": true}', "tokens is True; expected a count"),
        ("[" * 100_000, "recursion"),
    ],
)
def test_a_wrong_line_is_refused_by_its_number(tmp_path: Path, line: str, message: str) -> None:
    path = file(tmp_path, '{"id": "first", "references": ["a"]}\n' + line)
    with pytest.raises(DataMalformed, match=message) as caught:
        read_generated_texts(path)
    assert "texts.jsonl, line 2: " in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"), [("", "holds no texts"), ("\n \n", "holds no texts"), (b"\xff", "line 1")]
)
def test_a_file_without_texts_is_refused(tmp_path: Path, content: bytes | str, message: str) -> None:
    with pytest.raises(DataMalformed, match=message):
        read_generated_texts(file(tmp_path, content))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataMalformed, match=r"absent\.jsonl: cannot be read"):
        read_generated_texts(tmp_path / "absent.jsonl")


@given(content=st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(content: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    with suppress(DataMalformed):
        read_generated_texts(file(tmp_path_factory.mktemp("any"), content))
