"""The randomisation test against scipy's and by enumeration; the bootstrap interval; comparisons."""

import importlib
import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

from spanwise.eval.significance import bootstrap_interval, compare, randomization_test

ALTERNATIVES = ("two-sided", "less")
SMALL = st.lists(st.sampled_from([-1.0, -0.5, -0.1, 0.0, 0.1, 0.3, 1.0]), min_size=1, max_size=9)


@pytest.fixture(scope="module")
def stats():
    """`scipy.stats`, imported where it is used: it takes a second."""
    return importlib.import_module("scipy.stats")


def drawn(n, seed=0, shift=0.0):
    return np.random.default_rng(seed).normal(shift, 1, n)


def by_enumeration(differences, alternative):
    flips = itertools.product((-1, 1), repeat=len(differences))
    sums = np.array([sum(s * d for s, d in zip(signs, differences, strict=True)) for signs in flips])
    seen = sum(differences)
    if alternative == "two-sided":
        sums = -abs(sums)
        seen = -abs(seen)
    return float(np.mean(sums <= seen + 1e-9))


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_the_exact_p_value_equals_that_of_scipy(stats, alternative):
    for seed in range(20):
        differences = drawn(11, seed, 0.4)
        theirs = stats.permutation_test(
            (differences,),
            lambda d: d.mean(),
            permutation_type="samples",
            alternative=alternative,
            n_resamples=np.inf,
            vectorized=False,
        )
        assert randomization_test(differences, alternative) == pytest.approx(theirs.pvalue, abs=1e-12)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_random_signs_come_near_the_normal_limit(stats, alternative):
    differences = drawn(2_000, 3, 0.03)
    z = differences.sum() / np.sqrt((differences**2).sum())
    tails = {"two-sided": 2 * stats.norm.sf(abs(z)), "less": stats.norm.cdf(z)}
    assert randomization_test(differences, alternative) == pytest.approx(tails[alternative], abs=0.015)


@given(SMALL, st.sampled_from(ALTERNATIVES))
def test_small_cases_equal_enumeration(differences, alternative):
    expected = by_enumeration(differences, alternative)
    assert randomization_test(differences, alternative) == pytest.approx(expected, abs=1e-12)


def test_ties_alone_show_no_difference():
    assert {randomization_test([0.0] * 50, alternative) for alternative in ALTERNATIVES} == {1.0}


def test_sums_equal_up_to_rounding_are_ties():
    # 0.1 + 0.2 - 0.3 is not 0 in floating point; each of the 8 sums is as far from 0 as the observed one
    assert randomization_test([0.1, 0.2, -0.3]) == 1.0


def test_a_random_p_value_is_never_zero():
    assert randomization_test([-1.0] * 500, "less", permutations=99) == 1 / 100


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([],), "at least 1"),
        (([1.0, float("nan")],), "difference 1 is not finite"),
        (([1.0], "smaller"), "smaller"),
        (([1.0], "less", 0), "0 permutations"),
    ],
)
def test_errors_name_wrong_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        randomization_test(*arguments)


def test_the_interval_equals_scipys_percentile_interval(stats):
    differences = drawn(60, 1)
    theirs = stats.bootstrap(
        (differences,), np.mean, method="percentile", n_resamples=20_000, rng=1
    ).confidence_interval
    ours = bootstrap_interval(differences, resamples=20_000)
    assert ours == pytest.approx((theirs.low, theirs.high), abs=0.012)


def test_an_interval_needs_two_differences():
    with pytest.raises(ValueError, match="at least 2"):
        bootstrap_interval([1.0])
    assert bootstrap_interval([0.0] * 9) == (0.0, 0.0)


def test_a_comparison_counts_wins_losses_and_ties_of_common_questions():
    baseline = {"q1": 0.0, "q2": 1.0, "q3": 0.5, "q4": 1.0, "only": 1.0}
    comparison = compare(baseline, {"q1": 1.0, "q2": 0.5, "q3": 0.5 + 1e-15, "q4": 1.0})
    changes = [*comparison.wins, *comparison.losses, *comparison.ties]
    assert [change.id for change in changes] == [
        "q1",
        "q2",
        "q3",
        "q4",
    ]
    assert comparison.questions == 4
    assert comparison.baseline_mean == 0.625
    assert comparison.difference == pytest.approx(0.125)
    with pytest.raises(ValueError, match="share no question"):
        compare({"q1": 0.0}, {"q2": 0.0})
