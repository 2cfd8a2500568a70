"""Attention within the sequences of a packed batch, one fused call a block.

softmax(Q K^T / sqrt(d)) V for each sequence and head. Source: Vaswani et al. 2017, eq. 1.
"""

from __future__ import annotations

from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from .packed_layout import Layout


def attend(qkv: Tensor, layout: Layout, heads: int) -> Tensor:
    """(rows, H): for each row the mean of the values of its sequence, weighted by attention.

    `qkv` is (rows, 3H): queries, keys and values, each head by head. Rows beyond the last block are 0.
    """
    out = qkv.new_empty(len(qkv), qkv.shape[1] // 3)
    for block in layout.blocks:
        rows = qkv[block.first : block.last].view(block.n, block.width, 3, heads, -1)
        q, k, v = rows.permute(2, 0, 3, 1, 4)  # (n, heads, width, d) each
        mixed = scaled_dot_product_attention(q, k, v, attn_mask=block.bias)
        out[block.first : block.last].view(block.n, block.width, heads, -1).copy_(mixed.transpose(1, 2))
    out[layout.blocks[-1].last :] = 0
    return out
