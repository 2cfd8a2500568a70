"""The forward pass of a BERT over packed tokens: what `transformers` computes, with next to no padding.

Devlin et al. 2019: embeddings, then layers of self-attention and a GELU network, each followed by a sum with
its input and a layer norm. Inference only: no dropout, no gradients. Products, residual sums and activations
are in the precision asked for; embeddings, statistics of norms and the softmax are summed in float32.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import layer_norm

from .packed_attention import attend
from .packed_layout import Layout
from .packed_linear import PackedLinear, kind_for, packed_linear
from .packed_tokens import Ids, PackedTokens


@dataclass(frozen=True, slots=True)
class PackedLayer:
    """One layer's products and norms."""

    qkv: PackedLinear
    mixed: PackedLinear
    wide: PackedLinear
    narrow: PackedLinear
    norm_attention: nn.LayerNorm
    norm_output: nn.LayerNorm

    def __call__(self, x: Tensor, layout: Layout, heads: int) -> Tensor:
        """(rows, H) from (rows, H)."""
        mixed = attend(self.qkv(x), layout, heads)
        x = normed(self.mixed.onto(mixed, x), self.norm_attention)
        return normed(self.narrow.onto(self.wide.gelu(x), x), self.norm_output)


class PackedBert:
    """The trunk of a BERT; the weights of its layers are copied when it is made, embeddings are shared."""

    def __init__(self, model: Any, dtype: torch.dtype, first_position: int = 0) -> None:
        self.embeddings, self.dtype, self.first_position = model.embeddings, dtype, first_position
        self.heads: int = model.config.num_attention_heads
        self.device: torch.device = self.embeddings.word_embeddings.weight.device
        kind = kind_for(dtype, self.device)

        def layer(of: Any) -> PackedLayer:
            own, out = of.attention.self, of.attention.output
            return PackedLayer(
                packed_linear([own.query, own.key, own.value], dtype, kind),
                packed_linear([out.dense], dtype, kind),
                packed_linear([of.intermediate.dense], dtype, kind),
                packed_linear([of.output.dense], dtype, kind),
                out.LayerNorm,
                of.output.LayerNorm,
            )

        self.layers = [layer(of) for of in model.encoder.layer]

    @torch.inference_mode()
    def states(self, tokens: PackedTokens) -> Tensor:
        """(T, H): the final state of each token, on the device."""
        layout = Layout.of(tokens.lengths, self.dtype, self.device, tokens.seen)
        x = self._embedded(tokens, layout)
        for layer in self.layers:
            x = layer(x, layout, self.heads)
        return x[self._moved(layout.places)]

    def _embedded(self, tokens: PackedTokens, layout: Layout) -> Tensor:
        own = self.embeddings
        values = tokens.ids, tokens.types, tokens.positions() + self.first_position
        ids, types, positions = (self._moved(layout.laid_out(one)) for one in values)
        x = own.word_embeddings(ids) + own.token_type_embeddings(types) + own.position_embeddings(positions)
        return normed(x, own.LayerNorm).to(self.dtype)

    def _moved(self, values: Ids) -> Tensor:
        """The values on the device; to a GPU from pinned memory, so that nothing waits for the copy."""
        tensor = torch.from_numpy(values)
        if self.device.type != "cuda":
            return tensor
        return tensor.pin_memory().to(self.device, non_blocking=True)


def normed(x: Tensor, norm: nn.LayerNorm) -> Tensor:
    """The layer norm of x, in its precision; mean and variance are summed in float32."""
    return layer_norm(x, norm.normalized_shape, norm.weight, norm.bias, norm.eps)
