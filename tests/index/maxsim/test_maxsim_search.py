from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_maxsim import asked, clustered, maxsim_scores, places, stored, trained

from spanwise.errors import VectorRejected
from spanwise.index.maxsim import exact_scan, maxsim_index, products
from spanwise.index.maxsim.maxsim_index import MaxSimIndex
from spanwise.index.maxsim.stored_tokens import StoredTokens

BITS = (2, 4, 8)


@cache
def held(bits: int, n_passages: int = 60, width: int = 32, deleted: tuple[int, ...] = ()) -> StoredTokens:
    passages = clustered(0, n_passages, width)
    segments = [passages[: n_passages // 3], passages[n_passages // 3 :]]
    return stored(trained(segments, bits), segments, deleted)


def questions(n: int, n_rows: int = 8, n_passages: int = 60, width: int = 32) -> list[np.ndarray]:
    return asked(1, clustered(0, n_passages, width), n, n_rows)


@pytest.fixture(params=["fused", "int8", "bfloat16", "float32"])
def means(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each way to make products, whatever the machine would choose."""
    if request.param == "fused" and not exact_scan.is_fused(32):
        pytest.skip("the processor has no VNNI")
    if request.param != "fused":
        monkeypatch.setattr(exact_scan, "is_fused", lambda width: False)
        monkeypatch.setattr(products, "has_int8", lambda: request.param == "int8" and products_work())
        monkeypatch.setattr(products, "has_bfloat16", lambda: request.param == "bfloat16")
    return str(request.param)


products_work = products.has_int8


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("n_rows", [1, 15, 16, 70])
def test_equals_the_definition(means: str, bits: int, n_rows: int) -> None:
    tokens = held(bits)
    for question in questions(2, n_rows):
        (ranking,) = MaxSimIndex(tokens, tokens.codebook, places, exact=True).search([question], 10)
        expected = maxsim_scores(tokens, question)
        assert ranking.passage_ids.tolist() == np.argsort(-expected)[:10].tolist()
        assert ranking.scores == pytest.approx(expected[ranking.passage_ids], rel=1e-5)


@pytest.mark.parametrize("bits", BITS)
def test_scans_stay_within_their_slack(means: str, bits: int) -> None:
    tokens = held(bits)
    index = MaxSimIndex(tokens, tokens.codebook, places)
    for rows in questions(5):
        question = maxsim_index.Question(rows, tokens.codebook, index._form)
        (scanned,) = exact_scan.scan(tokens, index._form, [question])
        off = np.abs(scanned - maxsim_scores(tokens, rows))
        assert 2 * off.max() <= question.slack(index._largest_scale, exact_scan.rounding(1, 32))


@pytest.mark.parametrize("width", [4, 20, 100])
def test_widths_that_fill_no_register(width: int) -> None:
    tokens = held(4, width=width)
    (question,) = questions(1, width=width)
    (ranking,) = MaxSimIndex(tokens, tokens.codebook, places).search([question], 5)
    assert ranking.passage_ids.tolist() == np.argsort(-maxsim_scores(tokens, question))[:5].tolist()


@pytest.mark.parametrize("exact", [True, False])
def test_a_batch_is_one_by_one(exact: bool) -> None:
    index = MaxSimIndex(held(4), held(4).codebook, places, exact=exact, candidates=5)
    batch = [*questions(9), *questions(2, n_rows=1), *questions(2, n_rows=40)]
    together = index.search(batch, 5)
    for question, ranking in zip(batch, together, strict=True):
        (alone,) = index.search([question], 5)
        assert alone.passage_ids.tolist() == ranking.passage_ids.tolist()
        assert alone.scores.tolist() == ranking.scores.tolist()


def test_equal_passages_come_by_place() -> None:
    passages = clustered(0, 4)
    segments = [[passages[0], passages[1], passages[0]], [passages[2], passages[0], passages[3]]]
    codebook = trained(segments, 8)
    index = MaxSimIndex(stored(codebook, segments), codebook, places)
    (ranking,) = index.search([passages[0][:3]], 6)
    assert ranking.passage_ids.tolist()[:3] == [0, 2, 4]
    assert len(set(ranking.scores.tolist()[:3])) == 1


@pytest.mark.parametrize("bits", BITS)
def test_candidates_lose_next_to_nothing(bits: int) -> None:
    tokens = held(bits, 1000)
    exact = MaxSimIndex(tokens, tokens.codebook, places, exact=True)
    approximate = MaxSimIndex(tokens, tokens.codebook, places, candidates=100)
    asked_for = questions(30, n_passages=1000)
    pairs = zip(exact.search(asked_for, 10), approximate.search(asked_for, 10), strict=True)
    shares = [np.isin(one.passage_ids, other.passage_ids).mean() for one, other in pairs]
    assert np.mean(shares) >= 0.97


def test_lists_lose_next_to_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = held(4, 1000)
    asked_for = questions(30, n_passages=1000)
    exact = MaxSimIndex(tokens, tokens.codebook, places, exact=True).search(asked_for, 10)
    monkeypatch.setattr(maxsim_index, "_LISTED", 500)
    listed = MaxSimIndex(tokens, tokens.codebook, places, candidates=100).search(asked_for, 10)
    shares = [
        np.isin(one.passage_ids, other.passage_ids).mean() for one, other in zip(exact, listed, strict=True)
    ]
    assert np.mean(shares) >= 0.97


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(BITS),
    st.sets(st.integers(0, 59), max_size=59),
    st.none() | st.sets(st.integers(-3, 70)),
    st.integers(1, 80),
    st.booleans(),
)
def test_any_deletes_filters_and_k(
    bits: int, deleted: set[int], among: set[int] | None, k: int, exact: bool
) -> None:
    tokens = held(bits, deleted=tuple(sorted(deleted)))
    (question,) = questions(1, n_rows=5)
    chosen = None if among is None else np.array(sorted(among), np.int64)
    (ranking,) = MaxSimIndex(tokens, tokens.codebook, places, exact).search([question], k, chosen)
    live = tokens.passage_ids if chosen is None else np.intersect1d(tokens.passage_ids, chosen)
    expected = dict(zip(tokens.passage_ids.tolist(), maxsim_scores(tokens, question), strict=True))
    order = sorted(live.tolist(), key=lambda one: -expected[one])
    assert ranking.passage_ids.tolist() == order[:k]
    assert ranking.scores == pytest.approx([expected[one] for one in order[:k]], rel=1e-5)


def test_a_filter_leaves_k_hits_and_their_scores() -> None:
    tokens = held(4, 1000)
    (question,) = questions(1, n_passages=1000)
    among = np.arange(0, 1000, 2)
    filtered = MaxSimIndex(tokens, tokens.codebook, places, candidates=60).search([question], 50, among)[0]
    assert len(filtered.passage_ids) == 50
    assert not (filtered.passage_ids % 2).any()
    assert filtered.scores == pytest.approx(maxsim_scores(tokens, question)[filtered.passage_ids], rel=1e-5)


def test_k_beyond_the_candidates_is_filled() -> None:
    tokens = held(4, 1000)
    (ranking,) = MaxSimIndex(tokens, tokens.codebook, places, candidates=10).search(
        questions(1, n_passages=1000), 300
    )
    assert len(ranking.passage_ids) == 300


def test_scales_may_be_negative() -> None:
    axes = np.eye(8, dtype=np.float32)
    passages = [axes[[0]], axes[[0, 1]], axes[[2]], axes[[1, 3]], axes[[3]], axes[[0]]]
    codebook = trained([passages], 4)
    (ranking,) = MaxSimIndex(stored(codebook, [passages]), codebook, places).search([axes[[0]]], 2)
    assert ranking.passage_ids.tolist() == [0, 1]


def test_no_passage_no_hit() -> None:
    index = MaxSimIndex(held(8), held(8).codebook, places)
    (ranking,) = index.search(questions(1), 3, np.array([1000]))
    assert len(ranking.passage_ids) == 0
    assert index.search([], 3) == []


def test_wrong_questions_are_refused() -> None:
    index = MaxSimIndex(held(8), held(8).codebook, places)
    good = questions(1)[0]
    for bad in (good[:, :16], good[:0], good[0], good.astype(np.float64), good * np.float32(np.nan)):
        with pytest.raises(VectorRejected):
            index.search([good, bad], 3)


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="k must be at least 1"):
        MaxSimIndex(held(8), held(8).codebook, places).search(questions(1), 0)
    with pytest.raises(ValueError, match="ascending"):
        MaxSimIndex(held(8), held(8).codebook, places).search(questions(1), 1, np.array([2, 1]))
    with pytest.raises(ValueError, match="candidates must be at least 1"):
        MaxSimIndex(held(8), held(8).codebook, places, candidates=0)
