"""The BERT encoder: embeddings, layers of self-attention, and a head for answer spans.

Source: Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers", 2019, section 3; the names of
the weights are those of the published checkpoints. Left out: dropout, the pooler and everything else that
inference does not need; transformers has these, but takes a second to import. `packed` computes the same
without padding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import Tensor, nn

from .weights import Checkpoint

EVIDENCE_HEAD = "evidence_outputs"
EVIDENCE_OUTPUTS = ("support", "passage", "yes_no", "yes", "several")
"""Logits of a token: it supports the answer; at [CLS], the passage answers; as a mean over the sentences of
the answer: the question asks whether something is so, it is so, it asks for several things."""
_META = torch.device("meta")  # modules get no memory: their weights come from the checkpoint


@dataclass(frozen=True, slots=True)
class BertConfig:
    """The settings of an encoder that its forward pass depends on, named as in config.json."""

    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int
    type_vocab_size: int = 2
    layer_norm_eps: float = 1e-12
    model_type: str = "bert"

    @classmethod
    def read(cls, settings: Mapping[str, Any]) -> Self | None:
        """The settings of a plain BERT encoder; None for any other model."""
        plain = {"model_type": "bert", "hidden_act": "gelu", "position_embedding_type": "absolute"}
        flags = ("is_decoder", "add_cross_attention", "chunk_size_feed_forward", "quantization_config")
        if any(settings.get(name, value) != value for name, value in plain.items()):
            return None
        if "model_type" not in settings or any(settings.get(name) for name in flags):
            return None
        try:
            config = cls(**{name: settings[name] for name in cls.__slots__ if name in settings})
        except TypeError:  # a size is missing: transformers has defaults
            return None
        return config if config._makes_sense() else None

    def _makes_sense(self) -> bool:
        sizes = (self.hidden_size, self.num_hidden_layers, self.num_attention_heads, self.intermediate_size)
        rows = (self.vocab_size, self.max_position_embeddings, self.type_vocab_size)
        positive = all(type(size) is int and size > 0 for size in (*sizes, *rows))
        return (
            positive
            and type(self.layer_norm_eps) is float
            and not self.hidden_size % self.num_attention_heads
        )


@dataclass(frozen=True, slots=True)
class Encoded:
    """`last_hidden_state` is (B, L, H)."""

    last_hidden_state: Tensor


class BertEmbeddings(nn.Module):
    """The sum of a token's word, position and segment vectors, normalised."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        size = config.hidden_size
        self.word_embeddings = _embedding(config.vocab_size, size)
        self.position_embeddings = _embedding(config.max_position_embeddings, size)
        self.token_type_embeddings = _embedding(config.type_vocab_size, size)
        self.LayerNorm = nn.LayerNorm(size, config.layer_norm_eps, device=_META)

    def forward(self, input_ids: Tensor, token_type_ids: Tensor | None) -> Tensor:
        """(B, L, H) from ids (B, L) and segments (B, L), by default all of the first."""
        types = torch.zeros_like(input_ids) if token_type_ids is None else token_type_ids
        places = torch.arange(input_ids.shape[1], device=input_ids.device)
        embedded = self.word_embeddings(input_ids) + self.token_type_embeddings(types)
        normalised: Tensor = self.LayerNorm(embedded + self.position_embeddings(places))
        return normalised


class BertLayer(nn.Module):
    """Self-attention, then two dense layers with a GELU between; each adds to its input and normalises."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        size, inner, eps = config.hidden_size, config.intermediate_size, config.layer_norm_eps
        self.heads = config.num_attention_heads
        projections = {name: nn.Linear(size, size, device=_META) for name in ("query", "key", "value")}
        attended = _output(size, size, eps)
        self.attention = nn.ModuleDict({"self": nn.ModuleDict(projections), "output": attended})
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(size, inner, device=_META)})
        self.output = _output(inner, size, eps)

    def forward(self, states: Tensor, mask: Tensor | None) -> Tensor:
        """(B, L, H) from (B, L, H); `mask` (B, 1, 1, L) is False for padding."""
        projections: Any = self.attention["self"]
        query, key, value = (  # (B, heads, L, H / heads)
            projections[name](states).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for name in ("query", "key", "value")
        )
        if self.training and query.device.type == "cpu":
            seen = eager_attention(query, key, value, mask, query.shape[-1] ** -0.5)
        else:
            seen = nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        states = _add_and_normalise(self.attention["output"], seen.transpose(1, 2).flatten(2), states)
        wide = nn.functional.gelu(self.intermediate["dense"](states))
        return _add_and_normalise(self.output, wide, states)


class Bert(nn.Module):
    """The encoder: token states from token ids."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.config = config
        self.embeddings = BertEmbeddings(config)
        layers = nn.ModuleList(BertLayer(config) for _ in range(config.num_hidden_layers))
        self.encoder = nn.ModuleDict({"layer": layers})

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor | None = None
    ) -> Encoded:
        """The states of ids (B, L); `attention_mask` (B, L) is 0 for padding."""
        mask = None if bool(attention_mask.all()) else attention_mask[:, None, None, :].bool()
        states = self.embeddings(input_ids, token_type_ids)
        layers: Any = self.encoder["layer"]
        for layer in layers:
            states = layer(states, mask)
        return Encoded(states)


class BertSpanModel(nn.Module):
    """The encoder with one start and one end vector, and optionally the vectors of the evidence.

    `evidence_outputs` scores each token: EVIDENCE_OUTPUTS names its rows. It only holds weights: the reader
    computes states with `packed`.
    """

    def __init__(self, config: BertConfig, evidence: bool = False) -> None:
        super().__init__()
        self.config = config
        self.bert = Bert(config)
        self.qa_outputs = nn.Linear(config.hidden_size, 2, device=_META)
        if evidence:
            self.evidence_outputs = nn.Linear(config.hidden_size, len(EVIDENCE_OUTPUTS), device=_META)


def bert_backbone(checkpoint: Checkpoint) -> Bert | None:
    """The encoder of a checkpoint, with or without a head, in float32; None if it is no plain BERT."""
    config = BertConfig.read(checkpoint.config)
    if config is None:
        return None
    backbone = Bert(config)
    weights = {name.removeprefix("bert."): tensor for name, tensor in checkpoint.weights.items()}
    return backbone if _take(backbone, weights) else None


def bert_span_model(checkpoint: Checkpoint) -> BertSpanModel | None:
    """The span model of a checkpoint in float32; None if it is no plain BERT or lacks the head."""
    config = BertConfig.read(checkpoint.config)
    if config is None:
        return None
    model = BertSpanModel(config, evidence=f"{EVIDENCE_HEAD}.weight" in checkpoint.weights)
    return model if _take(model, checkpoint.weights) else None


def eager_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, scale: float, p: float = 0.0
) -> Tensor:
    """softmax(scale Q K^T) V, (B, heads, L, d), as two products: for training on a CPU.

    The backward pass of PyTorch's fused attention works in small blocks, which is slow on a CPU that
    multiplies bf16 matrices in hardware. Here the probabilities, (B, heads, L, L) a layer, are kept.
    `mask`, (B, 1, 1 or L, L), is added to the scores, or hides tokens where it is boolean and False; `p` is
    the probability with which a weight is dropped. Source: Vaswani et al. 2017, equation 1.
    """
    scores = torch.matmul(query * scale, key.transpose(-1, -2))  # (B, heads, L, L)
    with torch.autocast(query.device.type, enabled=False):  # it would widen the softmax to float32
        if mask is not None and mask.dtype == torch.bool:  # to add is cheaper in the backward pass
            mask = torch.zeros_like(mask, dtype=scores.dtype).masked_fill_(~mask, -30000.0)
        if mask is not None:
            scores = scores + mask.to(scores.dtype)
        weights = nn.functional.dropout(torch.softmax(scores, -1), p)
    return torch.matmul(weights, value)


def _take(model: nn.Module, weights: Mapping[str, Tensor]) -> bool:
    """Puts the weights into the model without a copy; False if one is missing or has another shape."""
    needed = model.state_dict()
    if any(name not in weights or weights[name].shape != tensor.shape for name, tensor in needed.items()):
        return False
    model.load_state_dict({name: weights[name].float() for name in needed}, assign=True)
    model.requires_grad_(False).eval()
    return True


def _embedding(rows: int, size: int) -> nn.Embedding:
    """An embedding from a given weight: drawing one at random on the meta device loads torch's compiler."""
    made: nn.Embedding = nn.Embedding.from_pretrained(torch.empty(rows, size, device=_META))
    return made


def _output(inner: int, size: int, eps: float) -> nn.ModuleDict:
    dense = nn.Linear(inner, size, device=_META)
    return nn.ModuleDict({"dense": dense, "LayerNorm": nn.LayerNorm(size, eps, device=_META)})


def _add_and_normalise(output: Any, inner: Tensor, states: Tensor) -> Tensor:
    normalised: Tensor = output["LayerNorm"](output["dense"](inner) + states)
    return normalised
