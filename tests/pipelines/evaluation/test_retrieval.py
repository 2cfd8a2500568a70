"""`eval retrieval` and `eval open` on a few documents, with a tiny encoder and a scripted reader."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.ranking_data import write_beir_folder
from helpers.squad import CONTEXTS, Scripted, small_squad, written

from spanwise.corpora.datasets.beir import read_beir
from spanwise.errors import IndexNotFound
from spanwise.eval.questions import QuestionRecord
from spanwise.pipelines.evaluation.corpus import document_library, paragraph_documents, text_document
from spanwise.pipelines.evaluation.results import ResultFolder
from spanwise.pipelines.evaluation.retrieval import (
    _with_answer,
    evaluate_open,
    evaluate_retrieval,
    rank_documents,
)
from spanwise.reader import load
from spanwise.reader.evidence import FEATURES, Calibration
from spanwise.types import Answer, Computed, Hit, Passage

COPY = "Ada Rook is named on a stone of the mill that she built."


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    write_beir_folder(tmp_path / "toy")
    return tmp_path / "toy"


def test_a_run_has_the_figures_and_the_ranking_of_each_query(toy: Path, tmp_path: Path) -> None:
    figures = evaluate_retrieval(read_beir(toy), ["bm25"], tmp_path / "out")
    assert figures["bm25"] == {"nDCG@10": 1.0, "R@100": 1.0, "RR": 1.0, "AP": 1.0, "P@10": 0.1}
    [first, _] = ResultFolder.open(tmp_path / "out").records("bm25")
    assert first.question == "who built the mill"
    assert first.documents == ("1",)
    assert first.scores["RR"] == 1.0


def test_a_computed_value_is_an_answer() -> None:
    asked = QuestionRecord("bm25", "q", "How many?", {}, answerable=False)
    record = _with_answer(asked, Answer("How many?", computed=Computed("count", "2", (), None)))
    assert (record.prediction, record.scores["declined"]) == ("2", 0.0)


def test_retrievers_stand_side_by_side(toy: Path, run, encoder_folder: str) -> None:
    code, out, _ = run("eval", "retrieval", "--data", toy, "--model", encoder_folder)
    assert code == 0
    assert out.split()[:4] == ["tfidf", "bm25", "dense", "hybrid"]
    assert json.loads(run("eval", "retrieval", "--data", toy, "--retriever", "bm25", "--json")[1])["bm25"]


class FixedRanking:
    """A retriever of documents by the order of their passages."""

    name = "scripted"

    def __init__(self, *documents: str) -> None:
        self.hits = [Hit(Passage(i, name, 0, 1, "x"), 10.0 - i, i + 1) for i, name in enumerate(documents)]

    def search(self, questions, k, among=None):
        return [self.hits[:k]]


def test_documents_are_ranked_by_their_best_passage() -> None:
    hits, documents = rank_documents(FixedRanking("a", "a", "b", "a", "c"), "who?", 2)
    assert [name for name, _ in documents] == ["a", "b"]
    assert len(hits) == 2
    _, documents = rank_documents(FixedRanking("a", "a", "a"), "who?", 2)
    assert documents == [("a", 10.0)]


@pytest.fixture
def scripted(monkeypatch):
    weights = {name: float(name == "margin") for name in FEATURES}
    calibration = Calibration(weights, 1.0, 0.0, 0.5, "scripted", "nothing")
    monkeypatch.setattr(load, "load_reader", lambda name, **_: Scripted())
    monkeypatch.setattr(load, "load_calibration", lambda *of: calibration)


def data(folder: Path, version: str = "2.0") -> Path:
    return written(folder / f"{version}.json", small_squad(version))


def records(folder: Path) -> list:
    return [replace(record, timings_ms={}) for record in ResultFolder.open(folder).records()]


def test_open_questions_are_ranked_and_read(tmp_path: Path, scripted) -> None:
    figures = evaluate_open([data(tmp_path)], ["bm25"], tmp_path / "out")["bm25"]
    assert figures["questions"] == 3
    assert figures["read"] == 6
    assert figures["unanswerable"] == 3
    assert figures["recall@1"] == figures["rr"] == figures["answer_recall@1"] == 1.0
    assert figures["exact"] == 100.0  # the best candidate, declined or not
    assert figures["abstained"] == pytest.approx(1 / 3)  # the tram
    assert figures["false_answers"] == 0.0
    assert set(figures["ms"]) == {"retrieve", "read", "rank", "tables"}
    first = records(tmp_path / "out")[0]
    [shown] = first.evidence
    assert shown.text[slice(*shown.span)] == first.prediction == "Ada Rook"
    assert json.loads((tmp_path / "out/metrics.json").read_text())["systems"]["bm25"] == figures


def test_another_paragraph_with_the_answer_counts_under_its_own_name(tmp_path: Path) -> None:
    mill = next(iter(CONTEXTS))
    article = {"title": "Town", "paragraphs": [{"context": text, "qas": []} for text in (COPY,)]}
    more = written(tmp_path / "more.json", {"version": "x", "data": [article]})
    gold = {"text": "Ada Rook", "answer_start": mill.index("Ada")}
    asked = {"id": "q", "question": "Whose stone is named?", "answers": [gold]}
    town = {"title": "Town", "paragraphs": [{"context": mill, "qas": [asked]}]}
    path = written(tmp_path / "one.json", {"version": "x", "data": [town]})
    figures = evaluate_open([path], ["bm25"], corpus=[more], read_limit=0)["bm25"]
    assert figures["recall@1"] == 0.0
    assert figures["answer_recall@1"] == 1.0
    assert figures["read"] == 0


def test_an_interrupted_run_is_resumed_and_completed(tmp_path: Path, scripted) -> None:
    def stop(stage: str, done: int, total: int) -> None:
        if (stage, done) == ("bm25", 2):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate_open([data(tmp_path)], ["bm25"], tmp_path / "out", on_progress=stop)
    assert len(records(tmp_path / "out")) == 2
    figures = evaluate_open([data(tmp_path)], ["tfidf", "bm25"], tmp_path / "out")
    evaluate_open([data(tmp_path)], ["bm25", "tfidf"], tmp_path / "whole")
    whole = {(r.system, r.id): r for r in records(tmp_path / "whole")}
    assert {(r.system, r.id): r for r in records(tmp_path / "out")} == whole
    assert list(figures) == ["tfidf", "bm25"]
    with pytest.raises(ValueError, match="k = 20, not 5"):
        evaluate_open([data(tmp_path)], ["bm25"], tmp_path / "out", k=5)


def test_an_unknown_retriever_is_refused_before_anything_is_made(tmp_path: Path, run) -> None:
    code, out, err = run("eval", "open", "--data", data(tmp_path), "--retriever", "bm26", "--out", "out")
    assert code == 2
    assert out == ""
    assert "bm26" in err
    assert not (tmp_path / "out").exists()


def test_the_verb_prints_one_json_value(tmp_path: Path, run, reader_folder: str) -> None:
    more = ("--retriever", "tfidf", "--retriever", "bm25", "--reader", reader_folder, "--read", 2)
    code, out, err = run("eval", "open", "--data", data(tmp_path), *more, "--json")
    assert code == 0, err
    printed = json.loads(out)
    assert list(printed) == ["tfidf", "bm25"]
    assert set(printed["bm25"]) >= {"recall@1", "recall@100", "rr", "ms_per_question", "ms", "read"}


DOCUMENTS = [
    text_document("a b%c", "Mills", " ".join(f"Sentence {i} tells of the mill." for i in range(200))),
    text_document("2", "Only a title", " "),
    text_document("3", "", ""),
]


def test_documents_are_cut_or_whole(tmp_path: Path) -> None:
    with document_library(DOCUMENTS, tmp_path / "split") as library:
        assert len([passage for passage in library.passages() if passage.document_id == "a b%c"]) > 5
    with document_library(DOCUMENTS, tmp_path / "whole", "whole") as library:
        assert [passage.text for passage in library.passages()] == ["Only a title", DOCUMENTS[0].text]
        [hit] = library.search("mills tells", retriever="bm25", k=1)
        assert hit.passage.document_id == "a b%c"
        assert hit.passage.heading == ("Mills",)


def test_an_interrupted_index_is_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(stage: str, done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr("spanwise.pipelines.evaluation.corpus.PASSAGES_PER_COMMIT", 1)
    with pytest.raises(KeyboardInterrupt):
        document_library(DOCUMENTS, tmp_path / "index", "whole", on_progress=stop)
    with document_library(DOCUMENTS, tmp_path / "index", "whole") as library, library.reading() as snapshot:
        assert list(snapshot.files()) == ["2", "3", "a b%c"]


def test_an_index_of_other_documents_is_refused(tmp_path: Path) -> None:
    document_library(DOCUMENTS, tmp_path / "index").close()
    for other, passages in ((DOCUMENTS[:2], "split"), (DOCUMENTS, "whole")):
        with pytest.raises(ValueError, match="holds other documents"):
            document_library(other, tmp_path / "index", passages)
    document_library(DOCUMENTS[:2], tmp_path / "index", superset=True).close()
    with pytest.raises(ValueError, match="lacks 1 of the 1 documents"):
        document_library(paragraph_documents([COPY]), tmp_path / "index", superset=True)
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "one.txt").write_text("Dear")
    with pytest.raises(IndexNotFound, match="letters"):
        document_library(DOCUMENTS, tmp_path / "letters")
