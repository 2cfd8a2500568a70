"""BERT in numpy: the settings of an encoder, its weights over the base as arrays, and its forward pass.

Importing torch takes longer than computing a question in numpy, so `cold_start` computes the first questions
of a process here. The result is that of `packed_forward` in float32.

A delta file holds a fine-tuned model as differences from the base. `weights` writes these files.

| key          | tensor                                                                       |
|--------------|------------------------------------------------------------------------------|
| `NAME:new`   | a weight that the base lacks, float32                                        |
| `NAME:f32`   | the difference d of a vector (bias, layer norm), float32                     |
| `NAME:q8`    | the difference d of a matrix as q = round(127 d / max abs(d) of the row)     |
| `NAME:scale` | max abs(d) / 127 of each row, float32 (rows, 1), so that d = q * scale       |

The error of a weight is at most 1/254 of the largest change in its row. The metadata names the format and the
digest of the base.

Source: Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers", 2019, section 3.
"""

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
from .model_files import BASE_SHA256, CONFIG, WEIGHTS, find_base, read_json, read_tensors

DELTA_FORMAT = "spanwise-delta-2"
SPAN_HEAD = "qa_outputs"
EVIDENCE_HEAD = "evidence_outputs"
EVIDENCE_OUTPUTS = ("support", "passage", "yes_no", "yes", "several")
"""The logits of a token.

support: the token supports the answer.
passage: the passage answers the question; read at [CLS].
yes_no: the question asks for yes or no; a mean over the sentences of the answer, like those below.
yes: the answer is yes.
several: the question asks for several things.
"""
PREFIX = "bert."  # of a backbone inside a model with a head, as transformers names it
_GELU_ROWS = 64  # of intermediate activations, which fit into a core's cache
_ERF = (-1.453152027, 1.421413741, -0.284496736, 0.254829592)

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class BertConfig:
    """The settings that the forward pass of an encoder depends on, named as in config.json.

    relative_attention_num_buckets: MPNet adds a bias per head and bucket of token distance to the attention
        scores; 0 for BERT.
    first_position: the position of the first token, which is not 0 in MPNet.
    type_vocab_size: the number of segments; 0 for MPNet, which has none.

    Source for MPNet: Song et al., "MPNet: Masked and Permuted Pre-training for Language Understanding", 2020.
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
        values = {name: settings[name] for name in cls.__slots__ if name in settings}
        if settings["model_type"] == "mpnet":
            values |= {"type_vocab_size": 0, "first_position": settings.get("pad_token_id", 1) + 1}
            values.setdefault("relative_attention_num_buckets", 32)
        try:
            config = cls(**values)
        except TypeError:  # a size is missing: transformers has defaults
            return None
        return config if config._is_valid() else None

    def _is_valid(self) -> bool:
        positive = (
            self.vocab_size,
            self.hidden_size,
            self.num_hidden_layers,
            self.num_attention_heads,
            self.intermediate_size,
            self.max_position_embeddings,
        )
        optional = (self.type_vocab_size, self.relative_attention_num_buckets, self.first_position)
        return (
            all(type(size) is int and size > 0 for size in positive)
            and all(type(size) is int and size >= 0 for size in optional)
            and type(self.layer_norm_eps) is float
            and self.hidden_size % self.num_attention_heads == 0
        )


@dataclass(frozen=True, slots=True)
class Linear:
    """A linear layer, x W^T + b."""

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


@dataclass(frozen=True, slots=True)
class Layer:
    """The products and norms of one transformer layer."""

    qkv: Linear
    attention_output: Linear
    intermediate: Linear
    output: Linear
    attention_norm: Norm
    output_norm: Norm


class NumpyBert:
    """The base BERT with the weights of a delta file, and the linear layers that the file adds.

    Embeddings, products and sums are float32. ModelRejected for weights that do not fit.
    """

    def __init__(self, config: BertConfig, weights: Arrays, source: object) -> None:
        self._config = config
        self._weights = weights
        self._source = source
        self._embedding_norm = self._norm("embeddings")
        self._layers = [self._layer(f"encoder.layer.{n}") for n in range(config.num_hidden_layers)]

    @classmethod
    def over_base(cls, delta: Path) -> Self:
        """The model of a delta file; ModelRejected if the file is damaged or does not fit the base."""
        base = find_base()
        config = BertConfig.read(read_json(base / CONFIG))
        if config is None:
            raise ModelRejected(f"{base / CONFIG} does not describe a plain BERT")
        arrays = base_arrays(base / WEIGHTS)
        return cls(config, arrays | changed_weights(arrays, delta, PREFIX), delta)

    @property
    def n_positions(self) -> int:
        """The longest input, in tokens."""
        return self._config.max_position_embeddings

    def has(self, name: str) -> bool:
        """True if there is a linear layer of that name."""
        return f"{name}.weight" in self._weights

    def span_head(self) -> Linear:
        """The joined heads of a span reader; ModelRejected where they have other sizes."""
        names = (SPAN_HEAD, EVIDENCE_HEAD) if self.has(EVIDENCE_HEAD) else (SPAN_HEAD,)
        n_outputs = 2 + len(EVIDENCE_OUTPUTS) if self.has(EVIDENCE_HEAD) else 2
        head = self.linear(*names)
        if head.weight.shape != (n_outputs, self._config.hidden_size) or head.bias.shape != (n_outputs,):
            raise ModelRejected(f"{self._source}: {', '.join(names)} has a weight of {head.weight.shape}")
        return head

    def linear(self, *names: str) -> Linear:
        """The linear layers of these names, which read the same input, joined into one."""
        weights = [self._weight(f"{name}.weight") for name in names]
        biases = [self._weight(f"{name}.bias") for name in names]
        if len(names) == 1:
            return Linear(weights[0], biases[0])
        return Linear(np.concatenate(weights), np.concatenate(biases))

    def states(self, tokens: PackedTokens) -> Vectors:
        """(T, H): the final state of each token."""
        x = self._embedding("word")[tokens.ids] + self._embedding("token_type")[tokens.types]
        x += self._embedding("position")[tokens.positions()]
        x = self._embedding_norm(x)
        for layer in self._layers:
            attended = layer.attention_output(self._attend(layer.qkv(x), tokens))
            attended += x
            x = layer.attention_norm(attended)
            out = layer.output(gelu(layer.intermediate(x)))
            out += x
            x = layer.output_norm(out)
        return x

    def _attend(self, qkv: Vectors, tokens: PackedTokens) -> Vectors:
        """softmax(Q K^T / sqrt(d)) V, (T, H), within each sequence and head."""
        heads = self._config.num_attention_heads
        width = qkv.shape[1] // 3
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

    def _layer(self, name: str) -> Layer:
        attention = f"{name}.attention.self"
        return Layer(
            self.linear(f"{attention}.query", f"{attention}.key", f"{attention}.value"),
            self.linear(f"{name}.attention.output.dense"),
            self.linear(f"{name}.intermediate.dense"),
            self.linear(f"{name}.output.dense"),
            self._norm(f"{name}.attention.output"),
            self._norm(f"{name}.output"),
        )

    def _norm(self, name: str) -> Norm:
        weight = self._weight(f"{name}.LayerNorm.weight")
        bias = self._weight(f"{name}.LayerNorm.bias")
        return Norm(weight, bias, self._config.layer_norm_eps)

    def _embedding(self, kind: str) -> Vectors:
        return self._weights[f"embeddings.{kind}_embeddings.weight"]

    def _weight(self, name: str) -> Vectors:
        if name not in self._weights:
            raise ModelRejected(f"{self._source}: the weight {name} is missing")
        return self._weights[name]


def gelu(x: Vectors) -> Vectors:
    """x / 2 * (1 + erf(x / sqrt 2)) for each number of a matrix, with an error below 4e-7; x is overwritten.

    Source: Abramowitz and Stegun, "Handbook of Mathematical Functions", 1964, 7.1.26, for
    1 - erf(|z|) = (a1 t + … + a5 t^5) exp(-z^2) with t = 1 / (1 + 0.3275911 |z|).
    """
    for rows in np.split(x, range(_GELU_ROWS, len(x), _GELU_ROWS)):
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


def base_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """The weights of the base, mapped from a file whose digest is checked.

    The library safetensors copies them, which takes as long as the rest of loading.
    """
    file = np.memmap(path, np.uint8, "r")
    header_end = 8 + int(file[:8].view(np.uint64)[0])
    header = json.loads(file[8:header_end].tobytes())
    arrays = {}
    for name, entry in header.items():
        if name.startswith(("embeddings.", "encoder.")):
            start, end = entry["data_offsets"]
            dtype = {"F32": np.float32, "I64": np.int64}[entry["dtype"]]
            arrays[name] = file[header_end + start : header_end + end].view(dtype).reshape(entry["shape"])
    return arrays


@dataclass(frozen=True, slots=True)
class DeltaWeight:
    """A weight of a delta file.

    values: the weight, or its difference from the base, float32.
    is_new: True for a weight that the base lacks.
    """

    values: Vectors
    is_new: bool


def read_delta(path: Path) -> dict[str, DeltaWeight]:
    """The weights of a delta file by name.

    Raises ModelRejected for a damaged file, another format, and a file made for another base.
    """
    stored, metadata = read_tensors(path)
    if metadata.get("format") != DELTA_FORMAT:
        raise ModelRejected(f"{path} has the format {metadata.get('format')!r}, expected {DELTA_FORMAT!r}")
    if metadata.get("base_sha256") != BASE_SHA256:
        raise ModelRejected(f"{path} was not made for the base with sha256 {BASE_SHA256}")
    weights = {}
    for key in sorted(stored):
        name, _, kind = key.rpartition(":")
        values = stored[key]
        if kind == "scale":
            continue
        if kind == "q8":
            scale = stored.get(f"{name}:scale")
            if scale is None or scale.shape != (len(values), 1):
                raise ModelRejected(f"{path}: {key} lacks its scale, or their shapes do not fit")
            values = values * scale
        elif kind not in ("new", "f32"):
            raise ModelRejected(f"{path}: {key} is of an unknown kind")
        weights[name] = DeltaWeight(values, is_new=kind == "new")
    return weights


def changed_weights(base: Arrays, path: Path, prefix: str) -> dict[str, Vectors]:
    """The weights that a delta file changes in the base or adds to it.

    `prefix`: what the names in the file may start with and those of the base do not. Raises ModelRejected as
    `read_delta` does, for a difference from a weight that the base lacks, and for weights that are not
    finite.
    """
    changed = {}
    for long_name, weight in read_delta(path).items():
        name = long_name.removeprefix(prefix)
        values = weight.values
        if not weight.is_new:
            if name not in base or base[name].shape != values.shape:
                raise ModelRejected(f"{path}: the weight {name} does not fit the model")
            values = base[name] + values
        if not np.isfinite(values).all():
            raise ModelRejected(f"{path}: the weight {name} is not finite")
        changed[name] = values
    return changed
