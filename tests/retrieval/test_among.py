"""A confined search gives the complete ranking without the other passages, score for score."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from made_corpora import MODEL, PLAIN, stage, vector_of
from rankings import WORDS

from spanwise.index import Store
from spanwise.retrieval import Encoders, build_retriever
from spanwise.retrieval.near_duplicates import DeduplicatingRetriever

SINGLE = ["bm25", "tfidf", "rank_bm25", "dense"]
QUESTIONS = ["w0", "w1 w2", "w3 w3 w0 w11"]

texts = st.lists(st.lists(st.sampled_from(WORDS[:5]), min_size=1, max_size=4).map(" ".join), max_size=4)
collections = st.dictionaries(st.sampled_from("abcdefgh"), texts, min_size=1)


class ByText:
    digest, width = MODEL, 8

    def encode_questions(self, texts):
        return np.stack([vector_of(text) for text in texts])


ENCODERS = Encoders(ByText, ByText)


def rows(hits):
    return [(hit.passage.id, hit.score) for hit in hits]


def made(folder, segments):
    """A store with one segment a collection, in which later ones replace documents of earlier ones."""
    store = Store.create(Path(folder) / "index", {})
    for collection in segments:
        with store.writer() as writer:
            stage(writer, collection, vectors=True)
            writer.commit()
    return store


@settings(max_examples=15)
@given(st.lists(collections, min_size=1, max_size=3), st.data())
def test_it_equals_the_complete_ranking_filtered(segments, data) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        made(folder, segments) as store,
        store.snapshot() as snapshot,
    ):
        ids = np.sort(snapshot.passage_ids())
        assume(len(ids))
        among = np.array(sorted(data.draw(st.sets(st.sampled_from(ids.tolist())))), np.int64)
        for name in SINGLE:
            retriever = build_retriever(name, snapshot, PLAIN, ENCODERS)
            complete = retriever.search(QUESTIONS, len(ids))
            for k in (1, 2, len(ids)):
                for whole, part in zip(complete, retriever.search(QUESTIONS, k, among), strict=True):
                    kept = [hit for hit in whole if hit.passage.id in among]
                    assert rows(part) == rows(kept)[:k], name
                    assert [hit.rank for hit in part] == list(range(1, len(part) + 1))


@pytest.fixture
def snapshot(tmp_path):
    """Two segments of twenty; for "w10" the second, of documents "z…", ranks behind the first."""
    first = {f"a{n:02}": ["w10 w10 w10"] for n in range(20)} | {"b": ["w11"]}
    second = {f"z{n:02}": [f"w0 w{n % 9 + 1} w10"] for n in range(20)}
    with made(tmp_path, [first, second]) as store, store.snapshot() as snapshot:
        yield snapshot


def ids_of(snapshot, kind):
    ids = np.sort(snapshot.passage_ids())
    return ids[[place[0].startswith(kind) for place in snapshot.places(ids.tolist())]]


@pytest.mark.parametrize("name", [*SINGLE, "bm25+dense", "tfidf+bm25+dense"])
def test_k_are_found_when_so_many_match_however_low_they_rank(snapshot, name) -> None:
    among = ids_of(snapshot, "z")
    (hits,) = build_retriever(name, snapshot, PLAIN, ENCODERS).search(["w10"], 15, among)
    assert len(hits) == 15
    assert {hit.passage.document_id[0] for hit in hits} == {"z"}


def test_a_fusion_ranks_among_what_is_allowed(snapshot) -> None:
    among = ids_of(snapshot, "z")
    (hits,) = build_retriever("bm25+dense", snapshot, PLAIN, ENCODERS).search(["w10"], 3, among)
    stages = [build_retriever(name, snapshot, PLAIN, ENCODERS) for name in ("bm25", "dense")]
    first = {stage.search(["w10"], 1, among)[0][0].passage.id for stage in stages}
    assert hits[0].score <= 2 / 61
    assert first & {hit.passage.id for hit in hits}


def test_near_duplicates_are_folded_among_what_is_allowed(snapshot) -> None:
    retriever = DeduplicatingRetriever(build_retriever("bm25", snapshot, PLAIN, ENCODERS), PLAIN)
    (hits,) = retriever.search(["w10"], 3, ids_of(snapshot, "a")[5:])
    assert [hit.passage.document_id for hit in hits] == ["a05"]
    assert len(hits[0].duplicates) == 14


@pytest.mark.parametrize("name", [*SINGLE, "bm25+dense"])
def test_among_nothing_there_is_nothing(snapshot, name) -> None:
    nothing = np.empty(0, np.int64)
    assert build_retriever(name, snapshot, PLAIN, ENCODERS).search(["w10", "w0"], 3, nothing) == [[], []]
