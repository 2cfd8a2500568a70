from __future__ import annotations

from math import log10

import pytest

from spanwise.index.analysis import Analyzer
from spanwise.index.statistics import CorpusStatistics
from spanwise.retrieval.tfidf import cosine, idf_lg, log_weights, norm, relative_weights, tfidf_retriever

PLAIN = Analyzer(stem=False, stop_words=False)
SWEET_LOVE = {
    "d1": ["Sweet sweet nurse! Love?"],
    "d2": ["Sweet sorrow"],
    "d3": ["How sweet is love?"],
    "d4": ["Nurse!"],
}
SWEET_STATISTICS = CorpusStatistics(
    4, 11, {"sweet": 3, "nurse": 2, "love": 2, "how": 1, "is": 1, "sorrow": 1}
)
PLAYED = ["He played video games", "She played him the videos"]
PLAYED_STATISTICS = CorpusStatistics(
    2, 9, {"he": 1, "played": 2, "video": 1, "games": 1, "she": 1, "him": 1, "the": 1, "videos": 1}
)


def scores(corpus, question="sweet love"):
    with corpus.snapshot() as snapshot:
        (hits,) = tfidf_retriever(snapshot, PLAIN).search([question], 10)
    return {hit.passage.document_id: hit.score for hit in hits}


def test_t1_idf_of_two_documents() -> None:
    assert len(PLAYED_STATISTICS.df) == 8
    assert idf_lg(1, 2) == pytest.approx(0.301030, abs=1e-6)
    assert idf_lg(2, 2) == 0


@pytest.mark.parametrize(("number", "expected"), [(0, 0.075257), (1, 0.060206)])
def test_t2_t3_relative_frequency_weights(number, expected) -> None:
    weights = relative_weights(PLAIN.terms(PLAYED[number]), PLAYED_STATISTICS)
    assert weights.pop("played") == 0
    assert list(weights.values()) == pytest.approx([expected] * len(weights), abs=1e-6)


def test_t4_a_term_of_every_passage_finds_nothing(corpus_of) -> None:
    assert scores(corpus_of({"a": [PLAYED[0]], "b": [PLAYED[1]]}), "played") == {}
    weights = relative_weights(["played"], PLAYED_STATISTICS)
    assert cosine(weights, relative_weights(PLAIN.terms(PLAYED[0]), PLAYED_STATISTICS)) == 0


def test_t5_no_shared_weight_no_product() -> None:
    one, two = (relative_weights(PLAIN.terms(text), PLAYED_STATISTICS) for text in PLAYED)
    assert sum(one[term] * two.get(term, 0) for term in one) == 0


def test_t6_statistics_of_the_store(corpus_of) -> None:
    with corpus_of(SWEET_LOVE).snapshot() as snapshot:
        statistics = snapshot.postings().all_statistics
    assert statistics == SWEET_STATISTICS
    assert [idf_lg(df, 4) for df in (3, 2, 1)] == pytest.approx([0.124939, 0.301030, 0.602060], abs=1e-6)


def test_t7_the_question_as_a_vector() -> None:
    weights = log_weights(["sweet", "love"], SWEET_STATISTICS)
    assert weights == pytest.approx({"sweet": 0.124939, "love": 0.301030}, abs=1e-6)
    assert norm(weights) == pytest.approx(0.325928, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "length", "expected"),
    [("d1", 0.455698, 0.746865), ("d2", 0.614887, 0.077889), ("d3", 0.911691, 0.357498), ("d4", 0.301030, 0)],
)
def test_t8_t9_t10_cosines(name, length, expected) -> None:
    question = log_weights(["sweet", "love"], SWEET_STATISTICS)
    document = log_weights(PLAIN.terms(SWEET_LOVE[name][0]), SWEET_STATISTICS)
    assert norm(document) == pytest.approx(length, abs=1e-6)
    assert cosine(question, document) == pytest.approx(expected, abs=1e-6)


def test_t8_to_t10_through_a_store(corpus_of) -> None:
    found = scores(corpus_of(SWEET_LOVE))
    assert found == pytest.approx({"d1": 0.746865, "d3": 0.357498, "d2": 0.077889}, abs=1e-6)
    assert list(found) == ["d1", "d3", "d2"]


def test_t11_one_plus_lg_tells_from_lg_of_one_plus() -> None:
    weights = log_weights(["sweet", "sweet"], SWEET_STATISTICS)
    assert weights["sweet"] == pytest.approx(0.162549, abs=1e-6)
    assert weights["sweet"] != pytest.approx(log10(1 + 2) * idf_lg(3, 4), abs=1e-3)


def test_t12_an_unknown_word_changes_nothing(corpus_of) -> None:
    corpus = corpus_of(SWEET_LOVE)
    assert scores(corpus, "sweet love zebra") == scores(corpus)


def test_t13_deleting_scores_like_a_fresh_build(corpus_of) -> None:
    corpus = corpus_of(SWEET_LOVE)
    corpus.write({}, remove=["d4"])
    assert scores(corpus) == pytest.approx({"d1": 0.346242, "d3": 0.252515}, abs=1e-6)
    assert scores(corpus) == scores(corpus_of({name: SWEET_LOVE[name] for name in ("d1", "d2", "d3")}))
    assert scores(corpus, "sweet") == {}


def test_t14_adding_scores_like_a_fresh_build(corpus_of) -> None:
    corpus = corpus_of(SWEET_LOVE)
    corpus.write({"d5": ["Love is sorrow"]})
    expected = {"d1": 0.669278, "d3": 0.363406, "d2": 0.344315, "d5": 0.259324}
    assert scores(corpus) == pytest.approx(expected, abs=1e-6)
    assert list(scores(corpus)) == list(expected)
    assert scores(corpus) == scores(corpus_of(SWEET_LOVE | {"d5": ["Love is sorrow"]}))
