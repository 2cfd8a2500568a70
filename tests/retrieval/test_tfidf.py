from __future__ import annotations

import pytest
from made_corpora import PLAIN

from spanwise.index.lexical import CorpusStatistics
from spanwise.retrieval.tfidf import log_weights, norm, tfidf_retriever

SWEET_LOVE = {
    "d1": ["Sweet sweet nurse! Love?"],
    "d2": ["Sweet sorrow"],
    "d3": ["How sweet is love?"],
    "d4": ["Nurse!"],
}
SWEET_STATISTICS = CorpusStatistics(
    4, 11, {"sweet": 3, "nurse": 2, "love": 2, "how": 1, "is": 1, "sorrow": 1}
)


def scores(corpus, question="sweet love"):
    with corpus.snapshot() as snapshot:
        (hits,) = tfidf_retriever(snapshot, PLAIN).search([question], 10)
    return {hit.passage.document_id: hit.score for hit in hits}


def test_t4_a_term_of_every_passage_finds_nothing(corpus_of) -> None:
    texts = {"a": ["He played video games"], "b": ["She played him the videos"]}
    assert scores(corpus_of(texts), "played") == {}


def test_t7_the_question_as_a_vector() -> None:
    weights = log_weights(["sweet", "love"], SWEET_STATISTICS)
    assert weights == pytest.approx({"sweet": 0.124939, "love": 0.301030}, abs=1e-6)
    assert norm(weights) == pytest.approx(0.325928, abs=1e-6)


def test_t8_to_t10_through_a_store(corpus_of) -> None:
    found = scores(corpus_of(SWEET_LOVE))
    assert found == pytest.approx({"d1": 0.746865, "d3": 0.357498, "d2": 0.077889}, abs=1e-6)
    assert list(found) == ["d1", "d3", "d2"]


def test_t12_an_unknown_word_changes_nothing(corpus_of) -> None:
    corpus = corpus_of(SWEET_LOVE)
    assert scores(corpus, "sweet love zebra") == scores(corpus)


def test_t13_deleting_scores_like_a_fresh_build(corpus_of) -> None:
    corpus = corpus_of(SWEET_LOVE)
    corpus.write({}, remove=["d4"])
    assert scores(corpus) == pytest.approx({"d1": 0.346242, "d3": 0.252515}, abs=1e-6)
    assert scores(corpus) == scores(corpus_of({name: SWEET_LOVE[name] for name in ("d1", "d2", "d3")}))
    assert scores(corpus, "sweet") == {}
