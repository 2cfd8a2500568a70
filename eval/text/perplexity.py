"""Perplexity: how many equally likely tokens a model was as unsure between as it was about a text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean

MOST_NATS = math.log(1.7e308)
"""Beyond this the exponential is no double."""


def perplexity(probabilities: Sequence[float]) -> float:
    """exp(-1/n sum ln p_i) over the tokens of a text, 1..infinity; infinite when one had probability 0.

    `probabilities` are those that a model gave to the tokens that came. The base of the logarithm cancels.
    Source: Jelinek et al. 1977, "Perplexity: a measure of the difficulty of speech recognition tasks".
    ValueError: no tokens, or a probability that is NaN or outside 0..1.

    >>> round(perplexity([0.07, 0.012, 0.08]), 6)
    24.596704
    """
    if not probabilities:
        raise ValueError("no probabilities; expected that of at least one token")
    for i, p in enumerate(probabilities):
        if not 0 <= p <= 1:
            raise ValueError(f"probability {i} is {p}; expected a number in 0..1")
    nats = math.inf if 0 in probabilities else -fmean(map(math.log, probabilities))
    return math.exp(nats) if nats < MOST_NATS else math.inf
