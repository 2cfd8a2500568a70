"""`eval retrieval` end to end on a small collection, in every format, with a tiny encoder."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from made_collections import write, write_beir_folder

from spanwise.eval.ranking.measures import parse_measures
from spanwise.eval.ranking.run_file import read_run
from spanwise.pipelines.evaluation.result_folder import ResultFolder
from spanwise.pipelines.evaluation.retrieval import RetrievalTest, open_collection

MEASURES = "nDCG@10 R@100 RR AP P@1"


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    write_beir_folder(tmp_path / "toy")
    return tmp_path / "toy"


def measured(toy: Path, out: Path, names: list[str], model: str = "base", report=None, **settings) -> list:
    """The records of an evaluation, without the times."""
    test = RetrievalTest(open_collection(toy), parse_measures(MEASURES), model=model, **settings)
    with (
        ResultFolder.start(out, "retrieval", test.settings) as results,
        test.library(out / "index", names) as library,
    ):
        test.run(library, names, results, report or (lambda stage, done, total: None))
        return [replace(record, timings_ms={}) for record in results.records()]


def test_retrievers_stand_side_by_side(toy: Path, run, encoder_folder: str) -> None:
    code, out, _ = run("eval", "retrieval", "--data", toy, "--model", encoder_folder, "--measures", "RR P@1")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == ["RR", "tfidf", "bm25", "dense", "hybrid"]


def test_a_record_says_what_was_found(toy: Path, tmp_path: Path) -> None:
    record = measured(toy, tmp_path / "out", ["bm25"])[0]
    assert (record.system, record.id, record.question) == ("bm25", "1", "who built the mill")
    assert record.documents == ("1",)
    assert record.scores == {"nDCG@10": 1.0, "R@100": 1.0, "RR": 1.0, "AP": 1.0, "P@1": 1.0}
    assert (record.evidence[0].document, record.evidence[0].text) == ("1", "It was built\nin 1811.")


@pytest.mark.parametrize("name", ["bm25", "dense", "hybrid"])
def test_a_stopped_evaluation_goes_on_to_the_same_records(
    toy: Path, tmp_path: Path, encoder_folder: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(stage: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    whole = measured(toy, tmp_path / "whole", [name], encoder_folder)
    monkeypatch.setattr("spanwise.pipelines.evaluation.retrieval.RECORDS_AT_ONCE", 1)
    with pytest.raises(KeyboardInterrupt):
        measured(toy, tmp_path / "stopped", [name], encoder_folder, stop)
    assert measured(toy, tmp_path / "stopped", [name], encoder_folder) == whole
    runs = [(tmp_path / out / "runs" / f"{name}.trec").read_text() for out in ("whole", "stopped")]
    assert runs[0] == runs[1]


def test_another_retriever_joins_the_results_and_uses_the_index(toy: Path, tmp_path: Path) -> None:
    measured(toy, tmp_path / "out", ["bm25"])
    made = (tmp_path / "out/index/catalog.sqlite").stat().st_mtime_ns
    measured(toy, tmp_path / "out", ["tfidf"])
    assert set(ResultFolder.open(tmp_path / "out").metrics["systems"]) == {"bm25", "tfidf"}
    assert (tmp_path / "out/index/catalog.sqlite").stat().st_mtime_ns == made


def test_a_long_document_stands_where_its_best_passage_does(tmp_path: Path) -> None:
    long = " ".join(f"Sentence {i} is about water." for i in range(300)) + " The mill was built in 1811."
    write(tmp_path / "toy/corpus.jsonl", *[json.dumps({"_id": str(i), "text": long}) for i in range(4)])
    write(tmp_path / "toy/queries.jsonl", '{"_id": "1", "text": "water mill"}')
    write(tmp_path / "toy/qrels/test.tsv", "query-id\tcorpus-id\tscore", "1\t3\t1")
    [record] = measured(tmp_path / "toy", tmp_path / "out", ["bm25"], passages="split", depth=4)
    assert record.scores["R@100"] == 1.0
    assert len(read_run(tmp_path / "out/runs/bm25.trec")["1"]) == 4
    assert "mill" in record.evidence[0].text


def test_other_judgements_can_be_given(toy: Path, tmp_path: Path, run) -> None:
    write(tmp_path / "qrels.txt", "1 0 3 1")
    arguments = ["--data", toy, "--qrels", tmp_path / "qrels.txt", "--retriever", "bm25", "--json"]
    code, out, err = run("eval", "retrieval", *arguments)
    assert (code, json.loads(out)["bm25"]["R@100"]) == (0, 0.0)
    assert "toy: queries without judgements, left out: 1" in err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "--data is missing"),
        (["--data", "nowhere"], 1, "nowhere: not a BEIR folder"),
        (["--data", "toy", "--retriever", "bm26"], 2, "retriever must be one of tfidf"),
        (["--data", "toy", "--measures", "nDCG@ten"], 2, "there is no measure 'nDCG@ten'"),
        (["--data", "toy", "--passages", "half"], 2, "passages must be one of"),
        (["--data", "toy", "--split", "dev"], 2, "Choose one of: test"),
    ],
)
def test_wrong_usage_is_one_line(toy: Path, run, arguments: list[str], code: int, message: str) -> None:
    found, out, err = run("eval", "retrieval", *arguments)
    assert (found, out) == (code, "")
    assert message in err
    assert err.count("\n") == 1
