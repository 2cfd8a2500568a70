"""Attention written out as two products and a softmax, for training on a CPU.

The fused attention that PyTorch has for CPUs computes its backward pass in small blocks, for which a CPU
that multiplies bf16 matrices in hardware has no use. Written out, the two passes are faster there, and
(B, H, L, L) probabilities of each layer are kept in between. The results are the same
but for the rounding of scores to the type of the queries, as in any attention that is not fused.

Source: Vaswani et al. 2017, equation 1: softmax(Q K^T / sqrt(d)) V.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

NAME = "spanwise_explicit"


def explicit(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, scale: float, p: float = 0.0
) -> Tensor:
    """The attended values, (B, H, L, d), of (B, H, L, d) queries, keys and values.

    `mask` is added to the scores, or, where it is boolean, False keeps a token from being seen; it is
    (B, 1, L or 1, L). `p` is the probability with which a weight is dropped.
    """
    scores = torch.matmul(query * scale, key.transpose(-1, -2))  # (B, H, L, L)
    with torch.autocast(query.device.type, enabled=False):  # which would widen the softmax to float32
        if mask is not None and mask.dtype == torch.bool:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        elif mask is not None:
            scores = scores + mask.to(scores.dtype)
        weights = nn.functional.dropout(torch.softmax(scores, -1), p)
    return torch.matmul(weights, value)


def attend(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    **_: Any,
) -> tuple[Tensor, None]:
    """The same as (B, L, H, d), by the signature that transformers gives attention functions."""
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    seen = explicit(query, key, value, attention_mask, scale, dropout if module.training else 0.0)
    return seen.transpose(1, 2).contiguous(), None


@contextmanager
def explicit_attention(model: nn.Module) -> Iterator[None]:
    """Lets every BERT of transformers inside `model` that is on a CPU attend explicitly, for a while."""
    from transformers import AttentionInterface, BertPreTrainedModel
    from transformers.masking_utils import AttentionMaskInterface, eager_mask

    AttentionInterface.register(NAME, attend)
    AttentionMaskInterface.register(NAME, eager_mask)
    found = [
        part
        for part in model.modules()
        if isinstance(part, BertPreTrainedModel) and part.device.type == "cpu"
    ]
    before = [part.config._attn_implementation for part in found]
    for part in found:
        part.set_attn_implementation(NAME)
    try:
        yield
    finally:
        for part, name in zip(found, before, strict=True):
            part.set_attn_implementation(name)
