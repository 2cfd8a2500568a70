"""Inner products as cosines: one more number makes vectors of any length up to a bound unit vectors.

    passage x, |x| <= M    ->   (x / M, sqrt(1 - |x|^2 / M^2))
    question q             ->   (q / |q|, 0)
    their cosine           =    q . x / (|q| M)

So for each question the order of all passages is that of their inner products, exactly, and everything that
holds for unit vectors (the gate, the search, adding and deleting) holds as it is. M has to be known before
the first passage and must never change. It comes from the weights: the layer normalisation through which the
states leave the transformer bounds them, pooling takes averages, and a linear layer stretches by no more than
its spectral norm. M is a power of two, so the division is exact in floating point.

Source: Bachrach et al., "Speeding Up the Xbox Recommender System Using a Euclidean Transformation for
Inner-Product Spaces", RecSys 2014, section 3, with M from the model instead of the data.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from spanwise.errors import ModelRejected

AVERAGES = ("mean", "cls", "weightedmean", "lasttoken")  # the poolings that no state outgrows
_ROUNDING = 1.01  # for states that were computed in bf16


def question_vectors(q: Tensor) -> Tensor:
    """(B, W + 1) unit vectors from (B, W): the direction, and 0."""
    return nn.functional.pad(nn.functional.normalize(q, dim=1), (0, 1))


def passage_vectors(x: Tensor, bound: float) -> Tensor:
    """(B, W + 1) unit vectors from (B, W), each of length up to `bound`; ModelRejected for a longer one."""
    scaled = x / bound
    squared = (scaled.double() ** 2).sum(dim=1, keepdim=True)  # (B, 1)
    if not bool((squared <= 1).all()):
        raise ModelRejected(
            f"a vector of length {math.sqrt(squared.max()) * bound:.6g}, where the model's weights allow "
            f"{bound:g}: inner products of this architecture are not supported"
        )
    return torch.cat([scaled, (1 - squared).sqrt().to(x.dtype)], dim=1)


@torch.no_grad()
def bound_of(trunk: nn.Module, layers: Iterable[nn.Sequential]) -> float:
    """The M of a transformer, pooling by averages and linear layers: the least power of two that does."""
    bound = _state_bound(trunk)
    for layer in layers:
        bound = _layer_bound(layer, bound)
    return float(2 ** math.ceil(math.log2(max(bound, 1e-6) * _ROUNDING)))


def _state_bound(trunk: nn.Module) -> float:
    """The longest state that any layer normalisation of n numbers can give: max|weight| sqrt(n) + |bias|."""
    config: Any = trunk.config
    width: int = config.hidden_size
    found = [
        float(weight.double().abs().max()) * math.sqrt(width) + _length(getattr(module, "bias", None))
        for module in trunk.modules()
        if type(module).__name__.endswith("Norm")
        and isinstance(weight := getattr(module, "weight", None), Tensor)
        and weight.shape == (width,)
    ]
    if not found:
        raise ModelRejected("no layer normalisation bounds the vectors: inner products are not supported")
    return max(found)


def _layer_bound(layer: nn.Sequential, bound: float) -> float:
    linear, activation = layer
    weight: Tensor = linear.weight  # type: ignore[assignment]  # (out, in)
    stretched = float(torch.linalg.matrix_norm(weight.double(), ord=2)) * bound
    longest = stretched + _length(linear.bias)
    return min(longest, math.sqrt(len(weight))) if isinstance(activation, nn.Tanh) else longest


def _length(bias: object) -> float:
    return float(torch.linalg.vector_norm(bias.double())) if isinstance(bias, Tensor) else 0.0
