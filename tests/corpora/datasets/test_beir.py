"""BEIR folders are read whole, and a wrong line is named."""

import json
from pathlib import Path

import pytest
from helpers.ranking_data import DOCUMENTS, write, write_beir_folder

from spanwise.corpora.datasets.beir import read_beir
from spanwise.errors import DataMalformed


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_beir_folder(tmp_path)
    return tmp_path


def test_documents_queries_and_judgements_are_read(folder: Path) -> None:
    collection = read_beir(folder)
    texts = {document.id: (document.title, document.text) for document in collection.documents}
    assert texts == DOCUMENTS
    assert collection.qrels["2"] == {"2": 1, "3": 0}
    assert collection.gaps == ()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[]", "expected an object"),
        ("{", "not JSON"),
        ('{"_id": "9"}', "expected 'text' to be a string, found None"),
        ('{"_id": true, "text": ""}', "expected '_id' to be an id, found True"),
        ('{"_id": " ", "text": ""}', "the id is empty"),
        ('{"_id": "1", "text": ""}', "the id '1' occurs twice"),
        ('{"_id": "9", "text": "\\ud800"}', ".* half of a surrogate pair"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_a_wrong_line_is_named(folder: Path, line: str, message: str) -> None:
    write(folder / "corpus.jsonl", '{"_id": 1, "text": "one"}', "", line)
    with pytest.raises(DataMalformed, match=rf"corpus\.jsonl, line 3: {message}"):
        read_beir(folder)


def test_an_empty_query_is_rejected(folder: Path) -> None:
    write(folder / "queries.jsonl", json.dumps({"_id": "1", "text": " \n"}))
    with pytest.raises(DataMalformed, match=r"queries\.jsonl, line 1: the query '1' is empty"):
        read_beir(folder)


def test_the_test_split_is_the_default(folder: Path) -> None:
    write(folder / "qrels/train.tsv", "query-id\tcorpus-id\tscore", "2\t3\t2")
    assert set(read_beir(folder).qrels) == {"1", "2"}
    train = read_beir(folder, "train")
    assert [query.id for query in train.judged] == ["2"]
    assert train.gaps == ("queries without judgements, left out: 1",)
    with pytest.raises(ValueError, match="Choose one of: test, train"):
        read_beir(folder, "dev")


def test_missing_parts_are_counted(folder: Path) -> None:
    write(folder / "corpus.jsonl", '{"_id": "1", "text": " "}')
    write(folder / "queries.jsonl", '{"_id": "1", "text": "who"}')
    assert read_beir(folder).gaps == (
        "documents without text: 1",
        "judged queries without text, left out: 1",
        "judgements of missing documents: 2",
    )
