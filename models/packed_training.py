"""The forward pass of a BERT or an MPNet over packed tokens, with gradients for training.

Products, norms and activations are in bf16 where that is fast; the weights stay in float32. On a CPU,
attention works on one sequence after the other, whose scores fit into the cache. The backward pass computes
the scores again, because storing and reading those of a whole batch takes as long. Other models run padded.

Left out: dropout, and the gradient of MPNet's distance biases, which do not change. Source: Vaswani et al.
2017, equation 1; Dao et al., "FlashAttention", 2022, section 3.1 (recomputation).
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, linear

from .batching import PackedTokens
from .packed_forward import Layout, attend, distance_table, embedded, is_packable, padded_forward
from .precision import compute_dtype


def training_states(model: Any, tokens: PackedTokens) -> Tensor:
    """(T, H): the final state of each token of a backbone, with gradients; in bf16 where that is fast."""
    device: torch.device = next(model.parameters()).device
    if not is_packable(model):
        return padded_forward(model, tokens, "last_hidden_state")
    dtype = compute_dtype(device)
    heads = model.config.num_attention_heads
    attention = _Attention.apply if device.type == "cpu" else attend
    layout = Layout.of(tokens.lengths, dtype, device, distance_table(model))
    inputs = (tokens.ids, tokens.types, tokens.positions())
    ids, types, positions = (torch.from_numpy(layout.laid_out(values)).to(device) for values in inputs)
    with torch.autocast(device.type, enabled=False):
        x = embedded(model, ids, types, positions).to(dtype)
        for layer in model.encoder.layer:
            projections = layer.attention.self
            qkv = _product(x, projections.query, projections.key, projections.value)
            attended = _product(attention(qkv, layout, heads), layer.attention.output.dense)
            x = _normalised(attended + x, layer.attention.output.LayerNorm)
            intermediate = gelu(_product(x, layer.intermediate.dense))
            x = _normalised(_product(intermediate, layer.output.dense) + x, layer.output.LayerNorm)
    return x[torch.from_numpy(layout.places).to(device)]


def _product(x: Tensor, *layers: nn.Linear) -> Tensor:
    """X W^T + b of layers that read the same input, side by side."""
    weight = torch.cat([layer.weight for layer in layers])
    bias = torch.cat([layer.bias for layer in layers])
    return linear(x, weight.to(x.dtype), bias.to(x.dtype))


def _normalised(x: Tensor, norm: nn.LayerNorm) -> Tensor:
    weight = norm.weight.to(x.dtype)
    bias = norm.bias.to(x.dtype)
    return nn.functional.layer_norm(x, norm.normalized_shape, weight, bias, norm.eps)


class _Attention(torch.autograd.Function):
    """softmax(Q K^T / sqrt(d)) V within each sequence and head: (rows, H) from (rows, 3H) as in `attend`."""

    @staticmethod
    def forward(ctx: Any, qkv: Tensor, layout: Layout, heads: int) -> Tensor:
        """The attended values; rows without a sequence are 0."""
        mixed = qkv.new_zeros(len(qkv), heads, qkv.shape[1] // 3 // heads)
        for rows, bias in _sequences(layout):
            q, k, v = _by_head(qkv[rows], heads)
            mixed[rows] = torch.bmm(_weights(q, k, bias), v).transpose(0, 1)
        ctx.save_for_backward(qkv)
        ctx.layout = layout
        ctx.heads = heads
        return mixed.flatten(1)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        """The gradient of `qkv`; the gradient of the scores is p * (g - sum of p * g) for probabilities p."""
        (qkv,) = ctx.saved_tensors
        heads = ctx.heads
        out = torch.zeros_like(qkv)
        for rows, bias in _sequences(ctx.layout):
            q, k, v = _by_head(qkv[rows], heads)
            [above] = _by_head(gradient[rows], heads, 1)
            weights = _weights(q, k, bias)  # (heads, width, width)
            scores = torch._softmax_backward_data(torch.bmm(above, v.mT), weights, -1, weights.dtype)
            scores *= q.shape[-1] ** -0.5
            gradients = [torch.bmm(scores, k), torch.bmm(scores.mT, q), torch.bmm(weights.mT, above)]
            out[rows] = torch.stack(gradients).permute(2, 0, 1, 3).flatten(1)
        return out, None, None


def _sequences(layout: Layout) -> list[tuple[slice, Tensor | None]]:
    """The rows of each sequence and its bias, (1, 1, width) or (heads, width, width) or None."""
    return [
        (slice(start, start + block.width), None if block.bias is None else block.bias[number])
        for block in layout.blocks
        for number, start in enumerate(range(block.first, block.last, block.width))
    ]


def _by_head(rows: Tensor, heads: int, parts: int = 3) -> Tensor:
    """(parts, heads, width, d) from (width, parts * heads * d)."""
    return rows.view(len(rows), parts, heads, -1).permute(1, 2, 0, 3).contiguous()


def _weights(q: Tensor, k: Tensor, bias: Tensor | None) -> Tensor:
    """(heads, width, width): the attention of each token to each token."""
    scores = torch.bmm(q * q.shape[-1] ** -0.5, k.mT)
    return torch.softmax(scores if bias is None else scores.add_(bias), -1)
