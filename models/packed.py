"""The forward pass of a BERT over packed tokens: the result of transformers, with almost no padding.

Sequences lie one below another, each in a block of a few widths. A sequence takes its length, rounded up to
a multiple of 16: the fused attention works on vectors of 16 scores and takes up to 1.7 times as long over
159 keys as over 160. Neighbours of equal width form a block, which attention takes in one call without
copying. The total is rounded as well: a CPU's kernel library needs milliseconds to prepare every new shape.

Inference only: no dropout, no gradients. Products, residual sums and activations are in the precision given;
embeddings, statistics of norms and the softmax are summed in float32. Source: Devlin et al. 2019; Vaswani et
al. 2017, equation 1.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import gelu, linear, scaled_dot_product_attention

from .batching import padded
from .bert import Bert, BertConfig
from .precision import autocast, compute_dtype

VECTOR = 16
SHAPES_PER_OCTAVE = 16

Ids = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PackedTokens:
    """The ids and segment types of all tokens, (T,) int64 each, and the length of each sequence (B,).

    >>> tokens = PackedTokens.of([[5, 6, 7], [8]])
    >>> tokens.positions().tolist(), tokens.starts().tolist()
    ([0, 1, 2, 0], [0, 3])
    """

    ids: Ids
    types: Ids
    lengths: Ids

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> PackedTokens:
        """These sequences, all of segment 0; ValueError if there is none or one is empty."""
        lengths = np.array([len(row) for row in rows], dtype=np.int64)
        if not len(lengths) or not lengths.all():
            raise ValueError(f"sequences of {lengths.tolist()} tokens, expected some, none of them empty")
        ids = np.fromiter((i for row in rows for i in row), dtype=np.int64, count=int(lengths.sum()))
        return cls(ids, np.zeros_like(ids), lengths)

    @classmethod
    def of_padded(cls, ids: Ids, mask: Ids, types: Ids) -> PackedTokens:
        """The tokens of a padded batch (B, L) where the mask is not 0."""
        kept = mask.astype(bool)
        return cls(ids[kept], types[kept], mask.sum(axis=1))

    def starts(self) -> Ids:
        """(B,): where each sequence begins."""
        return np.cumsum(self.lengths) - self.lengths

    def positions(self) -> Ids:
        """(T,): the distance of each token from the start of its sequence."""
        return np.arange(len(self.ids), dtype=np.int64) - np.repeat(self.starts(), self.lengths)

    def mask(self, multiple: int = 1) -> NDArray[np.bool_]:
        """(B, L): where a padded batch would hold a token."""
        width = padded(int(self.lengths.max()), multiple)
        kept: NDArray[np.bool_] = np.arange(width) < self.lengths[:, np.newaxis]
        return kept

    def padded(self, pad: int, multiple: int = 1) -> tuple[Ids, Ids, Ids]:
        """Ids, attention mask and types as a padded batch, (B, L) int64 each, L a multiple of `multiple`."""
        kept = self.mask(multiple)
        ids, types = np.full(kept.shape, pad, dtype=np.int64), np.zeros(kept.shape, dtype=np.int64)
        ids[kept], types[kept] = self.ids, self.types
        return ids, kept.astype(np.int64), types


class Backbone:
    """A transformer without a head, for inference: its weights must not change after the first batch.

    A BERT with the exact GELU runs packed; every other model runs as its own library has it.
    """

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self._packed: dict[torch.device, PackedBert] = {}
        self._packing = threading.Lock()

    def states(self, tokens: PackedTokens) -> Tensor:
        """(T, H): the final state of each token, on the device of the model; in bf16 where that is fast."""
        if not is_packable(self.model):
            return padded_forward(self.model, tokens, "last_hidden_state")
        device = next(self.model.parameters()).device
        with self._packing:  # several threads may be first
            if device not in self._packed:
                self._packed[device] = PackedBert(self.model, compute_dtype(device))
        return self._packed[device].states(tokens)


def is_packable(model: nn.Module) -> bool:
    """True for a backbone whose forward pass is that of `PackedBert`: our own, or that of transformers."""
    config: Any = getattr(model, "config", None)
    return isinstance(model, Bert) or (
        type(model).__name__ == "BertModel" and BertConfig.read(config.to_dict()) is not None
    )


def packable_part(model: nn.Module) -> nn.Module | None:
    """The backbone inside a model with a head, if it can run packed."""
    part = getattr(model, "bert", None)
    return part if isinstance(part, nn.Module) and is_packable(part) else None


@torch.inference_mode()
def padded_forward(model: Any, tokens: PackedTokens, *outputs: str) -> Tensor:
    """(T, ...): outputs of the forward pass of a model for each token; several are stacked last."""
    device = next(model.parameters()).device
    pad = getattr(model.config, "pad_token_id", None) or 0
    batch = (torch.from_numpy(values).to(device) for values in tokens.padded(pad))
    with autocast(device):
        found = model(**model_inputs(model, *batch))
    present = torch.from_numpy(tokens.mask()).to(device)
    kept = [getattr(found, name)[present] for name in outputs]
    return kept[0] if len(kept) == 1 else torch.stack(kept, dim=-1)


def model_inputs(model: Any, ids: Tensor, mask: Tensor, types: Tensor) -> dict[str, Tensor]:
    """The arguments of the forward pass of a model, all (B, L); a model without segments gets no types."""
    inputs = {"input_ids": ids, "attention_mask": mask}
    return inputs | ({"token_type_ids": types} if getattr(model.config, "type_vocab_size", 0) > 1 else {})


@dataclass(frozen=True, slots=True)
class Block:
    """Rows [first, last): `n` sequences of `width` rows; `bias` (n, 1, 1, width) hides padding by -inf."""

    first: int
    last: int
    n: int
    width: int
    bias: Tensor | None


@dataclass(frozen=True, slots=True)
class Layout:
    """`n_rows` in all, `places` (T,) the row of each token, and the blocks in the order of the rows."""

    n_rows: int
    places: Ids
    blocks: list[Block]

    @classmethod
    def of(cls, lengths: Ids, dtype: torch.dtype, device: torch.device) -> Layout:
        """The layout for sequences of these lengths (B,); biases in the precision of the scores."""
        widths = -(-lengths // VECTOR) * VECTOR
        ends = np.cumsum(widths)
        within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        blocks = [  # of neighbours of equal width
            _block(lengths[first:last], int(ends[first] - widths[first]), int(widths[first]), dtype, device)
            for first, last in pairwise([0, *(np.flatnonzero(np.diff(widths)) + 1), len(widths)])
        ]
        return cls(rounded(int(ends[-1])), np.repeat(ends - widths, lengths) + within, blocks)

    def laid_out(self, values: Ids) -> Ids:
        """(n_rows,) from one value a token (T,); 0 in rows without a token."""
        out = np.zeros(self.n_rows, dtype=np.int64)
        out[self.places] = values
        return out


def rounded(n_rows: int) -> int:
    """The least size from `n_rows` upward that is one of 16 between two powers of two, or a multiple of 16.

    >>> rounded(100), rounded(1030), rounded(4096)
    (112, 1088, 4096)
    """
    octave = 2 ** max(0, (n_rows - 1).bit_length() - 1)
    return padded(n_rows, max(VECTOR, octave // SHAPES_PER_OCTAVE))


class PlainLinear:
    """One product with the public functions of torch; x is (rows, in), the result (rows, out)."""

    def __init__(self, weight: Tensor, bias: Tensor) -> None:
        self.weight, self.bias = weight, bias  # (out, in), (out,)

    def __call__(self, x: Tensor) -> Tensor:
        """X W^T + b."""
        return linear(x, self.weight, self.bias)

    def gelu(self, x: Tensor) -> Tensor:
        """gelu(x W^T + b)."""
        return gelu(self(x))

    def onto(self, x: Tensor, residual: Tensor) -> Tensor:
        """X W^T + b + residual."""
        return self(x).add_(residual)


class PrepackedLinear:
    """The same with functions of oneDNN that are private in torch.

    They keep the weights in the order in which the kernels read them, apply GELU to sums that are still in
    the cache, and add the residual on the way. The public functions reorder the weights at every call and
    take 1.3 to 1.6 times as long in bf16.
    """

    def __init__(self, weight: Tensor, bias: Tensor) -> None:
        self.weight = torch.ops.mkldnn._reorder_linear_weight(weight)
        self.bias = bias
        self._product: Any = torch.ops.mkldnn._linear_pointwise

    def __call__(self, x: Tensor) -> Tensor:
        """X W^T + b."""
        out: Tensor = self._product(x, self.weight, self.bias, "none", [], "")
        return out

    def gelu(self, x: Tensor) -> Tensor:
        """gelu(x W^T + b)."""
        out: Tensor = self._product(x, self.weight, self.bias, "gelu", [], "none")
        return out

    def onto(self, x: Tensor, residual: Tensor) -> Tensor:
        """X W^T + b + residual."""
        out: Tensor = self._product.binary(x, residual, self.weight, self.bias, "add")
        return out


PackedLinear = PlainLinear | PrepackedLinear


def kind_for(dtype: torch.dtype, device: torch.device) -> type[PackedLinear]:
    """The faster kind that works on the device."""
    return PrepackedLinear if device.type == "cpu" and _prepacked_works(dtype) else PlainLinear


def _prepacked_works(dtype: torch.dtype) -> bool:
    """True if the private functions exist and agree with the public ones on a small product."""
    weight = torch.linspace(-1, 1, 32 * 32).view(32, 32).sin().to(dtype)
    x, bias = weight.flip(0).contiguous(), weight[0].contiguous()
    plain = PlainLinear(weight, bias)
    try:
        prepacked = PrepackedLinear(weight, bias)
        pairs = [
            (prepacked(x), plain(x)),
            (prepacked.gelu(x), plain.gelu(x)),
            (prepacked.onto(x, x), plain.onto(x, x)),
        ]
    except (AttributeError, RuntimeError, NotImplementedError, TypeError):
        return False
    return all(torch.allclose(one.float(), other.float(), rtol=0.02, atol=0.02) for one, other in pairs)


@dataclass(frozen=True, slots=True)
class PackedLayer:
    """The products and norms of one layer."""

    qkv: PackedLinear
    mixed: PackedLinear
    wide: PackedLinear
    narrow: PackedLinear
    norm_attention: nn.LayerNorm
    norm_output: nn.LayerNorm

    def __call__(self, x: Tensor, layout: Layout, heads: int) -> Tensor:
        """(rows, H) from (rows, H)."""
        mixed = attend(self.qkv(x), layout, heads)
        x = self.norm_attention(self.mixed.onto(mixed, x))
        out: Tensor = self.norm_output(self.narrow.onto(self.wide.gelu(x), x))
        return out


class PackedBert:
    """The backbone of a BERT; the weights of its layers are copied, its embeddings are shared."""

    def __init__(self, model: Any, dtype: torch.dtype) -> None:
        self.embeddings, self.dtype = model.embeddings, dtype
        self.heads: int = model.config.num_attention_heads
        self.device: torch.device = self.embeddings.word_embeddings.weight.device
        kind = kind_for(dtype, self.device)

        def joined(*layers: nn.Linear) -> PackedLinear:  # layers that read the same input, as one product
            weight = torch.cat([layer.weight.detach() for layer in layers]).to(dtype)
            return kind(weight, torch.cat([layer.bias.detach() for layer in layers]).to(dtype))

        def layer(of: Any) -> PackedLayer:
            own, out = of.attention.self, of.attention.output
            products = joined(own.query, own.key, own.value), joined(out.dense)
            feed_forward = joined(of.intermediate.dense), joined(of.output.dense)
            return PackedLayer(*products, *feed_forward, out.LayerNorm, of.output.LayerNorm)

        self.layers = [layer(of) for of in model.encoder.layer]

    @torch.inference_mode()
    def states(self, tokens: PackedTokens) -> Tensor:
        """(T, H): the final state of each token, on the device."""
        layout = Layout.of(tokens.lengths, self.dtype, self.device)
        x = self._embedded(tokens, layout)
        for layer in self.layers:
            x = layer(x, layout, self.heads)
        return x[self._moved(layout.places)]

    def _embedded(self, tokens: PackedTokens, layout: Layout) -> Tensor:
        own = self.embeddings
        values = tokens.ids, tokens.types, tokens.positions()
        ids, types, positions = (self._moved(layout.laid_out(one)) for one in values)
        x = own.word_embeddings(ids) + own.token_type_embeddings(types) + own.position_embeddings(positions)
        embedded: Tensor = own.LayerNorm(x).to(self.dtype)
        return embedded

    def _moved(self, values: Ids) -> Tensor:
        """The values on the device; to a GPU from pinned memory, so that nothing waits for the copy."""
        tensor = torch.from_numpy(values)
        if self.device.type != "cuda":
            return tensor
        return tensor.pin_memory().to(self.device, non_blocking=True)


def attend(qkv: Tensor, layout: Layout, heads: int) -> Tensor:
    """softmax(Q K^T / sqrt(d)) V, (rows, H), within each sequence and head; one fused call a block.

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


def sequence_means(states: Tensor, lengths: Ids) -> Tensor:
    """(B, H) float32: the mean state of each sequence, from states (T, H) and lengths (B,)."""
    device = states.device
    weights = np.repeat(np.float32(1) / lengths.astype(np.float32), lengths)
    weighted = states.float() * torch.from_numpy(weights).to(device).unsqueeze(1)
    counts = torch.from_numpy(lengths).to(device)
    return torch.segment_reduce(weighted, "sum", lengths=counts, axis=0, unsafe=True)


def _block(lengths: Ids, first: int, width: int, dtype: torch.dtype, device: torch.device) -> Block:
    n, bias = len(lengths), None
    if lengths.min() < width:
        absent = torch.from_numpy(np.arange(width) >= lengths[:, np.newaxis])  # (n, width)
        bias = torch.zeros(absent.shape, dtype=dtype).masked_fill_(absent, float("-inf"))
        bias = bias.to(device)[:, None, None, :]
    return Block(first, first + n * width, n, width, bias)
