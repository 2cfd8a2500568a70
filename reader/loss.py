"""The training loss of the span reader."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812 (the field's name for it)
from torch import Tensor


def span_loss(start: Tensor, end: Tensor, allowed: Tensor, first: Tensor, last: Tensor) -> Tensor:
    """The mean over the batch of -ln P(first) - ln P(last): the sum of the two cross-entropies.

    `start`, `end`: (B, L) logits. `allowed`: (B, L) bool, the positions of the softmax (passage tokens
    and [CLS]). `first`, `last`: (B,) int64 gold positions, that of [CLS] for no answer.
    Source: Devlin et al. 2019, section 4.2. Deviation: the sum, where several libraries halve it.

    >>> start, end = torch.tensor([[1, 5, 2, 0.]]), torch.tensor([[4, 1, 3, 2.]])
    >>> allowed = torch.ones(1, 4, dtype=torch.bool)
    >>> round(float(span_loss(start, end, allowed, torch.tensor([1]), torch.tensor([2]))), 5)
    1.51236
    """
    blocked = ~allowed
    start = start.float().masked_fill(blocked, -torch.inf)
    end = end.float().masked_fill(blocked, -torch.inf)
    return F.cross_entropy(start, first) + F.cross_entropy(end, last)
