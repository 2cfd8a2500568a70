"""Compiled search finds what numpy finds, with the same scores, to the last bit."""

import numpy as np
import pytest
from helpers.postings import segment_of
from hypothesis import given, strategies as st

from spanwise.errors import IndexCorrupt
from spanwise.index import lexical
from spanwise.index.lexical import PostingsIndex
from spanwise.index.live_postings import CorpusStatistics, LivePostings
from spanwise.index.maxscore import MaxScore
from spanwise.index.maxscore_kernels import WINDOW_BITS
from spanwise.postponed import PostponedImport
from spanwise.retrieval.bm25 import BM25, USUAL, bm25_index

WORDS = st.lists(st.sampled_from("abcdef"), max_size=6)
WEIGHTINGS = st.sampled_from([BM25(), BM25(0.9, 0.4), BM25(0, 1), BM25(20, 0)])


def places(ids):
    return [(str(number % 3), number, 0) for number in ids]  # ties are not in the order of rows


def both(postings, questions, k, among=None, weighting=USUAL, corpus=None):
    """The rankings of numpy and of compiled code."""
    plain = PostingsIndex(postings, weighting, places, corpus)
    fast = bm25_index(postings, places, corpus, weighting)
    fast._compiled = MaxScore(postings, weighting)
    return [
        [
            (ranking.passage_ids.tolist(), ranking.scores.tolist())
            for ranking in index.search(questions, k, among)
        ]
        for index in (plain, fast)
    ]


@given(
    st.lists(st.lists(WORDS, max_size=9), min_size=1, max_size=3),
    st.sets(st.integers(1, 27)),
    st.lists(st.lists(st.sampled_from("abcdefg"), max_size=8), min_size=1, max_size=4),
    st.sampled_from([1, 2, 5, 40]),
    st.none() | st.sets(st.integers(1, 27)).map(lambda ids: np.array(sorted(ids), np.int64)),
    WEIGHTINGS,
)
def test_compiled_and_plain_search_rank_small_collections_alike(
    parts, deleted, questions, k, among, weighting
) -> None:
    segments = [segment_of(part, first_id=1 + 9 * number) for number, part in enumerate(parts)]
    postings = LivePostings(segments, np.array(sorted(deleted), np.int64))
    plain, fast = both(postings, questions, k, among, weighting)
    assert fast == plain


@pytest.fixture(scope="module")
def large():
    """Passages in several windows; of 60 terms half are frequent, and some are in few windows."""
    draw = np.random.default_rng(7)
    terms = np.minimum(draw.geometric(0.05, (3 << WINDOW_BITS, 7)), 60)
    passages = [[f"t{number}" for number in row] for row in terms.tolist()]
    for row in range(0, 300, 7):
        passages[-row] += ["late", "t1"] * (1 + row % 3)
    passages[5] += ["t2"] * 70_000  # a count beyond 16 bits
    return LivePostings([segment_of(passages)], np.arange(100, 5000, 3))


@pytest.mark.parametrize("k", [1, 10, 100, 1000])
def test_windows_are_left_out_without_a_loss(large, k) -> None:
    draw = np.random.default_rng(k)
    questions = [[f"t{n}" for n in draw.integers(1, 62, 1 + n % 9)] for n in range(70)] + [
        ["late", "t2", "t60"]
    ]
    among = np.flatnonzero(draw.random(len(large)) < 0.1)
    whole = CorpusStatistics(10**6, 9 * 10**6, {f"t{n}": 10**6 // n for n in range(1, 61)} | {"late": 50})
    for plain, fast in (
        both(large, questions, k),
        both(large, questions, k, among),
        both(large, questions, k, corpus=type("Whole", (), {"statistics": lambda self, terms: whole})()),
    ):
        assert fast == plain


def test_compiled_code_is_loaded_after_many_rows(large, monkeypatch) -> None:
    index = bm25_index(large, places)
    budget = 3 * (len(large) + lexical.ROWS_PER_QUESTION)
    monkeypatch.setattr(lexical, "COMPILED", PostponedImport("this", budget))
    before = [index.search([["t3", "t40"]], 10)[0].scores.tolist() for _ in range(3)]
    assert index._compiled is None
    assert index.search([["t3", "t40"]], 10)[0].scores.tolist() == before[0]
    assert index._compiled is not None


def test_a_damaged_postings_list_is_an_error() -> None:
    segment = segment_of([["a", "b"], ["a"]])
    segment._columns["rows"][1] ^= 2
    postings = LivePostings([segment], np.empty(0, np.int64))
    with pytest.raises(IndexCorrupt, match="'a'"):
        both(postings, [["a"]], 1)
