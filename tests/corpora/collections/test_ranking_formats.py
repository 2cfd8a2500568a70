"""Data to train rankers on is told by its content, read from every form, and refused by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from made_collections import write, write_beir_folder, write_cranfield, write_msmarco
from made_ranking import MILL, PLAIN, SCORED, TRAM, WEIR

from spanwise.corpora.collections.ranking_colbert import write_colbert
from spanwise.corpora.collections.ranking_dpr import write_dpr_examples
from spanwise.corpora.collections.ranking_folder import write_ranking_folder
from spanwise.corpora.collections.ranking_formats import ranking_data, read_ranking_examples
from spanwise.errors import DataMalformed
from spanwise.eval.ranking.qrels import read_qrels
from spanwise.types import RankingExample


def flat(text: str) -> str:
    return text.replace("\n", " ")


def flattened(example: RankingExample) -> RankingExample:
    passages = tuple(map(flat, example.passages))
    return RankingExample(example.question, passages, example.n_positive, example.scores)


@pytest.mark.parametrize("examples", [PLAIN, SCORED])
def test_our_folder_comes_back_as_it_was_written(tmp_path: Path, examples: list[RankingExample]) -> None:
    write_ranking_folder(tmp_path, examples)
    assert list(read_ranking_examples(tmp_path, read_qrels)) == examples
    assert list(ranking_data(tmp_path, read_qrels).passages()) == [MILL, TRAM, WEIR]


@pytest.mark.parametrize("examples", [PLAIN, SCORED])
@pytest.mark.parametrize("whole", [True, False])
def test_colbert_files_come_back_as_they_were_written(
    tmp_path: Path, examples: list[RankingExample], whole: bool
) -> None:
    write_colbert(tmp_path, examples)
    name = "examples.jsonl" if examples[0].scores else "triples.jsonl"
    path = tmp_path if whole else tmp_path / name
    assert list(read_ranking_examples(path, read_qrels)) == list(map(flattened, examples))
    assert list(ranking_data(path, read_qrels).passages()) == [flat(text) for text in (MILL, TRAM, WEIR)]


def test_dpr_examples_come_back_without_scores(tmp_path: Path) -> None:
    assert write_dpr_examples(tmp_path / "new" / "train.json", SCORED) == 3
    assert list(read_ranking_examples(tmp_path / "new" / "train.json", read_qrels)) == PLAIN
    assert set(ranking_data(tmp_path / "new" / "train.json", read_qrels).passages()) == {MILL, TRAM, WEIR}


def test_dpr_questions_without_a_positive_are_counted(tmp_path: Path) -> None:
    bare = {"question": "q", "answers": [], "positive_ctxs": [], "hard_negative_ctxs": [{"text": "a"}]}
    path, told = tmp_path / "train.json", []
    path.write_text(json.dumps([bare, bare], indent=4))
    assert list(read_ranking_examples(path, read_qrels, tell=told.append)) == []
    assert told == [f"{path}: 2 questions without a positive passage, left out"]


def test_a_dpr_negative_that_is_a_positive_is_none(tmp_path: Path) -> None:
    mill, tram = {"title": "The mill", "text": "It was built in 1811."}, {"text": TRAM}
    record = {"question": "q", "answers": [], "positive_ctxs": [mill, mill]}
    record |= {"negative_ctxs": [tram], "hard_negative_ctxs": [tram, mill]}
    (tmp_path / "t.json").write_text(json.dumps([record]))
    assert list(read_ranking_examples(tmp_path / "t.json", read_qrels)) == [RankingExample("q", (MILL, TRAM))]


@pytest.mark.parametrize(("writer", "split"), [(write_beir_folder, "test"), (write_msmarco, "dev")])
def test_a_collection_has_positives_alone(tmp_path: Path, writer: Callable[[Path], None], split: str) -> None:
    writer(tmp_path)
    told: list[str] = []
    data = ranking_data(tmp_path, read_qrels, split, told.append)
    assert [(e.question, len(e.passages), e.n_positive) for e in data.examples()] == [
        ("who built the mill", 1, 1),
        ("when does the tram run", 1, 1),
    ]
    assert {flat(text) for text in data.passages()} == {flat(text) for text in (MILL, TRAM, WEIR)}
    assert told == []


def test_questions_without_a_judged_document_are_counted(tmp_path: Path) -> None:
    write_beir_folder(tmp_path / "toy")
    write(tmp_path / "toy/qrels/test.tsv", "query-id\tcorpus-id\tscore", "1\t1\t2", "2\t2\t0", "2\tgone\t1")
    told: list[str] = []
    [found] = read_ranking_examples(tmp_path / "toy", read_qrels, "test", told.append)
    assert flattened(found) == RankingExample("who built the mill", (flat(MILL),))
    assert told == ["toy: 1 questions without a document judged relevant, left out"]


@pytest.mark.parametrize("writer", [write_beir_folder, write_msmarco])
def test_what_is_reported_is_not_trained_on_unasked(tmp_path: Path, writer: Callable[[Path], None]) -> None:
    writer(tmp_path)
    with pytest.raises(ValueError, match=r"split 'train': .* has no such judgements"):
        list(read_ranking_examples(tmp_path, read_qrels))


def test_a_collection_without_splits_is_read(tmp_path: Path) -> None:
    write_cranfield(tmp_path)
    assert len(list(read_ranking_examples(tmp_path, read_qrels))) == 2


@pytest.mark.parametrize("content", ['{"data": []}', "", "text", "\x00\xff", '"[1]"', "["])
def test_a_file_of_no_known_form_is_refused_with_those_there_are(tmp_path: Path, content: str) -> None:
    path = tmp_path / "train.json"
    path.write_text(content)
    with pytest.raises(DataMalformed, match=r"train\.json"):
        list(read_ranking_examples(path, read_qrels))


@pytest.mark.parametrize("name", ["empty", "nowhere"])
def test_a_place_without_data_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataMalformed, match=name) as error:
        read_ranking_examples(tmp_path / name, read_qrels)
    if name == "empty":
        assert all(form in str(error.value) for form in ("spanwise", "BEIR", "DPR", "ColBERT", "MS MARCO"))
