"""Answers of all passages under one normalisation, so that a bad passage never looks certain.

P(span) = exp(score) / Z,  Z = sum over all passages read of [ sum over its spans exp(score) + exp(null) ]

where the spans of a passage are the n best that share no token, so that variants of one answer do not compete
with each other, and `null` is left out for a model without a null answer. Raw scores decide between passages;
a softmax within each would make the best span of every passage look alike.
Source: Clark and Gardner 2018, "Simple and Effective Multi-Paragraph Reading Comprehension", section 3.3
(shared-norm); there it is a loss, here only a reading of the scores.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from spanwise.types import ScoredSpan


def log_normaliser(readings: Sequence[Sequence[ScoredSpan]]) -> float:
    """ln Z of everything read for one question, a sequence a passage; -inf where nothing was read."""
    scores = [span.score for spans in readings for span in spans]
    scores += [spans[0].null_score for spans in readings if spans and not math.isnan(spans[0].null_score)]
    return log_sum_exp(scores)


def log_sum_exp(values: Sequence[float]) -> float:
    """ln of the sum of exp(value), without overflow; -inf for none.

    >>> round(log_sum_exp([1000.0, 1000.0]), 6)
    1000.693147
    """
    top = max(values, default=-math.inf)
    return top + math.log(math.fsum(math.exp(value - top) for value in values)) if values else top
