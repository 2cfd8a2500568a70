"""BEIR folders: what their lines must be, and that written ones are read again."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_collections import WRITERS, write

from spanwise.corpora.collections import Collection, CollectionDocument, Query, read_collection
from spanwise.corpora.collections.beir import read_beir, write_beir
from spanwise.errors import DataMalformed
from spanwise.eval.ranking.qrels import read_qrels, write_qrels

write_judgements = partial(write_qrels, form="beir")
TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)
NAME = st.text("abc123-_/%é", min_size=1, max_size=8)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[]", "expected an object"),
        ("{", "no JSON"),
        ('{"_id": "9"}', "expected 'text' to be a string, found None"),
        ('{"_id": true, "text": ""}', "expected '_id' to be an id, found True"),
        ('{"_id": " ", "text": ""}', "the id is empty"),
        ('{"_id": "9", "text": "\\ud800"}', ".* half of a surrogate pair"),
        ("[" * 100_000, "no JSON"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    WRITERS["beir"](tmp_path)
    write(tmp_path / "corpus.jsonl", '{"_id": 1, "text": "one"}', "", line)
    with pytest.raises(DataMalformed, match=rf"corpus\.jsonl, line 3: {message}"):
        read_beir(tmp_path, None, read_qrels)


def test_a_query_of_white_space_is_refused(tmp_path: Path) -> None:
    WRITERS["beir"](tmp_path)
    write(tmp_path / "queries.jsonl", json.dumps({"_id": "1", "text": " \n"}))
    with pytest.raises(DataMalformed, match=r"queries\.jsonl, line 1: the query '1' is empty"):
        read_beir(tmp_path, None, read_qrels)


def test_the_test_split_is_meant_unless_another_is_named(tmp_path: Path) -> None:
    WRITERS["beir"](tmp_path)
    write(tmp_path / "qrels/train.tsv", "query-id\tcorpus-id\tscore", "2\t3\t2")
    assert set(read_beir(tmp_path, None, read_qrels).qrels) == {"1", "2"}
    train = read_beir(tmp_path, "train", read_qrels)
    assert (train.qrels, [query.id for query in train.judged]) == ({"2": {"3": 2}}, ["2"])
    assert train.lacks == ("queries without judgements, left out: 1",)


def test_what_is_missing_is_counted(tmp_path: Path) -> None:
    WRITERS["beir"](tmp_path)
    write(tmp_path / "corpus.jsonl", '{"_id": "1", "text": " "}')
    write(tmp_path / "queries.jsonl", '{"_id": "1", "text": "who"}')
    assert read_beir(tmp_path, None, read_qrels).lacks == (
        "documents without text: 1",
        "judged queries without text, left out: 1",
        "judgements of documents that are not there: 2",
    )


def test_every_format_can_become_a_beir_folder(folder: Path, tmp_path: Path) -> None:
    before = read_collection(folder, None, read_qrels)
    write_beir(before, tmp_path / "beir", "dev", write_judgements)
    after = read_beir(tmp_path / "beir", None, read_qrels)
    assert (after.documents, after.queries) == (before.documents, before.queries)
    assert after.qrels == before.qrels


@settings(max_examples=20)
@given(st.dictionaries(NAME, TEXT, min_size=1), st.dictionaries(NAME, TEXT, min_size=1), st.data())
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory,
    texts: dict[str, str],
    asked: dict[str, str],
    data: st.DataObject,
) -> None:
    folder = tmp_path_factory.mktemp("beir")
    grades = st.dictionaries(st.sampled_from(sorted(texts)), st.integers(-1, 3), min_size=1)
    qrels = data.draw(st.dictionaries(st.sampled_from(sorted(asked)), grades, min_size=1))
    documents = tuple(CollectionDocument(name, text[:3], text) for name, text in texts.items())
    queries = tuple(Query(name, " ".join(text.split())) for name, text in asked.items())
    before = Collection(folder.name, documents, queries, qrels)
    write_beir(before, folder, "test", write_judgements)
    assert read_beir(folder, None, read_qrels) == before


def test_a_beir_folder_is_not_written_over(tmp_path: Path) -> None:
    WRITERS["beir"](tmp_path)
    with pytest.raises(ValueError, match="holds a BEIR collection already"):
        write_beir(read_beir(tmp_path, None, read_qrels), tmp_path, "test", write_judgements)
