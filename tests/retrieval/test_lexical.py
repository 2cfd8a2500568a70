"""BM25 and TF-IDF against worked examples, their formulas and the library."""

import random
from collections import Counter

import numpy as np
import pytest
from helpers.corpora import PLAIN

from spanwise.errors import IndexEmpty
from spanwise.index.live_postings import CorpusStatistics
from spanwise.index.maxscore import MaxScore
from spanwise.retrieval.bm25 import (
    BM25,
    USUAL,
    RankBM25Index,
    bm25_index,
    bm25_retriever,
    idf_lucene,
    tf_saturation,
)
from spanwise.retrieval.stage import lexical_stage
from spanwise.retrieval.tfidf import log_weights, norm, tfidf_index

SWEET_LOVE = {
    "d1": ["Sweet sweet nurse! Love?"],
    "d2": ["Sweet sorrow"],
    "d3": ["How sweet is love?"],
    "d4": ["Nurse!"],
}


def scores(corpus, question="sweet love", weighting=USUAL):
    with corpus.snapshot() as snapshot:
        (hits,) = bm25_retriever(snapshot, PLAIN, weighting).search([question], 10)
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    return {hit.passage.document_id: hit.score for hit in hits}


def test_bm25_scores_equal_a_worked_example(corpus_of) -> None:
    expected = {"d1": 1.019304, "d3": 0.885216, "d2": 0.401467}
    assert scores(corpus_of(SWEET_LOVE)) == pytest.approx(expected, abs=1e-6)


def test_scores_are_those_of_the_formula_to_the_last_bit(corpus_of) -> None:
    weighting = BM25(0.9, 0.4)
    words = "sweet sorrow nurse how is love nobody".split()
    with corpus_of(SWEET_LOVE).snapshot() as snapshot:
        postings = snapshot.postings()
    statistics = postings.statistics(words)
    for question in (words, words[:3] * 3, words[::-1], words):
        expected = np.zeros(len(postings))
        for term, times in Counter(question).items():
            pairs = postings.term(term)
            ratio = postings.lengths[pairs.rows] / statistics.avgdl
            idf = idf_lucene(statistics.df[term], statistics.n_docs)
            expected[pairs.rows] += times * idf * tf_saturation(pairs.counts.astype(float), ratio, 0.9, 0.4)
        assert weighting.scores(question, postings, statistics).tolist() == expected.tolist()


def ranked(retriever, questions):
    return [{hit.passage.id: hit.score for hit in hits} for hits in retriever.search(questions, 50)]


@pytest.mark.parametrize("weighting", [BM25(), BM25(0.9, 0.4), BM25(1.5, 1.0)])
def test_bm25_equals_rank_bm25_given_terms_and_idf(corpus_of, weighting) -> None:
    draw = random.Random(7)
    words = [f"w{min(draw.randrange(40), draw.randrange(40))}" for _ in range(4000)]
    corpus = corpus_of(
        {f"d{n:02}": [" ".join(words[n * 60 : n * 60 + draw.randrange(1, 60)])] for n in range(50)}
    )
    corpus.write({"d03": ["w1 w2 w1"]}, remove=["d07"])
    questions = ["w0 w1", "w3 w3 w9 w30", "w39 unknown", "w5"]
    with corpus.snapshot() as snapshot:
        ours = ranked(bm25_retriever(snapshot, PLAIN, weighting), questions)
        index = RankBM25Index(snapshot.postings(), snapshot.places, weighting=weighting)
        theirs = ranked(lexical_stage("rank_bm25", index, snapshot, PLAIN), questions)
    assert ours == [pytest.approx(scores, abs=1e-6) for scores in theirs]


def test_passages_without_words_are_named(corpus_of) -> None:
    with corpus_of({"a": ["?!"]}).snapshot() as snapshot, pytest.raises(IndexEmpty, match="word"):
        RankBM25Index(snapshot.postings(), snapshot.places)


SWEET_STATISTICS = CorpusStatistics(
    4, 11, {"sweet": 3, "nurse": 2, "love": 2, "how": 1, "is": 1, "sorrow": 1}
)


def tfidf_scores(corpus, question="sweet love"):
    with corpus.snapshot() as snapshot:
        index = tfidf_index(snapshot.postings(), snapshot.places)
        [hits] = lexical_stage("tfidf", index, snapshot, PLAIN).search([question], 10)
    return {hit.passage.document_id: hit.score for hit in hits}


def test_tfidf_gives_a_term_of_every_passage_no_weight(corpus_of) -> None:
    texts = {"a": ["He played video games"], "b": ["She played him the videos"]}
    assert tfidf_scores(corpus_of(texts), "played") == {}


def test_tfidf_weights_of_a_question_equal_a_worked_example() -> None:
    weights = log_weights(["sweet", "love"], SWEET_STATISTICS)
    assert weights == pytest.approx({"sweet": 0.124939, "love": 0.301030}, abs=1e-6)
    assert norm(weights) == pytest.approx(0.325928, abs=1e-6)


def test_tfidf_scores_equal_a_worked_example(corpus_of) -> None:
    scores = tfidf_scores(corpus_of(SWEET_LOVE))
    assert scores == pytest.approx({"d1": 0.746865, "d3": 0.357498, "d2": 0.077889}, abs=1e-6)
    assert list(scores) == ["d1", "d3", "d2"]


def test_tfidf_ignores_an_unknown_word(corpus_of) -> None:
    corpus = corpus_of(SWEET_LOVE)
    assert tfidf_scores(corpus, "sweet love zebra") == tfidf_scores(corpus)


@pytest.mark.parametrize(
    ("ranked_by", "expected"),
    [
        (scores, {"d1": 0.608285, "d2": 0.159657, "d3": 0.557890}),
        (tfidf_scores, {"d1": 0.346242, "d3": 0.252515}),
    ],
)
def test_after_a_deletion_scores_are_those_of_a_fresh_build(corpus_of, ranked_by, expected) -> None:
    corpus = corpus_of(SWEET_LOVE)
    corpus.write({}, remove=["d4"])
    fresh = corpus_of({name: SWEET_LOVE[name] for name in ("d1", "d2", "d3")})
    assert ranked_by(corpus) == pytest.approx(expected, abs=1e-6)
    assert ranked_by(corpus) == ranked_by(fresh)
    assert tfidf_scores(corpus, "sweet") == {}


LEASES = {
    "flats/lease_oslo.md": ["the rent is 9"],
    "flats/lease-bergen.md": ["the rent is 7"],
    "tram.md": ["a tram"],
}


@pytest.mark.parametrize("ranked_by", [scores, tfidf_scores])
def test_the_words_of_folders_and_file_are_searched(corpus_of, ranked_by) -> None:
    corpus = corpus_of(LEASES)
    assert list(ranked_by(corpus, "bergen")) == ["flats/lease-bergen.md"]
    assert next(iter(ranked_by(corpus, "rent of the flats in oslo"))) == "flats/lease_oslo.md"


@pytest.mark.parametrize("ranked_by", [scores, tfidf_scores])
def test_a_question_without_a_word_of_a_path_scores_as_with_other_paths(corpus_of, ranked_by) -> None:
    digests = [f"{number:032x}.txt" for number in range(3)]
    plain = ranked_by(corpus_of(dict(zip(digests, LEASES.values(), strict=True))), "rent tram 9")
    named = ranked_by(corpus_of(LEASES | {"tram.md": []} | {"x.md": LEASES["tram.md"]}), "rent tram 9")
    assert list(plain.values()) == list(named.values())


@pytest.mark.parametrize("ranked_by", [scores, tfidf_scores])
def test_names_after_a_move_and_a_deletion_score_as_in_a_fresh_build(corpus_of, ranked_by) -> None:
    corpus = corpus_of({**LEASES, "oslo.md": ["gone"]})
    assert len(ranked_by(corpus, "oslo rent 9")) == 3
    corpus.write({"lease_oslo_2.md": LEASES["flats/lease_oslo.md"]}, ["flats/lease_oslo.md", "oslo.md"])
    moved = {
        "lease_oslo_2.md": ["the rent is 9"],
        "flats/lease-bergen.md": ["the rent is 7"],
        "tram.md": ["a tram"],
    }
    assert ranked_by(corpus, "oslo rent 9") == ranked_by(corpus_of(moved), "oslo rent 9")


def test_compiled_search_scores_names_as_numpy_does(corpus_of) -> None:
    with corpus_of(LEASES).snapshot() as snapshot:
        index = bm25_index(snapshot.postings(), snapshot.places)
        question = [["rent", "oslo", "/oslo", "/leas", "/flats"]]
        [plain] = index.search(question, 5)
        index._compiled = MaxScore(snapshot.postings(), BM25())
        [compiled] = index.search(question, 5)
    assert len(plain.scores) == 2
    assert compiled.scores.tolist() == plain.scores.tolist()
    assert compiled.passage_ids.tolist() == plain.passage_ids.tolist()
