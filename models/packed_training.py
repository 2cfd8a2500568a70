"""The forward pass of a BERT or an MPNet over packed tokens for training: as in `packed`, with gradients.

Products, norms and activations are in bf16 where that is fast; the weights stay in float32. On a CPU
attention works on one sequence after the other, whose scores fit into the cache, and computes them again in
the backward pass: the scores of a whole batch take as long to store and to read as to compute. Other models
run padded.

Left out: dropout, and the gradient of MPNet's biases of distances, which stay as they are. Source: Vaswani et
al. 2017, equation 1; Dao et al., "FlashAttention", 2022, section 3.1 (recomputation).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, linear

from .batching import PackedTokens
from .packed_forward import Layout, attend, distance_table, embedded, is_packable, model_inputs
from .precision import autocast, compute_dtype


def training_states(model: Any, tokens: PackedTokens) -> Tensor:
    """(T, H): the final state of each token of a backbone, with gradients; in bf16 where that is fast."""
    device: torch.device = next(model.parameters()).device
    if not is_packable(model):
        ids, mask, types = (torch.from_numpy(values).to(device) for values in tokens.padded(0))
        with autocast(device):
            states: Tensor = model(**model_inputs(model, ids, mask, types)).last_hidden_state
        return states[mask.bool()]
    dtype, heads = compute_dtype(device), model.config.num_attention_heads
    attended = _Attention.apply if device.type == "cpu" else attend
    layout = Layout.of(tokens.lengths, dtype, device, distance_table(model))
    values = tokens.ids, tokens.types, tokens.positions()
    ids, types, positions = (torch.from_numpy(layout.laid_out(one)).to(device) for one in values)
    with torch.autocast(device.type, enabled=False):
        x = embedded(model, ids, types, positions).to(dtype)
        for layer in model.encoder.layer:
            part, out = layer.attention.self, layer.attention.output
            mixed = attended(_product(x, part.query, part.key, part.value), layout, heads)
            x = _normalised(_product(mixed, out.dense) + x, out.LayerNorm)
            wide = gelu(_product(x, layer.intermediate.dense))
            x = _normalised(_product(wide, layer.output.dense) + x, layer.output.LayerNorm)
    found: Tensor = x[torch.from_numpy(layout.places).to(device)]
    return found


def _product(x: Tensor, *layers: nn.Linear) -> Tensor:
    """X W^T + b of layers that read the same input, side by side."""
    weight, bias = (torch.cat([getattr(one, name) for one in layers]) for name in ("weight", "bias"))
    return linear(x, weight.to(x.dtype), bias.to(x.dtype))


def _normalised(x: Tensor, norm: nn.LayerNorm) -> Tensor:
    weight, bias = norm.weight.to(x.dtype), norm.bias.to(x.dtype)
    return nn.functional.layer_norm(x, norm.normalized_shape, weight, bias, norm.eps)


class _Attention(torch.autograd.Function):
    """softmax(Q K^T / sqrt(d)) V within each sequence and head: (rows, H) from (rows, 3H) as in `attend`."""

    @staticmethod
    def forward(ctx: Any, qkv: Tensor, layout: Layout, heads: int) -> Tensor:
        """The mixed values; rows without a sequence are 0."""
        mixed = qkv.new_zeros(len(qkv), heads, qkv.shape[1] // 3 // heads)
        for rows, hidden in _sequences(layout):
            q, k, v = _by_head(qkv[rows], heads)
            mixed[rows] = torch.bmm(_weights(q, k, hidden), v).transpose(0, 1)
        ctx.save_for_backward(qkv)
        ctx.layout, ctx.heads = layout, heads
        return mixed.flatten(1)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        """The gradient of `qkv`; that of the scores is p * (g - sum of p * g) for probabilities p."""
        (qkv,), heads = ctx.saved_tensors, ctx.heads
        found = torch.zeros_like(qkv)
        for rows, hidden in _sequences(ctx.layout):
            q, k, v = _by_head(qkv[rows], heads)
            [above] = _by_head(gradient[rows], heads, 1)
            weights = _weights(q, k, hidden)  # (heads, width, width)
            scores = torch._softmax_backward_data(torch.bmm(above, v.mT), weights, -1, weights.dtype)
            scores *= q.shape[-1] ** -0.5
            parts = torch.bmm(scores, k), torch.bmm(scores.mT, q), torch.bmm(weights.mT, above)
            found[rows] = torch.stack(parts).permute(2, 0, 1, 3).flatten(1)
        return found, None, None


def _sequences(layout: Layout) -> list[tuple[slice, Tensor | None]]:
    """The rows of each sequence and its bias, (1, 1, width) or (heads, width, width); None without one."""
    return [
        (slice(at, at + block.width), None if block.bias is None else block.bias[number])
        for block in layout.blocks
        for number, at in enumerate(range(block.first, block.last, block.width))
    ]


def _by_head(rows: Tensor, heads: int, parts: int = 3) -> Tensor:
    """(parts, heads, width, d) from (width, parts * heads * d)."""
    return rows.view(len(rows), parts, heads, -1).permute(1, 2, 0, 3).contiguous()


def _weights(q: Tensor, k: Tensor, hidden: Tensor | None) -> Tensor:
    """(heads, width, width): the attention of each token to each."""
    scores = torch.bmm(q * q.shape[-1] ** -0.5, k.mT)
    return torch.softmax(scores if hidden is None else scores.add_(hidden), -1)
