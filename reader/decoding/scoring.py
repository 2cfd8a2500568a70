"""What a method does to the scores of one row before it chooses: the penalty, then what is blocked."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from .repetition import banned, penalised
from .settings import Decoding


def allowed(logits: Tensor, written: Sequence[int], decoding: Decoding) -> Tensor:
    """The scores of one row, float (vocabulary,), after the penalty, blocked tokens at -inf.

    Where every token would be blocked, none is: a text has to go on.
    """
    scores = penalised(logits.float(), written, decoding.repetition_penalty, decoding.penalty_form)
    if not decoding.blocked_ngrams:
        return scores
    blocked = sorted(banned(written, decoding.blocked_ngrams))
    if not blocked:
        return scores
    left = scores.index_fill(0, torch.tensor(blocked, device=scores.device), -math.inf)
    return left if bool(torch.isfinite(left).any()) else scores
