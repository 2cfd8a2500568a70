"""The network of a cross-encoder: a transformer, and a head that makes one number of a state."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from spanwise.errors import ModelRejected

from .bert import bert_trunk
from .checkpoint import Checkpoint
from .cross_encoder_models import DELTA, PairModel
from .pretrained import load_network, plain_bert
from .stored_model import tuned_trunk
from .trunk import packable_part

_HEAD, _POOLER, _CLASSIFIER = "head", "bert.pooler.dense", "classifier"


class PairScorer(nn.Module):
    """To be trained, or loaded. Where `head` is None, `trunk` is a whole model that gives logits itself."""

    def __init__(self, trunk: nn.Module, head: nn.Module | None) -> None:
        super().__init__()
        self.trunk, self.head = trunk, head

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        """(B,) float32 scores of a padded batch (B, L)."""
        if self.head is None:
            raise ValueError(f"{type(self.trunk).__name__} has its own head: expected a trunk without")
        states = self.trunk(
            input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
        ).last_hidden_state
        scores: Tensor = self.head(states[:, 0].float())
        return scores[:, 0].float()


def load_pair_scorer(model: PairModel) -> PairScorer:
    """The network of a model in float32, for inference.

    ModelRejected for what is unsafe, missing or not finite, and for what is no encoder.
    """
    if model.is_delta:
        return _tuned(model.folder / DELTA)
    checkpoint = plain_bert(model.folder)
    return (checkpoint and _of_checkpoint(checkpoint)) or _of_library(model.folder)


def _tuned(path: Path) -> PairScorer:
    """The base with stored differences, and a head that is one linear layer."""
    trunk, added = tuned_trunk(path)
    shapes = {name: tuple(tensor.shape) for name, tensor in added.items()}
    expected = {f"{_HEAD}.weight": (1, trunk.config.hidden_size), f"{_HEAD}.bias": (1,)}
    if shapes != expected:
        raise ModelRejected(f"{path} adds {shapes} to the base, expected {expected}: it is no cross-encoder")
    return PairScorer(trunk, _linear(added, _HEAD))


def _of_checkpoint(checkpoint: Checkpoint) -> PairScorer | None:
    """A BERT as `bert` computes it; None for another network, or one that lacks weights."""
    needed = [f"{layer}.{part}" for layer in (_POOLER, _CLASSIFIER) for part in ("weight", "bias")]
    trunk = bert_trunk(checkpoint)
    if trunk is None or not set(needed) <= checkpoint.weights.keys():
        return None
    pooler, classifier = (_linear(checkpoint.weights, name) for name in (_POOLER, _CLASSIFIER))
    return PairScorer(trunk, nn.Sequential(pooler, nn.Tanh(), classifier))


def _of_library(folder: Path) -> PairScorer:
    """A network of transformers, taken apart where its trunk can run packed."""
    from transformers import AutoModelForSequenceClassification

    network: Any = load_network(AutoModelForSequenceClassification, folder)
    config = network.config
    if config.is_encoder_decoder:
        raise ModelRejected(f"{folder} is a {config.model_type} with a decoder, expected an encoder alone")
    trunk: Any = packable_part(network)
    if trunk is None:
        return PairScorer(network, None)
    as_sequence = nn.Unflatten(1, (1, config.hidden_size))  # heads pick the first token of one themselves
    head = [trunk.pooler] if trunk.pooler is not None else []
    return PairScorer(trunk, nn.Sequential(as_sequence, *head, network.classifier))


def _linear(weights: Mapping[str, Tensor], name: str) -> nn.Linear:
    weight, bias = (weights[f"{name}.{part}"].float() for part in ("weight", "bias"))
    layer = nn.Linear(weight.shape[1], weight.shape[0], device=torch.device("meta"))
    layer.load_state_dict({"weight": weight, "bias": bias}, assign=True)
    return layer.requires_grad_(False)
