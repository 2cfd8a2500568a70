"""The BCa interval against scipy's, and its coverage by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from spanwise.eval.significance import bootstrap
from spanwise.eval.significance.bootstrap import bootstrap_interval


def skewed(n, seed=0):
    return np.random.default_rng(seed).exponential(1.0, n) - 0.8


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_it_equals_scipys_bca(confidence):
    differences = skewed(60)
    theirs = stats.bootstrap(
        (differences,), np.mean, method="BCa", confidence_level=confidence, n_resamples=40_000, rng=1
    ).confidence_interval
    ours = bootstrap_interval(differences, confidence, 40_000)
    assert ours == pytest.approx((theirs.low, theirs.high), abs=0.012)


@pytest.mark.parametrize(
    ("draw", "mean"),
    [
        (lambda r: r.choice([-1.0, 0.0, 1.0], 50, p=[0.1, 0.6, 0.3]), 0.2),
        (lambda r: r.exponential(1.0, 50), 1.0),
        (lambda r: r.normal(0.1, 1.0, 50), 0.1),
    ],
    ids=["wins and losses", "skewed", "normal"],
)
def test_it_covers_the_true_mean_about_as_often_as_it_says(draw, mean):
    generator = np.random.default_rng(11)
    found = [bootstrap_interval(draw(generator), resamples=500, seed=i) for i in range(600)]
    assert 0.91 < np.mean([low <= mean <= high for low, high in found]) < 0.98


def test_bca_follows_the_skew():
    differences = skewed(40)
    low, high = bootstrap_interval(differences)
    assert high - differences.mean() > differences.mean() - low


def test_swapping_the_systems_mirrors_it():
    differences = skewed(80)
    low, high = bootstrap_interval(differences)
    assert bootstrap_interval(-differences) == pytest.approx((-high, -low), abs=1e-9)


def test_blocks_change_nothing(monkeypatch):
    differences = skewed(37)
    whole = bootstrap_interval(differences, resamples=303)
    monkeypatch.setattr(bootstrap, "BLOCK", 100)
    assert bootstrap_interval(differences, resamples=303) == whole


def test_equal_differences_have_no_width():
    assert bootstrap_interval([0.0] * 9) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("differences", "confidence", "message"),
    [([], 0.95, "at least 1"), ([1.0], 0.95, "at least 2"), ([1.0, 2.0], 1.0, "confidence 1.0")],
)
def test_wrong_arguments_are_named(differences, confidence, message):
    with pytest.raises(ValueError, match=message):
        bootstrap_interval(differences, confidence)
