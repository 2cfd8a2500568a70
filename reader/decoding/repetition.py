"""Less repetition: a penalty on tokens that were written, and no n-gram twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor

PenaltyForm = Literal["probability", "logit"]


def penalised(logits: Tensor, written: Sequence[int], penalty: float, form: PenaltyForm) -> Tensor:
    """The scores of one row, float (vocabulary,), where each token that was written counts for less.

    A penalty above 1 makes repetition rarer, 1 changes nothing. `probability` divides the probability of such
    a token by the penalty and normalises again, which is its score less ln penalty. `logit` divides a
    positive score and multiplies a negative one (Keskar et al. 2019), so that both fall. ValueError: penalty
    <= 0.
    """
    if penalty <= 0:
        raise ValueError(f"the repetition penalty is {penalty}; expected a positive number (1 is neutral)")
    if penalty == 1 or not written:
        return logits
    seen = torch.tensor(sorted(set(written)), device=logits.device)
    scores = logits[seen]
    if form == "probability":
        lower = scores - torch.log(torch.tensor(penalty, dtype=scores.dtype, device=scores.device))
    else:
        lower = torch.where(scores > 0, scores / penalty, scores * penalty)
    return logits.index_copy(0, seen, lower)


def banned(written: Sequence[int], n: int) -> frozenset[int]:
    """The tokens that would write an n-gram a second time (Paulus et al. 2018). ValueError: n < 1.

    >>> sorted(banned([7, 8, 9, 7, 8], 3))
    [9]
    """
    if n < 1:
        raise ValueError(f"n is {n}; expected at least 1")
    if len(written) < n:
        return frozenset()
    last = tuple(written[len(written) - n + 1 :])
    starts = range(len(written) - n + 1)
    return frozenset(written[at + n - 1] for at in starts if tuple(written[at : at + n - 1]) == last)
