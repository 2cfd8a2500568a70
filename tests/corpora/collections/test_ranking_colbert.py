"""ColBERT's triples and scored lists, with the positive first or told by judgements."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_collections import write
from made_ranking import PLAIN, SCORED

from spanwise.corpora.collections.ranking_colbert import read_colbert, write_colbert
from spanwise.errors import DataMalformed
from spanwise.eval.ranking.qrels import read_qrels
from spanwise.types import RankingExample

TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20)


def tables(folder: Path) -> None:
    write(folder / "collection.tsv", "0\tmill", "1\ttram", "2\tweir")
    write(folder / "queries.train.tsv", "7\twho?", "8\twhen?")


def read(folder: Path, *lines: str) -> list[RankingExample]:
    tables(folder)
    write(folder / "lists.json", *lines)
    return list(read_colbert(folder / "lists.json", read_qrels, None, lambda note: None))


def test_triples_and_longer_lists_begin_with_the_positive(tmp_path: Path) -> None:
    assert read(tmp_path, "[7, 2, 0]", '["8", 0, 1, "2"]') == [
        RankingExample("who?", ("weir", "mill")),
        RankingExample("when?", ("mill", "tram", "weir")),
    ]


def test_scored_lists_keep_their_scores(tmp_path: Path) -> None:
    assert read(tmp_path, "[7, [2, 9.5], [0, -1]]") == [
        RankingExample("who?", ("weir", "mill"), scores=(9.5, -1.0))
    ]


def test_judgements_say_which_passages_answer(tmp_path: Path) -> None:
    write(tmp_path / "qrels.train.tsv", "7\t0\t0\t1", "7\t0\t1\t1", "7\t0\t2\t0")
    assert read(tmp_path, "[7, [2, 3.0], [0, 2.0], [1, 1.0]]") == [
        RankingExample("who?", ("mill", "tram", "weir"), 2, (2.0, 1.0, 3.0))
    ]


def test_scored_lists_without_a_judged_passage_are_counted(tmp_path: Path) -> None:
    tables(tmp_path)
    write(tmp_path / "qrels.tsv", "7 0 0 1")
    write(tmp_path / "x.json", "[8, [0, 1.0], [1, 0.5]]", "[7, [1, 1.0], [0, 0.5]]")
    told: list[str] = []
    [found] = read_colbert(tmp_path / "x.json", read_qrels, None, told.append)
    assert (found.question, found.passages) == ("who?", ("mill", "tram"))
    assert "x.json: 1 lists without a passage that" in told[0]


def test_a_triple_that_is_not_judged_is_taken_at_its_word(tmp_path: Path) -> None:
    write(tmp_path / "qrels.tsv", "7 0 0 1")
    assert [e.passages for e in read(tmp_path, "[8, 1, 0]")] == [("tram", "mill")]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[7]", "expected .qid, pid"),
        ("{}", "expected .qid, pid"),
        ("[7, 1, [2, 0.5]]", "expected .qid, .pid, score"),
        ("[7, [2]]", "expected .qid, .pid, score"),
        ("[7, [2, NaN]]", "expected a finite score, found nan"),
        ("[7, [2, true]]", "expected a finite score"),
        ('[7, [2, "1"]]', "expected a finite score"),
        ("[7, 1.5]", "expected an id, found 1.5"),
        ("[null, 1]", "expected an id, found None"),
        ("[7, 3]", "the id '3' is not in the tables"),
        ("[9, 1]", "the id '9' is not in the tables"),
        ("[7, 1", "no JSON"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(DataMalformed, match=rf"lists\.json, line 2: {message}"):
        read(tmp_path, "[7, 1, 2]", line)


@pytest.mark.parametrize("missing", ["collection.tsv", "queries.train.tsv"])
def test_a_missing_table_is_named(tmp_path: Path, missing: str) -> None:
    tables(tmp_path)
    write(tmp_path / "x.json", "[7, 1]")
    (tmp_path / missing).unlink()
    with pytest.raises(DataMalformed, match=missing.split(".")[0]):
        list(read_colbert(tmp_path / "x.json", read_qrels, None, lambda note: None))


def test_an_id_given_twice_is_named(tmp_path: Path) -> None:
    tables(tmp_path)
    write(tmp_path / "collection.tsv", "1\ta", "1\tb")
    write(tmp_path / "x.json", "[7, 1]")
    with pytest.raises(DataMalformed, match=r"collection\.tsv, line 2: the id '1' is given twice"):
        list(read_colbert(tmp_path / "x.json", read_qrels, None, lambda note: None))


def test_some_with_scores_and_some_without_are_not_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="one kind"):
        write_colbert(tmp_path, [PLAIN[0], SCORED[1]])


def test_passages_are_numbered_by_their_lines(tmp_path: Path) -> None:
    write_colbert(tmp_path, SCORED)
    rows = [line.split("\t")[0] for line in (tmp_path / "collection.tsv").read_text().splitlines()]
    first = json.loads((tmp_path / "examples.jsonl").read_text().splitlines()[0])
    assert (rows, first) == (["0", "1", "2"], [0, [0, 9.25], [1, 3.1], [2, -0.8]])


def test_lists_of_the_other_kind_do_not_stay(tmp_path: Path) -> None:
    write_colbert(tmp_path, PLAIN)
    write_colbert(tmp_path, SCORED)
    assert not (tmp_path / "triples.jsonl").exists()


@given(st.lists(st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=4, unique=True)), min_size=1, max_size=4))
def test_any_lists_come_back(tmp_path_factory: pytest.TempPathFactory, lists) -> None:
    examples = [RankingExample(question, tuple(texts)) for question, texts in lists]
    folder = tmp_path_factory.mktemp("colbert")
    write_colbert(folder, examples)
    assert list(read_colbert(folder / "triples.jsonl", read_qrels, None, lambda note: None)) == examples
