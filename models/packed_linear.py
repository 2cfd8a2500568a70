"""The products of a transformer layer, `x W^T + b`, with what follows them where a kernel can do both.

On a CPU the kernel library (oneDNN) keeps the weights in the order that its kernels read them in, applies
GELU to sums that are still in the cache, and adds the residual on the way; torch's public functions put the
weights in order at every call and write the bias out first, and take 1.3 to 1.6 times as long in bf16. The
functions that do this are private to torch. They are tried on a small product when a model is packed; where
they are missing or wrong, and on other devices, the public ones do the work.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, linear


class PackedLinear(Protocol):
    """One product; x is (rows, in), what comes back (rows, out), in the precision of the weights."""

    def __call__(self, x: Tensor) -> Tensor:
        """X W^T + b."""
        ...

    def gelu(self, x: Tensor) -> Tensor:
        """The same, through the exact GELU."""
        ...

    def onto(self, x: Tensor, residual: Tensor) -> Tensor:
        """The same, plus a residual (rows, out)."""
        ...


class PlainLinear:
    """With torch's public functions."""

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
    """With oneDNN's fused ones."""

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


def packed_linear(
    layers: Sequence[nn.Linear], dtype: torch.dtype, kind: type[PlainLinear | PrepackedLinear]
) -> PackedLinear:
    """Layers that read the same input as one product; their outputs follow one another."""
    weight = torch.cat([layer.weight.detach() for layer in layers]).to(dtype)
    bias = torch.cat([layer.bias.detach() for layer in layers]).to(dtype)
    return kind(weight, bias)


def kind_for(dtype: torch.dtype, device: torch.device) -> type[PlainLinear | PrepackedLinear]:
    """The faster of the two kinds that works here."""
    if device.type == "cpu" and _prepacked_works(dtype):
        return PrepackedLinear
    return PlainLinear


def _prepacked_works(dtype: torch.dtype) -> bool:
    """True when the private functions exist and agree with the public ones on a small product."""
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
