from __future__ import annotations

import numpy as np
import pytest

from spanwise.errors import IndexEmpty
from spanwise.index.analysis import Analyzer
from spanwise.retrieval import Encoders, build_retriever, stages_of

PLAIN = Analyzer(stem=False, stop_words=False)
MILL = {
    "mill.txt": ["the mill was founded in 1790", "an owl lives there"],
    "inn.txt": ["the inn by the mill"],
}


class Constant:
    digest, width = "constant", 2

    def encode_passages(self, texts):
        return np.tile(np.array([[1, 0]], np.float32), (len(texts), 1))

    encode_questions = encode_passages


def never():
    raise AssertionError("a lexical retriever asked for an encoder")


NEVER = Encoders(never, never)


@pytest.mark.parametrize("name", ["tfidf", "bm25", "rank_bm25", "tfidf+bm25"])
def test_lexical_names_need_no_encoder(corpus_of, name) -> None:
    with corpus_of(MILL).snapshot() as snapshot:
        retriever = build_retriever(name, snapshot, PLAIN, NEVER)
        (hits,) = retriever.search(["founded mill"], 5)
    assert retriever.name == name
    assert hits[0].passage.text == "the mill was founded in 1790"


def test_hybrid_is_bm25_and_dense(corpus_of) -> None:
    corpus = corpus_of(MILL)
    with corpus.snapshot() as snapshot, corpus.store.writer() as writer:
        ids = snapshot.passage_ids()
        writer.put_vectors("constant", ids.tolist(), Constant().encode_passages(ids))
        writer.commit()
    with corpus.snapshot() as snapshot:
        retriever = build_retriever("hybrid", snapshot, PLAIN, Encoders(Constant, never))
        (hits,) = retriever.search(["owl"], 5)
    assert retriever.name == "bm25+dense"
    assert set(hits[0].scores) == {"bm25", "dense", "bm25+dense"}
    assert hits[0].passage.text == "an owl lives there"
    assert len(hits) == 3


@pytest.mark.parametrize("name", ["", "bm26", "bm25+", "bm25+bm25", "hybrid+tfidf", "BM25"])
def test_unknown_names_list_the_known_ones(name) -> None:
    with pytest.raises(ValueError, match="tfidf, bm25, rank_bm25, dense, hybrid"):
        stages_of(name)


def test_an_index_without_passages_is_named(corpus_of) -> None:
    with corpus_of({}).snapshot() as snapshot, pytest.raises(IndexEmpty, match="no passages"):
        build_retriever("bm25", snapshot, PLAIN, NEVER)


@pytest.mark.parametrize("name", ["tfidf", "bm25", "rank_bm25", "bm25+tfidf"])
@pytest.mark.parametrize(("question", "k"), [("mill", 0), ("mill", -1), ("", 3), (" \n", 3)])
def test_wrong_arguments_are_refused(corpus_of, name, question, k) -> None:
    with corpus_of(MILL).snapshot() as snapshot, pytest.raises(ValueError, match=r"empty|at least 1"):
        build_retriever(name, snapshot, PLAIN, NEVER).search([question], k)


@pytest.mark.parametrize(
    "question", ["?", "AND OR NOT *", '"mill', "mill* NEAR(owl)", "\x00", "a" * 5000, "\ud800"]
)
def test_any_other_question_is_searched(corpus_of, question) -> None:
    with corpus_of(MILL).snapshot() as snapshot:
        build_retriever("bm25+tfidf", snapshot, PLAIN, NEVER).search([question], 5)


def test_k_beyond_the_corpus_gives_what_there_is(corpus_of) -> None:
    with corpus_of(MILL).snapshot() as snapshot:
        (hits,) = build_retriever("bm25", snapshot, PLAIN, NEVER).search(["mill"], 10**6)
    assert len(hits) == 2
