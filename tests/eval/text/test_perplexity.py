from __future__ import annotations

import math

import pytest

from spanwise.eval.text.perplexity import perplexity


@pytest.mark.parametrize(
    ("probabilities", "expected"),
    [
        pytest.param([0.07, 0.012, 0.08], 24.596704, id="e13"),
        pytest.param([0.91, 0.87], 1.123879, id="e14-two"),
        pytest.param([1 / 50] * 7, 50, id="e14-even"),
        pytest.param([0.5, 0.0], math.inf, id="e14-impossible"),
        pytest.param([1.0], 1, id="certain"),
        pytest.param([5e-324], math.inf, id="beyond a double"),
    ],
)
def test_perplexity_by_hand(probabilities: list[float], expected: float) -> None:
    assert perplexity(probabilities) == pytest.approx(expected, abs=5e-7)


@pytest.mark.parametrize(
    ("probabilities", "message"),
    [([], "no probabilities"), ([0.5, math.nan], "probability 1 is nan"), ([1.1], r"probability 0 is 1\.1")],
)
def test_what_is_no_probability_is_refused(probabilities: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        perplexity(probabilities)
