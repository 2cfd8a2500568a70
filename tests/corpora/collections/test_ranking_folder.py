from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.corpora.collections.ranking_folder import (
    is_ranking_folder,
    read_ranking_folder,
    write_ranking_folder,
)
from spanwise.errors import DataMalformed
from spanwise.types import RankingExample

EXAMPLES = [
    RankingExample("who?", ("Ada\u2028did", "Ute did", "nobody"), 2, (4.5, 0.25, -3.0)),
    RankingExample("when?", ("nobody",)),
    RankingExample("who?", ("Ute did", "Ada\u2028did")),
]
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@st.composite
def examples(draw):
    passages = tuple(draw(st.lists(TEXT, min_size=1, max_size=4)))
    scores = st.lists(st.integers(-99999, 99999), min_size=len(passages), max_size=len(passages))
    drawn = tuple(n / 1e4 for n in draw(scores)) if draw(st.booleans()) else ()
    return RankingExample(draw(TEXT), passages, draw(st.integers(1, len(passages))), drawn)


@given(written=st.lists(examples(), max_size=5))
def test_what_is_written_is_read(tmp_path_factory, written):
    folder = tmp_path_factory.mktemp("lists")
    assert write_ranking_folder(folder, written) == len(written)
    assert list(read_ranking_folder(folder)) == written


def test_a_passage_of_several_lists_is_written_once(tmp_path):
    write_ranking_folder(tmp_path, EXAMPLES)
    assert len((tmp_path / "corpus.jsonl").read_bytes().splitlines()) == 3
    assert len((tmp_path / "queries.jsonl").read_bytes().splitlines()) == 2


def test_gzipped_files_are_read(tmp_path):
    write_ranking_folder(tmp_path, EXAMPLES)
    for path in list(tmp_path.iterdir()):
        path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    assert is_ranking_folder(tmp_path)
    assert list(read_ranking_folder(tmp_path)) == EXAMPLES


def test_examples_that_fail_halfway_leave_what_was_there(tmp_path):
    write_ranking_folder(tmp_path, EXAMPLES)

    def failing():
        yield EXAMPLES[0]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_ranking_folder(tmp_path, failing())
    assert list(read_ranking_folder(tmp_path)) == EXAMPLES


def test_lists_never_stand_beside_the_passages_of_others(tmp_path, monkeypatch):
    write_ranking_folder(tmp_path, EXAMPLES)
    replace = type(tmp_path).replace

    def failing(self, target):
        if target.name == "queries.jsonl":
            raise OSError("disk full")
        return replace(self, target)

    monkeypatch.setattr(type(tmp_path), "replace", failing)
    with pytest.raises(OSError, match="disk full"):
        write_ranking_folder(tmp_path, EXAMPLES[:1])
    assert not is_ranking_folder(tmp_path)


@pytest.mark.promise("T11")
@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"query": "q9"}, "the id 'q9' is not in the folder"),
        ({"query": None}, "'query' to be an id"),
        ({"passages": ["p0", "p9"]}, "the id 'p9' is not in the folder"),
        ({"passages": "p0"}, "array of strings"),
        ({"passages": []}, "1 of 0 passages are positive"),
        ({"positives": 0}, "0 of 2 passages are positive"),
        ({"positives": 3}, "3 of 2 passages are positive"),
        ({"positives": 1.5}, "whole number, found 1.5"),
        ({"positives": "1"}, "whole number, found '1'"),
        ({"positives": True}, "whole number, found True"),
        ({"scores": [1]}, "1 scores for 2 passages"),
        ({"scores": [1, None]}, "finite number, found None"),
        ({"scores": [1, float("nan")]}, "finite number, found nan"),
        ({"scores": [1, 10**400]}, "finite number"),
        ({"scores": "12"}, "'scores' to be an array, found '12'"),
        ({"scores": {"1": 2, "2": 3}}, "'scores' to be an array"),
    ],
)
def test_damage_is_named_with_its_line(tmp_path, values, message):
    write_ranking_folder(tmp_path, [RankingExample("who?", ("a", "b"))])
    line = {"query": "q0", "passages": ["p0", "p1"], "positives": 1} | values
    (tmp_path / "lists.jsonl").write_text(json.dumps(line), encoding="utf-8")
    with pytest.raises(DataMalformed, match=f"lists.jsonl, line 1.*{message}"):
        list(read_ranking_folder(tmp_path))


def test_an_id_for_two_texts_is_refused(tmp_path):
    write_ranking_folder(tmp_path, EXAMPLES)
    with (tmp_path / "corpus.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"_id": "p0", "text": "other"}\n')
    with pytest.raises(DataMalformed, match="'p0' is given twice"):
        list(read_ranking_folder(tmp_path))


def test_a_missing_file_is_named(tmp_path):
    write_ranking_folder(tmp_path, EXAMPLES)
    (tmp_path / "queries.jsonl").unlink()
    assert not is_ranking_folder(tmp_path)
    with pytest.raises(DataMalformed, match=r"queries\.jsonl"):
        list(read_ranking_folder(tmp_path))
