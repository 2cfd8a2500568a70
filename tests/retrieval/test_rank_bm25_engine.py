from __future__ import annotations

import random

import pytest

from spanwise.errors import IndexEmpty
from spanwise.index.analysis import Analyzer
from spanwise.retrieval.bm25 import BM25, bm25_retriever
from spanwise.retrieval.rank_bm25_engine import rank_bm25_retriever

PLAIN = Analyzer(stem=False, stop_words=False)


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
