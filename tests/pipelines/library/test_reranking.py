"""Re-ranking from the library and the command line, with a cross-encoder of random weights."""

import json

import pytest
from helpers.tiny_models import classifier

from spanwise.models import third_party as foreign

QUESTION = "who built the mill?"


@pytest.fixture(scope="session")
def scorer_folder(tmp_path_factory) -> str:
    return str(classifier(tmp_path_factory.mktemp("scorer")))


@pytest.fixture
def library(folder, indexed):
    with indexed(folder, cache=True) as made:
        yield made


def test_hits_come_in_the_order_of_the_scorer(library, scorer_folder):
    hits = library.search(QUESTION, retriever="tfidf", rerank=scorer_folder)
    plain = library.search(QUESTION, retriever="tfidf")
    assert {hit.passage.id for hit in hits} == {hit.passage.id for hit in plain}
    assert [hit.score for hit in hits] == [hit.scores["rerank"] for hit in hits]
    assert [set(hit.scores) for hit in hits] == [{"tfidf", "rerank"}] * len(hits)
    assert library.retriever("tfidf", rerank=scorer_folder).name == "tfidf+rerank"


def test_only_passages_within_the_depth_are_scored(library, scorer_folder):
    hits = library.search("the mill weir tram", retriever="bm25", rerank=scorer_folder, rerank_depth=1)
    plain = library.search("the mill weir tram", retriever="bm25")
    assert [hit.passage.id for hit in hits] == [hit.passage.id for hit in plain]
    assert ["rerank" in hit.scores for hit in hits] == [True] + [False] * (len(hits) - 1)


def test_results_are_cached_by_model_and_depth(library, scorer_folder, tmp_path, monkeypatch):
    computed = []
    score = foreign.ThirdPartyCrossEncoder.score
    monkeypatch.setattr(
        foreign.ThirdPartyCrossEncoder,
        "score",
        lambda self, *arguments: computed.append(self.digest) or score(self, *arguments),
    )
    other = str(classifier(tmp_path / "other", seed=1))
    calls = [(scorer_folder, 30), (scorer_folder, 30), (scorer_folder, 2), (other, 30)]
    results = [library.search(QUESTION, retriever="bm25", rerank=name, rerank_depth=n) for name, n in calls]
    assert len(computed) == 3
    assert results[0] == results[1]
    assert results[1] != results[3]


def test_search_and_ask_rerank(run, folder, encoder_folder, reader_folder, scorer_folder):
    run("index", folder, "--model", encoder_folder)
    by = ("--index", folder, "--retriever", "bm25", "--rerank-model", scorer_folder)
    code, out, err = run("search", QUESTION, *by, "--json")
    record = json.loads(out)
    assert code == 0
    assert err == ""
    assert record["retriever"] == "bm25+rerank"
    assert set(record["hits"][0]["scores"]) == {"bm25", "rerank"}
    code, out, _ = run("ask", QUESTION, *by, "--reader", reader_folder, "--threshold", 0, "--json")
    assert code == 0
    assert json.loads(out)["retriever"] == "bm25+rerank"
