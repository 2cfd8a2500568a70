"""Each measure on a ranking that can be worked out by hand, and what they have in common."""

from __future__ import annotations

from collections.abc import Callable
from math import log2
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.eval.ranking.average_precision import average_precision
from spanwise.eval.ranking.bpref import bpref
from spanwise.eval.ranking.judged import judged
from spanwise.eval.ranking.judged_ranking import judge
from spanwise.eval.ranking.measures import parse_measures
from spanwise.eval.ranking.ndcg import ndcg
from spanwise.eval.ranking.precision import precision
from spanwise.eval.ranking.recall import recall
from spanwise.eval.ranking.reciprocal_rank import reciprocal_rank
from spanwise.eval.ranking.success import success

# Rank 1 was judged irrelevant, 2 is relevant, 3 was never judged, 4 is very relevant, 5 was not looked at;
# one irrelevant and one relevant document were not found.
JUDGED = {"a": 0, "b": 1, "d": 2, "e": -1, "lost": 1, "away": 0}
FOUND = judge(["a", "b", "c", "d", "e"], JUDGED)

BINARY = parse_measures("AP P@3 R@3 RR Success@3 Bpref AP@3 RR@3")
ALL = [*BINARY, *parse_measures("nDCG nDCG@3 Judged Judged@3 AP(rel=2) P(rel=2)@3 Bpref(rel=2)")]
IDS = [f"d{number}" for number in range(10)]
RANKINGS = st.permutations(IDS).flatmap(lambda ids: st.integers(0, len(ids)).map(lambda n: ids[:n]))
JUDGEMENTS = st.dictionaries(st.sampled_from([*IDS, "elsewhere"]), st.integers(-2, 3))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (precision(FOUND, 4), 2 / 4),
        (precision(FOUND, 10), 2 / 10),
        (precision(FOUND, 4, rel=2), 1 / 4),
        (recall(FOUND, 3), 1 / 3),
        (recall(FOUND, 10), 2 / 3),
        (recall(FOUND, 10, rel=2), 1.0),
        (reciprocal_rank(FOUND), 1 / 2),
        (reciprocal_rank(FOUND, k=1), 0.0),
        (reciprocal_rank(FOUND, rel=2), 1 / 4),
        (average_precision(FOUND), (1 / 2 + 2 / 4) / 3),
        (average_precision(FOUND, k=3), (1 / 2) / 3),
        (average_precision(FOUND, rel=2), 1 / 4),
        (success(FOUND, 1), 0.0),
        (success(FOUND, 2), 1.0),
        (success(FOUND, 3, rel=2), 0.0),
        (bpref(FOUND), ((1 - 1 / 2) + (1 - 1 / 2)) / 3),
        (bpref(FOUND, rel=2), 1 - 1 / 1),
        (judged(FOUND, 3), 2 / 3),
        (judged(FOUND), 4 / 5),
        (judged(FOUND, 100), 4 / 5),
        (ndcg(FOUND, 3), (1 / log2(3)) / (2 / log2(2) + 1 / log2(3) + 1 / log2(4))),
        (ndcg(FOUND), (1 / log2(3) + 2 / log2(5)) / (2 / log2(2) + 1 / log2(3) + 1 / log2(4))),
    ],
)
def test_by_hand(value: float, expected: float) -> None:
    assert value == pytest.approx(expected, abs=1e-15)


def test_ndcg_of_the_textbook_gains_3_2_3_0_1_2() -> None:
    gains = dict(zip("abcdef", [3, 2, 3, 0, 1, 2], strict=True)) | {"g": 3, "h": 2}
    assert ndcg(judge("abcdef", gains), 6) == pytest.approx(0.785, abs=5e-4)  # 6.861 / 8.740


def test_gains_are_not_exponential() -> None:
    assert ndcg(judge(["a", "b"], {"a": 1, "b": 3})) == pytest.approx((1 + 3 / log2(3)) / (3 + 1 / log2(3)))


@pytest.mark.parametrize("measure", ALL, ids=lambda measure: measure.name)
def test_nothing_found_is_zero(measure: Callable[..., float]) -> None:
    assert measure(judge([], JUDGED)) == 0.0


@pytest.mark.parametrize("levels", [[], [0, 0], [-1, -2]])
@pytest.mark.parametrize("measure", [m for m in ALL if m.kind != "Judged"], ids=lambda m: m.name)
def test_nothing_relevant_is_zero(measure: Callable[..., float], levels: list[int]) -> None:
    assert measure(judge(["a", "b"], dict(zip("ab", levels, strict=False)))) == 0.0


@given(RANKINGS, JUDGEMENTS)
def test_all_lie_between_zero_and_one(ranking: list[str], judgements: dict[str, int]) -> None:
    found = judge(ranking, judgements)
    assert all(0 <= measure(found) <= 1 + 1e-12 for measure in ALL)


@given(JUDGEMENTS.filter(lambda judgements: max(judgements.values(), default=0) > 0))
def test_the_ideal_ranking_reaches_one(judgements: dict[str, int]) -> None:
    found = judge(sorted(judgements, key=judgements.__getitem__, reverse=True), judgements)
    for measure in parse_measures("nDCG nDCG@3 AP RR RR@1 P@1 R@100 Success@1 Bpref Judged"):
        assert measure(found) == pytest.approx(1.0)


@given(RANKINGS, JUDGEMENTS)
def test_grades_mean_nothing_to_binary_measures(ranking: list[str], judgements: dict[str, int]) -> None:
    found = judge(ranking, judgements)
    binary = judge(ranking, {name: min(level, 1) for name, level in judgements.items()})
    assert all(measure(found) == measure(binary) for measure in BINARY)


@given(RANKINGS, JUDGEMENTS, st.integers(1, 12))
def test_none_falls_with_k_but_precision(ranking: list[str], judgements: dict[str, int], k: int) -> None:
    found = judge(ranking, judgements)
    for measure in (recall, success, average_precision, reciprocal_rank):
        assert measure(found, k) <= measure(found, k + 1)


@given(RANKINGS, JUDGEMENTS)
def test_bpref_does_not_see_what_nobody_judged(ranking: list[str], judgements: dict[str, int]) -> None:
    alone = [document for document in ranking if document in judgements]
    assert bpref(judge(ranking, judgements)) == bpref(judge(alone, judgements))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: precision(FOUND, 0), "k is 0"),
        (lambda: ndcg(FOUND, -1), "k is -1"),
        (lambda: judged(FOUND, 0), "k is 0"),
        (lambda: average_precision(FOUND, rel=0), "rel is 0"),
        (lambda: bpref(FOUND, rel=-1), "rel is -1"),
    ],
)
def test_wrong_arguments_are_refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
