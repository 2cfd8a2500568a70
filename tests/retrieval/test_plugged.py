"""A retriever from elsewhere is held to its contract, and ranks like any other when it keeps it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from spanwise.errors import IndexCorrupt, PluginFailed
from spanwise.index import Store
from spanwise.index.analysis import Analyzer
from spanwise.pipelines.document_library import stage, text_document, whole
from spanwise.retrieval import Encoders, build_retriever, stages_of
from spanwise.retrieval.plugged import PluggedRetriever, RetrieverSource
from spanwise.types import Hit, Passage

TEXTS = {"a": "The mill was built by Ada Rook.", "b": "The tram.", "c": "The weir was raised in 1920."}


@pytest.fixture
def snapshot(tmp_path):
    store = Store.create(tmp_path / "index", Analyzer().settings())
    with store.writer() as writer:
        for name, text in TEXTS.items():
            document = text_document(name, "", text)
            stage(writer, Analyzer(), document, whole(document))
        writer.commit()
    with store.snapshot() as opened:
        yield opened
    store.close()


def made(snapshot, search) -> PluggedRetriever:
    """A retriever that searches with this function of (passages, questions, k, among)."""

    class Retriever:
        def __init__(self, passages):
            self.passages = list(passages.all_passages())

        def search(self, questions, k, among=None):
            return search(self.passages, questions, k, among)

    return PluggedRetriever("mine", RetrieverSource("the plug-in 'mine'", Retriever), snapshot)


def longest(passages, questions, k, among):
    kept = [one for one in passages if among is None or one.id in among]
    kept.sort(key=lambda one: len(one.text))  # worst first: the scores decide
    return [[Hit(one, len(one.text), 1) for one in kept[-k:]] for _ in questions]


def test_hits_are_ranked_by_their_scores(snapshot):
    [hits] = made(snapshot, longest).search(["anything"], 3)
    assert [(hit.rank, hit.passage.document_id) for hit in hits] == [(1, "a"), (2, "c"), (3, "b")]
    assert hits[0].scores == {"mine": 31.0}


def test_equal_scores_are_ordered_by_place(snapshot):
    [hits] = made(snapshot, lambda p, q, k, among: [[Hit(one, 1.0, 1) for one in reversed(p)]]).search(
        ["x"], 3
    )
    assert [hit.passage.document_id for hit in hits] == ["a", "b", "c"]


def test_text_and_place_come_from_the_index(snapshot):
    def forged(passages, questions, k, among):
        return [[Hit(Passage(passages[0].id, "forged.txt", 0, 5, "wrong"), 1.0, 1)]]

    [[hit]] = made(snapshot, forged).search(["x"], 3)
    assert (hit.passage.document_id, hit.passage.text) == ("a", TEXTS["a"])


def test_a_fusion_takes_it_as_one_of_its_stages(snapshot):
    def none():
        raise AssertionError("no encoder is needed")

    source = RetrieverSource("mine", lambda passages: made(snapshot, longest)._searching)
    fusion = build_retriever("bm25+mine", snapshot, Analyzer(), Encoders(none, none), others={"mine": source})
    [hits] = fusion.search(["Who built the mill?"], 3)
    assert hits[0].passage.document_id == "a"
    assert hits[0].scores.keys() == {"bm25", "mine", "bm25+mine"}


def test_a_search_is_confined(snapshot):
    ids = np.sort(snapshot.passage_ids())[1:]
    [hits] = made(snapshot, longest).search(["x"], 3, ids)
    assert {hit.passage.document_id for hit in hits} == {"b", "c"}


BROKEN = {
    "no such passage": lambda p, q, k, a: [[Hit(Passage(999, "a", 0, 1, "T"), 1.0, 1)]],
    "not stored": lambda p, q, k, a: [[Hit(Passage(0, "a", 0, 1, "T"), 1.0, 1)]],
    "twice": lambda p, q, k, a: [[Hit(p[0], 1.0, 1), Hit(p[0], 0.5, 2)]],
    "not a number": lambda p, q, k, a: [[Hit(p[0], math.nan, 1)]],
    "infinite": lambda p, q, k, a: [[Hit(p[0], math.inf, 1)]],
    "a text for a score": lambda p, q, k, a: [[Hit(p[0], "1", 1)]],
    "too many": lambda p, q, k, a: [[Hit(one, 1.0, 1) for one in p]],
    "too few lists": lambda p, q, k, a: [],
    "ids alone": lambda p, q, k, a: [[p[0].id]],
    "nothing": lambda p, q, k, a: None,
    "it raises": lambda p, q, k, a: 1 / 0,
}


@pytest.mark.parametrize("search", BROKEN.values(), ids=BROKEN)
def test_what_is_no_ranking_of_the_passages_is_refused_by_name(snapshot, search):
    with pytest.raises(PluginFailed, match=r"^the plug-in 'mine' (gave|failed)"):
        made(snapshot, search).search(["x"], 2)


def test_what_lies_outside_of_the_filter_is_refused(snapshot):
    ids = np.sort(snapshot.passage_ids())[1:]
    with pytest.raises(PluginFailed, match="not among those to be searched"):
        made(snapshot, lambda p, q, k, a: [[Hit(p[0], 1.0, 1)]]).search(["x"], 2, ids)


def test_a_factory_that_fails_is_named(snapshot):
    with pytest.raises(PluginFailed, match=r"^mine failed: ZeroDivisionError"):
        PluggedRetriever("mine", RetrieverSource("mine", lambda passages: 1 / 0), snapshot)


def test_errors_of_this_package_pass_through(snapshot):
    def damaged(*given):
        raise IndexCorrupt("a file")

    with pytest.raises(IndexCorrupt):
        made(snapshot, damaged).search(["x"], 2)


def test_an_unknown_name_lists_those_given():
    with pytest.raises(ValueError, match="colbert, mine, or different ones"):
        stages_of("bm25+yours", ["mine"])
