"""Re-ranking from the library and the command line, with a cross-encoder of random weights."""

from __future__ import annotations

import json

import pytest
from tiny_models import classifier

import spanwise
from spanwise.errors import ModelNotFound
from spanwise.models import cross_encoder, foreign

QUESTION = "who built the mill?"


@pytest.fixture(scope="session")
def scorer_folder(tmp_path_factory) -> str:
    return str(classifier(tmp_path_factory.mktemp("scorer")))


@pytest.fixture
def library(folder):
    with spanwise.open(folder, cache=True) as made:
        made.sync(vectors=False)
        yield made


@pytest.fixture
def no_builtin(monkeypatch, tmp_path):
    monkeypatch.setattr(cross_encoder, "model_folder", lambda name, kind: tmp_path / "none")


def test_hits_come_in_the_order_of_the_scorer(library, scorer_folder):
    hits = library.search(QUESTION, retriever="tfidf", rerank=scorer_folder)
    plain = library.search(QUESTION, retriever="tfidf")
    assert {hit.passage.id for hit in hits} == {hit.passage.id for hit in plain}
    assert [hit.score for hit in hits] == [hit.scores["rerank"] for hit in hits]
    assert [set(hit.scores) for hit in hits] == [{"tfidf", "rerank"}] * len(hits)
    assert library.retriever("tfidf", rerank=scorer_folder).name == "tfidf+rerank"


def test_only_so_many_passages_are_read(library, scorer_folder):
    hits = library.search("the mill weir tram", retriever="bm25", rerank=scorer_folder, rerank_depth=1)
    plain = library.search("the mill weir tram", retriever="bm25")
    assert [hit.passage.id for hit in hits] == [hit.passage.id for hit in plain]
    assert ["rerank" in hit.scores for hit in hits] == [True] + [False] * (len(hits) - 1)


@pytest.mark.parametrize("call", [{"retriever": "bm25+rerank"}, {"retriever": "bm25", "rerank": "builtin"}])
def test_the_builtin_model_is_named_in_two_ways(library, no_builtin, call):
    with pytest.raises(ModelNotFound, match="reinstall spanwise, or name another"):
        library.search(QUESTION, **call)


def test_a_depth_of_nothing_is_refused_before_anything_is_loaded(library):
    with pytest.raises(ValueError, match="rerank_depth is 0, expected at least 1"):
        library.ask(QUESTION, rerank="builtin", rerank_depth=0)


def test_hits_are_remembered_by_model_and_depth(library, scorer_folder, tmp_path, monkeypatch):
    computed = []
    score = foreign.ForeignCrossEncoder.score
    monkeypatch.setattr(
        foreign.ForeignCrossEncoder,
        "score",
        lambda self, *given: computed.append(self.digest) or score(self, *given),
    )
    other = str(classifier(tmp_path / "other", seed=1))
    calls = [(scorer_folder, 30), (scorer_folder, 30), (scorer_folder, 2), (other, 30), (scorer_folder, 2)]
    found = [library.search(QUESTION, retriever="bm25", rerank=name, rerank_depth=n) for name, n in calls]
    assert len(computed) == 3
    assert (found[0], found[2]) == (found[1], found[4])
    assert found[0] != found[3]


def test_progress_is_reported(library, scorer_folder):
    heard: list[tuple[str, int, int]] = []
    library.search_many(
        [QUESTION, "why?"],
        retriever="bm25",
        rerank=scorer_folder,
        on_progress=lambda *told: heard.append(told),
    )
    stage, done, total = heard[-1]
    assert (stage, done) == ("rerank", total)


def test_search_and_ask_rerank(run, folder, encoder_folder, reader_folder, scorer_folder):
    run("index", folder, "--model", encoder_folder)
    by = ("--index", folder, "--retriever", "bm25", "--rerank-model", scorer_folder)
    code, out, err = run("search", QUESTION, *by, "--json")
    record = json.loads(out)
    assert (code, err, record["retriever"]) == (0, "", "bm25+rerank")
    assert set(record["hits"][0]["scores"]) == {"bm25", "rerank"}
    code, out, _ = run("ask", QUESTION, *by, "--reader", reader_folder, "--threshold", 0, "--json")
    assert (code, json.loads(out)["retriever"]) == (0, "bm25+rerank")
