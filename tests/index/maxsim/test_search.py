"""MaxSim search by its definition: exact, approximate, filtered, and on machines without VNNI."""

import sys
from functools import cache

import numpy as np
import pytest
from helpers.passage_rows import clustered, maxsim_scores, places, questions_near, tokens_in, trained
from hypothesis import given, settings, strategies as st

from spanwise.errors import VectorRejected
from spanwise.index.maxsim import codebook, kernels, search
from spanwise.index.maxsim.search import MaxSimIndex, QuantizedQuestion
from spanwise.postponed import PostponedImport


@cache
def held(n_passages: int = 60, width: int = 32, deleted: tuple[int, ...] = ()):
    """The stored tokens and their codebook."""
    passages = clustered(0, n_passages, width)
    segments = [passages[: n_passages // 3], passages[n_passages // 3 :]]
    codebook = trained(segments)
    return tokens_in(codebook, segments, deleted), codebook


def index_in(pair, **options) -> MaxSimIndex:
    return MaxSimIndex(*pair, places, **options)


def questions(n: int, n_rows: int = 8, n_passages: int = 60, width: int = 32) -> list[np.ndarray]:
    return questions_near(1, clustered(0, n_passages, width), n, n_rows)


@pytest.fixture(params=[True, False], ids=["fused", "decoded"])
def means(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With and without a scan, whatever the processor has."""
    if request.param and not kernels.is_fused(32):
        pytest.skip("the processor has no VNNI")
    monkeypatch.setattr(kernels, "is_fused", lambda width: request.param)


@pytest.mark.parametrize("n_rows", [1, 15, 16, 70])
def test_exact_search_equals_the_definition_of_maxsim(means, n_rows: int) -> None:
    for question in questions(2, n_rows):
        (ranking,) = index_in(held(), exact=True).search([question], 10)
        expected = maxsim_scores(*held(), question)
        assert ranking.passage_ids.tolist() == np.argsort(-expected)[:10].tolist()
        assert ranking.scores == pytest.approx(expected[ranking.passage_ids], rel=1e-5)


@pytest.mark.skipif(not kernels.is_fused(32), reason="the processor has no VNNI")
def test_the_error_of_a_scan_stays_within_its_slack() -> None:
    stored, codebook = held()
    index = index_in(held())
    for rows in questions(5):
        question = QuantizedQuestion(rows, codebook)
        off = np.abs(question.scan(stored) - maxsim_scores(stored, codebook, rows))
        assert 2 * off.max() <= question.slack(index._largest_scale)


def test_the_worked_example_sums_maxima_over_question_rows() -> None:
    axes = np.eye(8, dtype=np.float32)
    x = axes[0]
    y = axes[1]
    b = (0.6 * x + 0.8 * y).astype(np.float32)
    c = (0.8 * x + 0.6 * y).astype(np.float32)
    passages = [np.stack([b, x]), np.stack([c]), np.stack([axes[2]])]
    codebook = trained([passages])
    (ranking,) = MaxSimIndex(tokens_in(codebook, [passages]), codebook, places).search([np.stack([x, y])], 3)
    assert ranking.passage_ids.tolist() == [0, 1, 2]
    assert ranking.scores == pytest.approx([1.8, 1.4, 0], abs=1e-6)


@pytest.mark.parametrize("width", [4, 20, 100])
def test_vectors_that_fill_no_register_are_searched_alike(width: int) -> None:
    pair = held(width=width)
    (question,) = questions(1, width=width)
    (ranking,) = index_in(pair).search([question], 5)
    assert ranking.passage_ids.tolist() == np.argsort(-maxsim_scores(*pair, question))[:5].tolist()


@pytest.mark.parametrize("exact", [True, False])
def test_a_batch_gives_the_results_of_single_questions(exact: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "CANDIDATES", (5, 0))
    index = index_in(held(), exact=exact)
    batch = [*questions(9), *questions(2, n_rows=1), *questions(2, n_rows=40)]
    together = index.search(batch, 5)
    for question, ranking in zip(batch, together, strict=True):
        (alone,) = index.search([question], 5)
        assert alone.passage_ids.tolist() == ranking.passage_ids.tolist()
        assert alone.scores.tolist() == ranking.scores.tolist()


def test_approximate_search_finds_97_percent_of_the_exact_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "CANDIDATES", (100, 0))
    exact = index_in(held(1000), exact=True)
    approximate = index_in(held(1000))
    asked_for = questions(30, n_passages=1000)
    pairs = zip(exact.search(asked_for, 10), approximate.search(asked_for, 10), strict=True)
    shares = [np.isin(left.passage_ids, right.passage_ids).mean() for left, right in pairs]
    assert np.mean(shares) >= 0.97


@settings(max_examples=25, deadline=None)
@given(
    st.sets(st.integers(0, 59), max_size=59),
    st.none() | st.sets(st.integers(-3, 70)),
    st.integers(1, 80),
    st.booleans(),
)
def test_deletions_filters_and_any_k_agree_with_the_definition(
    deleted: set[int], among: set[int] | None, k: int, exact: bool
) -> None:
    tokens, codebook = held(deleted=tuple(sorted(deleted)))
    (question,) = questions(1, n_rows=5)
    chosen = None if among is None else np.array(sorted(among), np.int64)
    (ranking,) = MaxSimIndex(tokens, codebook, places, exact).search([question], k, chosen)
    live = tokens.passage_ids if chosen is None else np.intersect1d(tokens.passage_ids, chosen)
    expected = dict(zip(tokens.passage_ids.tolist(), maxsim_scores(tokens, codebook, question), strict=True))
    order = sorted(live.tolist(), key=lambda number: -expected[number])
    assert ranking.passage_ids.tolist() == order[:k]
    assert ranking.scores == pytest.approx([expected[number] for number in order[:k]], rel=1e-5)


def test_wrong_questions_are_refused() -> None:
    index = index_in(held())
    good = questions(1)[0]
    for bad in (good[:, :16], good[:0], good[0], good.astype(np.float64), good * np.float32(np.nan)):
        with pytest.raises(VectorRejected):
            index.search([good, bad], 3)


@pytest.mark.parametrize("most", [640, 5])
def test_the_first_questions_are_searched_without_numba_and_found_alike(most: int, monkeypatch) -> None:
    monkeypatch.setattr(search, "CANDIDATES", (most, 0))
    asked = questions(4, n_rows=20)
    compiled = index_in(held(deleted=(3, 4))).search(asked, 5)
    waiting = PostponedImport("this", 1_000_000)
    monkeypatch.setattr(search, "NUMBA", waiting)
    monkeypatch.setattr(codebook, "NUMBA", waiting)
    monkeypatch.setitem(sys.modules, "spanwise.index.maxsim.kernels", None)
    plain = index_in(held(deleted=(3, 4))).search(asked, 5)
    for ranking, expected in zip(plain, compiled, strict=True):
        assert ranking.passage_ids.tolist() == expected.passage_ids.tolist()
        assert ranking.scores.tolist() == expected.scores.tolist()
