"""The forward pass of a BERT or MPNet over packed tokens, as in transformers but with almost no padding.

The rows of sequences lie one below another. A sequence takes as many rows as its length, rounded up to a
multiple of 16, because the fused attention works on vectors of 16 scores: 159 keys take up to 1.7 times as
long as 160. Neighbouring sequences of equal width form a block, which attention takes in one call without
copying. The total is rounded as well, because a CPU's kernel library needs milliseconds to prepare each new
shape.

Inference only: no dropout, no gradients. Products, residual sums and activations are in the given precision;
embeddings, statistics of norms and the softmax are summed in float32.

Source: Devlin et al. 2019; Vaswani et al. 2017, equation 1.
"""

from __future__ import annotations

import copy
import math
import threading
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from .batching import Ids, PackedTokens, padded
from .bert import Bert
from .numpy_bert import BertConfig
from .precision import Int8Linear, PackedLinear, autocast, compute_dtype, has_int8, kind_for

VECTOR = 16
SHAPES_PER_OCTAVE = 16
MAX_DISTANCE = 128  # of tokens; all larger distances share a bucket
ROWS_PER_THREAD = 768  # in float32 and 8 bits on a CPU, so that the results of a layer stay in the cache


class Backbone:
    """A transformer without a head, for inference; its weights must not change after the first batch.

    A BERT or MPNet with the exact GELU runs packed. Every other model runs padded in its library.
    `owns_model` as for `PackedBert`.
    """

    def __init__(self, model: nn.Module, owns_model: bool = False) -> None:
        self.model = model
        self._owns_model = owns_model
        self._packed: dict[torch.device, PackedBert] = {}
        self._packing = threading.Lock()

    @torch.inference_mode()
    def states(self, tokens: PackedTokens) -> Tensor:
        """(T, H): the final state of each token, on the model's device; bf16 or 8 bits where that is fast."""
        if not is_packable(self.model):
            return padded_forward(self.model, tokens, "last_hidden_state")
        device = next(self.model.parameters()).device
        with self._packing:  # several threads may be first
            if device not in self._packed:
                precision = (compute_dtype(device), has_int8(device))
                self._packed[device] = PackedBert(self.model, *precision, self._owns_model)
        return self._packed[device].states(tokens)


def is_packable(model: nn.Module) -> bool:
    """True for a backbone that `PackedBert` can compute: our own BERT, or that of transformers."""
    config: Any = getattr(model, "config", None)
    return isinstance(model, Bert) or (
        type(model).__name__ == "BertModel" and BertConfig.read(config.to_dict()) is not None
    )


def packable_part(model: nn.Module) -> nn.Module | None:
    """The backbone inside a model with a head, or None if it cannot run packed."""
    part = getattr(model, "bert", None)
    return part if isinstance(part, nn.Module) and is_packable(part) else None


def padded_forward(model: Any, tokens: PackedTokens, *outputs: str) -> Tensor:
    """(T, ...): outputs of a model's forward pass for each token; several outputs are stacked last."""
    device = next(model.parameters()).device
    pad = getattr(model.config, "pad_token_id", None) or 0
    batch = (torch.from_numpy(values).to(device) for values in tokens.padded(pad))
    with autocast(device):
        result = model(**model_inputs(model, *batch))
    present = torch.from_numpy(tokens.mask()).to(device)
    of_tokens = [getattr(result, name)[present] for name in outputs]
    return of_tokens[0] if len(of_tokens) == 1 else torch.stack(of_tokens, dim=-1)


def model_inputs(model: Any, ids: Tensor, mask: Tensor, types: Tensor) -> dict[str, Tensor]:
    """The arguments of a model's forward pass, (B, L) each; a model without segments gets no types."""
    inputs = {"input_ids": ids, "attention_mask": mask}
    if getattr(model.config, "type_vocab_size", 0) > 1:
        inputs["token_type_ids"] = types
    return inputs


@dataclass(frozen=True, slots=True)
class Block:
    """Neighbouring sequences of equal width.

    first: the first row.
    last: the row behind the last one.
    n: the number of sequences.
    width: the rows of each sequence.
    bias: added to the scores, -inf at padding; (n, 1, 1, width), or (n, heads, width, width) with distance
        biases. None if there is nothing to add.
    """

    first: int
    last: int
    n: int
    width: int
    bias: Tensor | None


@dataclass(frozen=True, slots=True)
class Layout:
    """The rows of packed sequences.

    n_rows: the number of rows.
    places: the row of each token, (T,).
    blocks: the blocks in the order of the rows.
    """

    n_rows: int
    places: Ids
    blocks: list[Block]

    @classmethod
    def of(
        cls, lengths: Ids, dtype: torch.dtype, device: torch.device, distances: Tensor | None = None
    ) -> Layout:
        """The layout for sequences of these lengths (B,); `dtype` is that of the scores.

        `distances` (buckets, heads): the distance biases, see `distance_buckets`.
        """
        widths = _widths(lengths)
        ends = np.cumsum(widths)
        within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        blocks = [
            _block(lengths[first:last], int(ends[first] - widths[first]), int(widths[first]), dtype, device)
            for first, last in pairwise([0, *(np.flatnonzero(np.diff(widths)) + 1), len(widths)])
        ]
        if distances is not None:
            blocks = [replace(block, bias=_with_distances(block, distances.to(dtype))) for block in blocks]
        return cls(rounded(int(ends[-1])), np.repeat(ends - widths, lengths) + within, blocks)

    def laid_out(self, values: Ids) -> Ids:
        """(n_rows,) from one value per token (T,); 0 in rows without a token."""
        out = np.zeros(self.n_rows, dtype=np.int64)
        out[self.places] = values
        return out


def rounded(n_rows: int) -> int:
    """The least allowed size from `n_rows` upward: a multiple of 16, at most 16 sizes between powers of two.

    >>> rounded(100), rounded(1030), rounded(4096)
    (112, 1088, 4096)
    """
    octave = 2 ** max(0, (n_rows - 1).bit_length() - 1)
    return padded(n_rows, max(VECTOR, octave // SHAPES_PER_OCTAVE))


@dataclass(frozen=True, slots=True)
class PackedLayer:
    """The products and norms of one layer."""

    qkv: PackedLinear
    attention_output: PackedLinear
    intermediate: PackedLinear
    output: PackedLinear
    attention_norm: nn.LayerNorm
    output_norm: nn.LayerNorm

    def __call__(self, x: Tensor, layout: Layout, heads: int) -> Tensor:
        """(rows, H) from (rows, H)."""
        attended = attend(self.qkv(x), layout, heads)
        x = self.attention_norm(self.attention_output.onto(attended, x))
        out: Tensor = self.output_norm(self.output.onto(self.intermediate.gelu(x), x))
        return out


def embedded(model: Any, ids: Tensor, types: Tensor, positions: Tensor) -> Tensor:
    """(rows, H): the normalised embeddings of tokens, (rows,) each, positions counted from 0."""
    embeddings = model.embeddings
    x = embeddings.word_embeddings(ids)
    if hasattr(embeddings, "token_type_embeddings"):
        x = x + embeddings.token_type_embeddings(types)
    first = getattr(model.config, "first_position", 0)
    normalised: Tensor = embeddings.LayerNorm(x + embeddings.position_embeddings(positions + first))
    return normalised


def distance_table(model: Any) -> Tensor | None:
    """The distance biases of an MPNet, (buckets, heads), without gradient; None for a BERT."""
    table = getattr(model.encoder, "relative_attention_bias", None)
    return None if table is None else table.weight.detach()


def distance_buckets(width: int, n_buckets: int) -> Tensor:
    """(width, width) int64: the bucket of the distance from token i to token j at [i, j].

    The first half of the buckets is for j before i, the second half for j behind i. In each half, the first
    buckets hold one distance each, and the others grow up to MAX_DISTANCE, whose bucket holds all larger
    ones. Source: Raffel et al., "Exploring the Limits of Transfer Learning", 2020, section 2.1, as in MPNet.

    >>> distance_buckets(3, 32).tolist()
    [[0, 17, 18], [1, 0, 17], [2, 1, 0]]
    """
    distance = torch.arange(width)[None, :] - torch.arange(width)[:, None]
    half = n_buckets // 2
    exact = n_buckets // 4  # buckets of one distance each
    far = torch.log(distance.abs().clamp_min(1).float() / exact) / math.log(MAX_DISTANCE / exact)
    large = (exact + (far * (half - exact)).long()).clamp_max(half - 1)
    return torch.where(distance.abs() < exact, distance.abs(), large) + half * (distance > 0)


class PackedBert:
    """The backbone of a BERT or an MPNet, ready for inference.

    The weights of its layers are copied, its embeddings are shared. With `int8` the products have 8 bits, and
    everything else is in `dtype`, which must be float32. With `owns_model` nothing else uses the model: it
    loses each layer that is copied.
    """

    def __init__(self, model: Any, dtype: torch.dtype, int8: bool = False, owns_model: bool = False) -> None:
        self.model = model
        self.dtype = dtype
        self.distances = distance_table(model)
        self.heads: int = model.config.num_attention_heads
        self.device: torch.device = model.embeddings.word_embeddings.weight.device
        kind = Int8Linear if int8 else kind_for(dtype, self.device)

        def joined(*layers: nn.Linear) -> PackedLinear:
            weight = torch.cat([layer.weight.detach() for layer in layers]).to(dtype)
            return kind(weight, torch.cat([layer.bias.detach() for layer in layers]).to(dtype))

        def norm(of: nn.LayerNorm) -> nn.LayerNorm:  # a GPU's kernel takes weights of the type of its input
            return of if self.device.type == "cpu" else copy.deepcopy(of).to(dtype)

        def packed(layer: Any) -> PackedLayer:
            attention = layer.attention
            return PackedLayer(
                joined(attention.self.query, attention.self.key, attention.self.value),
                joined(attention.output.dense),
                joined(layer.intermediate.dense),
                joined(layer.output.dense),
                norm(attention.output.LayerNorm),
                norm(layer.output.LayerNorm),
            )

        layers = model.encoder.layer
        self.layers = [packed(layers.pop(0) if owns_model else layers[i]) for i in range(len(layers))]

    @torch.inference_mode()
    def states(self, tokens: PackedTokens) -> Tensor:
        """(T, H): the final state of each token, on the device."""
        if self.device.type != "cpu" or self.dtype != torch.float32:
            return self._states(tokens)
        pieces = _pieces(tokens, ROWS_PER_THREAD * torch.get_num_threads())
        return torch.cat([self._states(piece) for piece in pieces])

    def _states(self, tokens: PackedTokens) -> Tensor:
        layout = Layout.of(tokens.lengths, self.dtype, self.device, self.distances)
        x = self._embedded(tokens, layout)
        for layer in self.layers:
            x = layer(x, layout, self.heads)
        return x[self._moved(layout.places)]

    def _embedded(self, tokens: PackedTokens, layout: Layout) -> Tensor:
        inputs = (tokens.ids, tokens.types, tokens.positions())
        ids, types, positions = (self._moved(layout.laid_out(values)) for values in inputs)
        return embedded(self.model, ids, types, positions).to(self.dtype)

    def _moved(self, values: Ids) -> Tensor:
        """The values on the device; pinned memory lets a GPU copy them while other work goes on."""
        tensor = torch.from_numpy(values)
        if self.device.type != "cuda":
            return tensor
        return tensor.pin_memory().to(self.device, non_blocking=True)


def attend(qkv: Tensor, layout: Layout, heads: int) -> Tensor:
    """softmax(Q K^T / sqrt(d)) V, (rows, H), within each sequence and head; one fused call per block.

    `qkv` (rows, 3H): queries, keys and values, each head by head. Rows beyond the last block are 0.
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


def _pieces(tokens: PackedTokens, n_rows: int) -> list[PackedTokens]:
    """The sequences in pieces of at most `n_rows` rows of a layout; a longer sequence is a piece alone.

    >>> [piece.lengths.tolist() for piece in _pieces(PackedTokens.of([[5, 6], [7], [8, 9, 4]]), 32)]
    [[2, 1], [3]]
    """
    cuts = [0]
    rows = 0
    for number, width in enumerate(_widths(tokens.lengths).tolist()):
        if rows and rows + width > n_rows:
            cuts.append(number)
            rows = 0
        rows += width
    ends = [*tokens.starts().tolist(), len(tokens.ids)]
    return [
        PackedTokens(tokens.ids[ends[i] : ends[j]], tokens.types[ends[i] : ends[j]], tokens.lengths[i:j])
        for i, j in pairwise([*cuts, len(tokens.lengths)])
    ]


def _widths(lengths: Ids) -> Ids:
    """(B,): the number of rows of each sequence."""
    return -(-lengths // VECTOR) * VECTOR


def _with_distances(block: Block, distances: Tensor) -> Tensor:
    """(n, heads, width, width): the bias of a block plus the distance biases (buckets, heads)."""
    buckets = distance_buckets(block.width, len(distances)).to(distances.device)
    bias = distances[buckets].permute(2, 0, 1).contiguous().unsqueeze(0)  # (1, heads, width, width)
    return bias.expand(block.n, -1, -1, -1) if block.bias is None else bias + block.bias


def _block(lengths: Ids, first: int, width: int, dtype: torch.dtype, device: torch.device) -> Block:
    n = len(lengths)
    bias = None
    if lengths.min() < width:
        absent = torch.from_numpy(np.arange(width) >= lengths[:, np.newaxis])  # (n, width)
        bias = torch.zeros(absent.shape, dtype=dtype).masked_fill_(absent, float("-inf"))
        bias = bias.to(device)[:, None, None, :]
    return Block(first, first + n * width, n, width, bias)
