"""Low-rank updates of linear layers: a frozen matrix and two small ones that are trained.

    W' = W + scale * B A,   scale = alpha / r

W is (out, in), A (r, in), drawn from a normal distribution, B (out, r), zero at the start, so that the model
begins as it was. x W'^T = x W^T + scale (x A^T) B^T: merged and apart are the same, and here the sum of the
matrices is formed in each pass, so that whatever looks at a layer's weight sees the updated one.

Source: Hu et al., "LoRA: Low-Rank Adaptation of Large Language Models", 2021, section 4.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

# The projections of queries and values, as the encoders of transformers name them; DeBERTa has one for all.
ATTENTION = ("query", "value", "query_proj", "value_proj", "q_lin", "v_lin", "in_proj")


@dataclass(frozen=True, slots=True)
class Lora:
    """The rank of the updates, and `alpha`, which over the rank is what they count."""

    rank: int
    alpha: float

    def __post_init__(self) -> None:
        """Refuse an update of no rank."""
        if self.rank < 1:
            raise ValueError(f"rank must be 1 or more, not {self.rank}")

    @property
    def scale(self) -> float:
        """alpha / r."""
        return self.alpha / self.rank


class LowRankUpdate(nn.Module):
    """What is added to one weight."""

    def __init__(self, weight: Tensor, lora: Lora) -> None:
        super().__init__()
        n_out, n_in = weight.shape
        self.scale = lora.scale
        self.lora_A = nn.Parameter(torch.randn(lora.rank, n_in, device=weight.device) * n_in**-0.5)
        self.lora_B = nn.Parameter(torch.zeros(n_out, lora.rank, device=weight.device))

    def forward(self, weight: Tensor) -> Tensor:
        """(out, in): the weight with its update."""
        return updated(weight, self.lora_A, self.lora_B, self.scale)


def updated(weight: Tensor, a: Tensor, b: Tensor, scale: float) -> Tensor:
    """W + scale * B A.

    >>> w, a, b = torch.tensor([[1.0, 2], [3, 4]]), torch.tensor([[1.0, -1]]), torch.tensor([[0.5], [2]])
    >>> updated(w, a, b, 2.0).tolist()
    [[2.0, 1.0], [7.0, 0.0]]
    """
    return weight + scale * (b @ a)


def add_updates(model: nn.Module, lora: Lora, targets: tuple[str, ...] = ATTENTION) -> None:
    """Gives the linear layers so called an update each, drawn from torch's generator; ValueError for none."""
    found = [
        module
        for name, module in model.named_modules()
        if isinstance(module, nn.Linear) and name.rpartition(".")[2] in targets
    ]
    if not found:
        raise ValueError(f"the model has no linear layer called {', '.join(targets)}")
    for module in found:
        parametrize.register_parametrization(module, "weight", LowRankUpdate(module.weight, lora))


def updates(model: nn.Module) -> Mapping[str, LowRankUpdate]:
    """The updates of a model by the names of its layers."""
    return {
        name: of
        for name, module in model.named_modules()
        if isinstance(module, nn.Linear) and (of := _update_of(module)) is not None
    }


def has_updates(model: nn.Module) -> bool:
    """Whether any layer has one."""
    return bool(updates(model))


def freeze_but_updates(model: nn.Module) -> None:
    """Leaves all weights of the trunk as they are but the updates; what is outside of it learns: the head."""
    trunk = f"{getattr(model, 'base_model_prefix', '')}."
    for name, parameter in model.named_parameters():
        parameter.requires_grad = not name.startswith(trunk) or ".lora_" in name


def merge_updates(model: nn.Module) -> None:
    """Makes each updated weight the layer's own; the model computes what it did."""
    for name in updates(model):
        parametrize.remove_parametrizations(model.get_submodule(name), "weight")


def _update_of(module: Any) -> LowRankUpdate | None:
    parts = getattr(module, "parametrizations", {})
    first = parts["weight"][0] if "weight" in parts else None
    return first if isinstance(first, LowRankUpdate) else None
