"""BERT in numpy: the settings of an encoder, its weights as arrays, and its forward pass.

Importing torch takes longer than numpy needs for a question, so the first questions of a process are computed
here (`first`). The result is that of `packed` in float32. Source: Devlin et al., "BERT: Pre-training of Deep
Bidirectional Transformers", 2019, section 3.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from spanwise.errors import ModelRejected

from .batching import PackedTokens, Vectors
from .model_files import BASE_SHA256, CONFIG, WEIGHTS, find_base, read_json

SPAN_HEAD, EVIDENCE_HEAD = "qa_outputs", "evidence_outputs"
EVIDENCE_OUTPUTS = ("support", "passage", "yes_no", "yes", "several")
"""Logits of a token: it supports the answer; at [CLS], the passage answers; as a mean over the sentences of
the answer: the question asks whether something is so, it is so, it asks for several things."""
DELTA_FORMAT = "spanwise-delta-2"
PREFIX = "bert."  # of a backbone inside a model with a head, as transformers names it
_ROWS = 64  # whose wide activations fit into a core's cache
_ERF = (-1.453152027, 1.421413741, -0.284496736, 0.254829592)

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class BertConfig:
    """The settings of an encoder that its forward pass depends on, named as in config.json.

    BERT and MPNet differ in these alone: MPNet adds to the scores of attention a bias of the distance between
    two tokens, of which there are `relative_attention_num_buckets` for each head; its first token has the
    position `first_position`; it has no segments (`type_vocab_size` 0). Source of the latter: Song et al.,
    "MPNet: Masked and Permuted Pre-training for Language Understanding", 2020.
    """

    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int
    type_vocab_size: int = 2
    layer_norm_eps: float = 1e-12
    model_type: str = "bert"
    relative_attention_num_buckets: int = 0
    first_position: int = 0

    @classmethod
    def read(cls, settings: Mapping[str, Any]) -> Self | None:
        """The settings of a plain BERT or MPNet encoder; None for any other model."""
        plain = {"hidden_act": "gelu", "position_embedding_type": "absolute"}
        flags = ("is_decoder", "add_cross_attention", "chunk_size_feed_forward", "quantization_config")
        if any(settings.get(name, value) != value for name, value in plain.items()):
            return None
        if settings.get("model_type") not in ("bert", "mpnet") or any(settings.get(name) for name in flags):
            return None
        known = {name: settings[name] for name in cls.__slots__ if name in settings}
        if settings["model_type"] == "mpnet":
            known |= {"type_vocab_size": 0, "first_position": settings.get("pad_token_id", 1) + 1}
            known.setdefault("relative_attention_num_buckets", 32)
        try:
            config = cls(**known)
        except TypeError:  # a size is missing: transformers has defaults
            return None
        return config if config._makes_sense() else None

    def _makes_sense(self) -> bool:
        sizes = (self.hidden_size, self.num_hidden_layers, self.num_attention_heads, self.intermediate_size)
        rows = (self.vocab_size, self.max_position_embeddings)
        positive = all(type(size) is int and size > 0 for size in (*sizes, *rows))
        optional = (self.type_vocab_size, self.relative_attention_num_buckets, self.first_position)
        return (
            positive
            and all(type(size) is int and size >= 0 for size in optional)
            and type(self.layer_norm_eps) is float
            and not self.hidden_size % self.num_attention_heads
        )


@dataclass(frozen=True, slots=True)
class Linear:
    """x W^T + b."""

    weight: Vectors  # (out, in)
    bias: Vectors  # (out,)

    def __call__(self, x: Vectors) -> Vectors:
        """(rows, out) from (rows, in)."""
        out: Vectors = x @ self.weight.T
        out += self.bias
        return out


@dataclass(frozen=True, slots=True)
class Norm:
    """Layer normalisation."""

    weight: Vectors
    bias: Vectors
    eps: float

    def __call__(self, x: Vectors) -> Vectors:
        """The rows of x with mean 0 and variance 1, times the weight, plus the bias; x is overwritten."""
        x -= x.mean(axis=1, keepdims=True)
        variance = np.einsum("ij,ij->i", x, x) / np.float32(x.shape[1])
        x *= (1 / np.sqrt(variance + np.float32(self.eps)))[:, np.newaxis]
        x *= self.weight
        x += self.bias
        return x


class NumpyBert:
    """A BERT of the base and the differences of a file, with the linear layers that the file adds.

    Embeddings, products and sums are float32. ModelRejected for weights that do not fit.
    """

    def __init__(self, config: BertConfig, weights: Arrays, source: object) -> None:
        self._config, self._weights, self._source = config, weights, source
        self._embedded = self._norm("embeddings")
        self._layers = [self._layer(f"encoder.layer.{n}") for n in range(config.num_hidden_layers)]

    @classmethod
    def over_base(cls, delta: Path) -> Self:
        """The model whose differences from the base are in a file as `weights.save_delta` writes it."""
        base = find_base()
        config = BertConfig.read(read_json(base / CONFIG))
        if config is None:
            raise ModelRejected(f"{base / CONFIG} does not describe a plain BERT")
        return cls(config, tuned_arrays(delta), delta)

    @property
    def n_positions(self) -> int:
        """How many tokens of a text it reads."""
        return self._config.max_position_embeddings

    def has(self, name: str) -> bool:
        """Whether there is a linear layer of that name."""
        return f"{name}.weight" in self._weights

    def head(self, n_rows: int, *names: str) -> Linear:
        """The linear layers of these names over the states, as one; ModelRejected unless it has n rows."""
        head = self.linear(*names)
        if head.weight.shape != (n_rows, self._config.hidden_size) or head.bias.shape != (n_rows,):
            raise ModelRejected(f"{self._source}: {', '.join(names)} has a weight of {head.weight.shape}")
        return head

    def linear(self, *names: str) -> Linear:
        """The linear layers of these names, which read the same input, as one."""
        weights, biases = ([self._weight(f"{name}.{part}") for name in names] for part in ("weight", "bias"))
        return Linear(*(np.concatenate(one) if len(names) > 1 else one[0] for one in (weights, biases)))

    def states(self, tokens: PackedTokens) -> Vectors:
        """(T, H): the final state of each token."""
        words, types, positions = (
            self._weights[f"embeddings.{kind}_embeddings.weight"]
            for kind in ("word", "token_type", "position")
        )
        x = words[tokens.ids] + types[tokens.types]
        x += positions[tokens.positions()]
        x = self._embedded(x)
        for qkv, mixed, wide, narrow, norm_attention, norm_output in self._layers:
            attended = mixed(self._attend(qkv(x), tokens))
            attended += x
            x = norm_attention(attended)
            out = narrow(gelu(wide(x)))
            out += x
            x = norm_output(out)
        return x

    def _attend(self, qkv: Vectors, tokens: PackedTokens) -> Vectors:
        """softmax(Q K^T / sqrt(d)) V, (T, H), within each sequence and head."""
        heads, width = self._config.num_attention_heads, qkv.shape[1] // 3
        out = np.empty((len(qkv), width), np.float32)
        scale = np.float32((width // heads) ** -0.5)
        for first, last in pairwise([*tokens.starts().tolist(), len(qkv)]):
            q, k, v = qkv[first:last].reshape(last - first, 3, heads, -1).transpose(1, 2, 0, 3)
            scores = (q * scale) @ k.transpose(0, 2, 1)  # (heads, n, n)
            scores -= scores.max(axis=2, keepdims=True)
            np.exp(scores, out=scores)
            mixed = scores @ v
            mixed /= scores.sum(axis=2, keepdims=True)
            out[first:last] = mixed.transpose(1, 0, 2).reshape(last - first, width)
        return out

    def _layer(self, name: str) -> tuple[Linear, Linear, Linear, Linear, Norm, Norm]:
        qkv = self.linear(*(f"{name}.attention.self.{part}" for part in ("query", "key", "value")))
        others = ("attention.output.dense", "intermediate.dense", "output.dense")
        mixed, wide, narrow = (self.linear(f"{name}.{part}") for part in others)
        return qkv, mixed, wide, narrow, self._norm(f"{name}.attention.output"), self._norm(f"{name}.output")

    def _norm(self, name: str) -> Norm:
        weight, bias = (self._weight(f"{name}.LayerNorm.{part}") for part in ("weight", "bias"))
        return Norm(weight, bias, self._config.layer_norm_eps)

    def _weight(self, name: str) -> Vectors:
        if name not in self._weights:
            raise ModelRejected(f"{self._source}: the weight {name} is missing")
        return self._weights[name]


def gelu(x: Vectors) -> Vectors:
    """x / 2 * (1 + erf(x / sqrt 2)) for the numbers of a matrix, up to 4e-7; x is overwritten.

    Source: Abramowitz and Stegun, "Handbook of Mathematical Functions", 1964, 7.1.26, for
    1 - erf(|z|) = (a1 t + … + a5 t^5) exp(-z^2) with t = 1 / (1 + 0.3275911 |z|).
    """
    for rows in np.split(x, range(_ROWS, len(x), _ROWS)):
        z = np.abs(rows)
        t = z * np.float32(0.3275911 * 0.5**0.5)
        t += np.float32(1)
        np.divide(np.float32(1), t, out=t)
        tail = t * np.float32(1.061405429)
        for factor in _ERF:
            tail += np.float32(factor)
            tail *= t
        tail *= z
        z *= z
        z *= np.float32(-0.5)
        tail *= np.exp(z, out=z)
        tail *= np.float32(0.5)
        np.maximum(rows, 0, out=rows)
        rows -= tail
    return x


def tuned_arrays(delta: Path) -> dict[str, NDArray[Any]]:
    """The base with the stored differences and additions of a file, in float32; see `weights`.

    ModelRejected for a damaged file, and for one of another format or base.
    """
    stored, metadata = _arrays(delta)
    if metadata.get("format") != DELTA_FORMAT or metadata.get("base_sha256") != BASE_SHA256:
        raise ModelRejected(f"{delta} was not made for the base with sha256 {BASE_SHA256}")
    tuned = dict(base_arrays())
    for key, array in stored.items():
        long_name, _, kind = key.rpartition(":")
        name, scale = long_name.removeprefix(PREFIX), stored.get(f"{long_name}:scale")
        if kind == "scale":
            continue
        if kind == "new":
            tuned[name] = array
        elif name not in tuned or tuned[name].shape != array.shape:
            raise ModelRejected(f"{delta}: the weight {name} does not fit the model")
        elif kind == "f32":
            tuned[name] = tuned[name] + array
        elif kind == "q8" and scale is not None and scale.shape == (len(array), 1):
            tuned[name] = array * scale + tuned[name]
        else:
            raise ModelRejected(f"{delta}: {key} is of an unknown kind or lacks its scale")
        if not np.isfinite(tuned[name].sum()):
            raise ModelRejected(f"{delta}: the weight {name} is not finite")
    return tuned


def base_arrays() -> dict[str, NDArray[Any]]:
    """The weights of the base, mapped from the file that `find_base` compared with its digest.

    The library safetensors copies them, which takes as long as all the rest of loading.
    """
    file = np.memmap(find_base() / WEIGHTS, np.uint8, "r")
    first = 8 + int(file[:8].view(np.uint64)[0])  # where the header ends
    header = json.loads(file[8:first].tobytes())
    arrays = {}
    for name, entry in header.items():
        if name.startswith(("embeddings.", "encoder.")):
            start, end = entry["data_offsets"]
            kind = {"F32": np.float32, "I64": np.int64}[entry["dtype"]]
            arrays[name] = file[first + start : first + end].view(kind).reshape(entry["shape"])
    return arrays


def _arrays(path: Path) -> tuple[dict[str, NDArray[Any]], Mapping[str, str]]:
    """The arrays and the metadata of a safetensors file; ModelRejected if it is damaged."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="np") as file:
            return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise ModelRejected(f"{path} cannot be read: {error}") from error
