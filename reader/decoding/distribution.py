"""From scores to the distribution that a token is drawn from.

The order is fixed: the penalty, then temperature, then top-k, then top-p, then normalisation. Temperature
after top-p would keep other tokens. Ties are ordered by token id, the lower one first, on every device.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

TOLERANCE = 1e-6  # of a cumulated probability, so that float32 and float64 keep the same tokens


def with_temperature(logits: Tensor, temperature: float) -> Tensor:
    """Scores divided by the temperature (Ackley et al. 1985), of any shape.

    Below 1 the distribution is sharper, above 1 flatter. ValueError unless it is positive and finite: at 0
    the method is greedy, which divides by nothing.
    """
    if not (temperature > 0 and math.isfinite(temperature)):
        raise ValueError(f"temperature is {temperature}; expected a positive number (0 means greedy)")
    return logits / temperature


def in_order(logits: Tensor) -> Tensor:
    """Token ids by falling score along the last dimension, ties by id."""
    return torch.sort(logits, dim=-1, descending=True, stable=True).indices


def top_k(logits: Tensor, k: int) -> Tensor:
    """The scores of the k best tokens, the others at -inf (Fan et al. 2018). ValueError: k < 1.

    A k above the vocabulary keeps all.
    """
    if k < 1:
        raise ValueError(f"top-k is {k}; expected at least 1")
    best = in_order(logits)[..., :k]
    return torch.full_like(logits, -math.inf).scatter(-1, best, logits.gather(-1, best))


def top_p(logits: Tensor, p: float) -> Tensor:
    """The scores of the nucleus, the others at -inf (Holtzman et al. 2020). ValueError unless 0 < p <= 1.

    The nucleus is the shortest run of best tokens whose probabilities sum up to p, the one that crosses
    included, and never empty. Sums are float64 and compared with p - 1e-6. A p of 1 keeps all.
    """
    if not 0 < p <= 1:
        raise ValueError(f"top-p is {p}; expected above 0 and at most 1")
    if p == 1:
        return logits
    order = in_order(logits)
    sorted_p = torch.softmax(logits.gather(-1, order).double(), dim=-1)
    before = sorted_p.cumsum(dim=-1) - sorted_p
    kept = before < p - TOLERANCE
    kept[..., 0] = True
    return logits.masked_fill(~torch.zeros_like(kept).scatter(-1, order, kept), -math.inf)


def entropy(probabilities: Tensor) -> Tensor:
    """Shannon's entropy in nats along the last dimension; 0 for a certain token."""
    nats: Tensor = torch.special.entr(probabilities).sum(dim=-1)
    return nats


def draw(logits: Tensor, chance: float) -> int:
    """The token of one row, float (vocabulary,), whose share of [0, 1) holds `chance`.

    Shares are float64, best token first, so that the same number draws the same token everywhere.
    """
    order = in_order(logits)
    upto = torch.softmax(logits[order].double(), dim=-1).cumsum(dim=-1)
    number = int(torch.searchsorted(upto, chance * upto[-1], right=True))
    return int(order[min(number, len(order) - 1)])
