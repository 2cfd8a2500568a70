from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
from made_corpora import PLAIN

from spanwise.errors import IndexEmpty
from spanwise.retrieval.bm25 import BM25, bm25_retriever, idf_lucene, rank_bm25_retriever, tf_saturation

SWEET_LOVE = {
    "d1": ["Sweet sweet nurse! Love?"],
    "d2": ["Sweet sorrow"],
    "d3": ["How sweet is love?"],
    "d4": ["Nurse!"],
}


def scores(corpus, question="sweet love", weighting=None):
    with corpus.snapshot() as snapshot:
        (hits,) = bm25_retriever(snapshot, PLAIN, weighting).search([question], 10)
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    return {hit.passage.document_id: hit.score for hit in hits}


@pytest.mark.parametrize(
    ("k1", "expected"),
    [
        (1.2, {1: 1, 2: 1.375, 3: 1.571429, 10: 1.964286, 100: 2.173913, 1e6: 2.199997}),
        (1.5, {1: 1, 2: 1.428571, 3: 1.666667, 10: 2.173913, 100: 2.463054}),
    ],
)
def test_b1_b2_repetition_saturates(k1, expected) -> None:
    found = {tf: tf_saturation(float(tf), 1.0, k1, 0.75) for tf in expected}
    assert found == pytest.approx(expected, abs=1e-6)
    assert sorted(found.values()) == list(found.values())
    assert max(found.values()) < k1 + 1


@pytest.mark.parametrize(("ratio", "expected"), [(0.5, 1.76), (1.0, 1.571429), (2.0, 1.294118)])
def test_b3_length_counts_by_b(ratio, expected) -> None:
    assert tf_saturation(3.0, ratio, 1.2, 0.75) == pytest.approx(expected, abs=1e-6)
    assert tf_saturation(3.0, ratio, 1.2, 0.0) == tf_saturation(3.0, 1.0, 1.2, 0.75)


def test_b4_idf_is_positive_for_a_term_of_every_passage() -> None:
    found = [idf_lucene(df, 4) for df in (1, 2, 3, 4)]
    assert found == pytest.approx([1.203973, 0.693147, 0.356675, 0.105361], abs=1e-6)


def test_b5_sweet_love(corpus_of) -> None:
    expected = {"d1": 1.019304, "d3": 0.885216, "d2": 0.401467}
    assert scores(corpus_of(SWEET_LOVE)) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("k1", "b", "expected"),
    [
        (1.5, 0.75, (1.020024, 0.406572, 0.871550)),
        (0.9, 0.4, (1.080588, 0.376110, 0.966576)),
        (1.2, 0.0, (1.183575, 0.356675, 1.049822)),
        (1.2, 1.0, (0.974442, 0.419006, 0.841248)),
    ],
)
def test_b6_other_constants(corpus_of, k1, b, expected) -> None:
    found = scores(corpus_of(SWEET_LOVE), weighting=BM25(k1, b))
    assert found == pytest.approx(dict(zip(("d1", "d2", "d3"), expected, strict=True)), abs=1e-6)


def test_b9_deleting_scores_like_a_fresh_build(corpus_of) -> None:
    corpus = corpus_of(SWEET_LOVE)
    corpus.write({}, remove=["d4"])
    expected = {"d1": 0.608285, "d2": 0.159657, "d3": 0.557890}
    assert scores(corpus) == pytest.approx(expected, abs=1e-6)
    assert scores(corpus) == scores(corpus_of({name: SWEET_LOVE[name] for name in expected}))


def test_b10_a_repeated_question_term_counts_each_time(corpus_of) -> None:
    expected = {"d1": 1.454142, "d3": 1.185966, "d2": 0.802933}
    assert scores(corpus_of(SWEET_LOVE), "sweet sweet love") == pytest.approx(expected, abs=1e-6)


def test_b12_equal_scores_by_document_then_start(corpus_of) -> None:
    corpus = corpus_of({"fruit": ["an apple tree", "an apple cake"], "company": ["the apple share"]})
    with corpus.snapshot() as snapshot:
        (hits,) = bm25_retriever(snapshot, PLAIN).search(["apple"], 3)
    assert len({hit.score for hit in hits}) == 1
    assert [hit.passage.text for hit in hits] == ["the apple share", "an apple tree", "an apple cake"]


def test_scores_are_those_of_the_formula_to_the_last_bit(corpus_of) -> None:
    weighting, words = BM25(0.9, 0.4), "sweet sorrow nurse how is love nobody".split()
    with corpus_of(SWEET_LOVE).snapshot() as snapshot:
        postings = snapshot.postings()
    statistics = postings.statistics(words)
    for question in (words, words[:3] * 3, words[::-1], words):
        expected = np.zeros(len(postings))
        for term, times in Counter(question).items():
            rows, tf = postings.find(term)
            ratio = postings.lengths[rows] / statistics.avgdl
            idf = idf_lucene(statistics.df[term], statistics.n_docs)
            expected[rows] += times * idf * tf_saturation(tf.astype(float), ratio, 0.9, 0.4)
        assert weighting.scores(question, postings, statistics).tolist() == expected.tolist()


@pytest.mark.parametrize(("k1", "b"), [(-1, 0.5), (np.nan, 0.5), (1, 1.1), (1, -0.1)])
def test_constants_without_meaning_are_refused(k1, b) -> None:
    with pytest.raises(ValueError, match=r"must be"):
        BM25(k1, b)


def ranked(retriever, questions):
    return [{hit.passage.id: hit.score for hit in hits} for hits in retriever.search(questions, 50)]


@pytest.mark.parametrize("weighting", [BM25(), BM25(0.9, 0.4), BM25(1.5, 1.0)])
def test_bm25_equals_the_library_given_terms_and_idf(corpus_of, weighting) -> None:
    draw = random.Random(7)
    words = [f"w{min(draw.randrange(40), draw.randrange(40))}" for _ in range(4000)]
    corpus = corpus_of(
        {f"d{n:02}": [" ".join(words[n * 60 : n * 60 + draw.randrange(1, 60)])] for n in range(50)}
    )
    corpus.write({"d03": ["w1 w2 w1"]}, remove=["d07"])
    questions = ["w0 w1", "w3 w3 w9 w30", "w39 unknown", "w5"]
    with corpus.snapshot() as snapshot:
        ours = ranked(bm25_retriever(snapshot, PLAIN, weighting), questions)
        theirs = ranked(rank_bm25_retriever(snapshot, PLAIN, weighting), questions)
    assert ours == [pytest.approx(scores, abs=1e-6) for scores in theirs]


def test_passages_without_words_are_named(corpus_of) -> None:
    with corpus_of({"a": ["?!"]}).snapshot() as snapshot, pytest.raises(IndexEmpty, match="word"):
        rank_bm25_retriever(snapshot, PLAIN)
