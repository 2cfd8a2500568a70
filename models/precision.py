"""The device that computes, the precision of its matrix products, and their kernels.

Products run in bf16 on a GPU, and on a CPU that multiplies matrices in it (AMX), otherwise in 8 bits on a CPU
with fast kernels for them, otherwise in float32. SPANWISE_PRECISION forces a precision on a CPU.

Each kernel of a product x W^T + b has `__call__`, `gelu` and `onto`, so that a layer reads the same with all
of them. In 8 bits each row of the weights and each row of x has a scale that depends on that row alone. So a
result does not depend on the rows beside it, and sums of integers are exact in any order. Left out: scales
fixed beforehand, which need sample texts.

Source: Jacob et al., "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only
Inference", CVPR 2018, section 2; Dettmers et al., "LLM.int8()", NeurIPS 2022, section 2.2 (a scale for each
row).
"""

import os
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.nn.functional import gelu, linear

PRECISION = "SPANWISE_PRECISION"
PRECISIONS = ("int8", "float32", "bf16")
GELU_MIN = -0.17  # GELU is nowhere below this
GELU_ZERO = 16  # the byte of 0.0 after GELU
SIGNED_ZERO = 128  # the byte of 0.0 where both signs have the same range
MISSING = (AttributeError, RuntimeError, NotImplementedError, TypeError)  # from a torch without the kernels


def pick_device(device: str | None = None) -> torch.device:
    """The device of that name, or by default the first GPU, or the CPU."""
    return torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))


def has_bf16(device: torch.device) -> bool:
    """True if products on the device run in bf16: the hardware multiplies in it, or it is forced."""
    forced = _forced(device)
    return forced == "bf16" if forced else _multiplies_bf16(device)


def has_int8(device: torch.device) -> bool:
    """True if products on the device run in 8 bits: a CPU with AVX2 but without bf16, or it is forced."""
    forced = _forced(device)
    if forced or device.type != "cpu" or has_bf16(device):
        return forced == "int8"
    return torch.backends.cpu.get_cpu_capability() in ("AVX2", "AVX512") and largest_weight() is not None


def compute_dtype(device: torch.device) -> torch.dtype:
    """The type of floating-point products: bf16 if the hardware has it, else float32."""
    return torch.bfloat16 if has_bf16(device) else torch.float32


def autocast(device: torch.device) -> AbstractContextManager[Any]:
    """A context in which products run in bf16 if the hardware has it; sums stay in float32."""
    return torch.autocast(device.type, dtype=torch.bfloat16) if has_bf16(device) else nullcontext()


def _forced(device: torch.device) -> str | None:
    """The precision that SPANWISE_PRECISION forces on the device; ValueError for an unknown one."""
    forced = os.environ.get(PRECISION)
    if forced and forced not in PRECISIONS:
        raise ValueError(f"{PRECISION} is {forced!r}, expected {', '.join(PRECISIONS)}")
    return forced if forced and device.type == "cpu" else None


@cache
def _multiplies_bf16(device: torch.device) -> bool:
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    # With the bf16 instructions of AVX-512 alone, products take longer than in float32.
    probe = getattr(torch.cpu, "_is_amx_tile_supported", None)
    return device.type == "cpu" and probe is not None and bool(probe())


class PackedLinear(Protocol):
    """A product of x (rows, in) with constant weights (out, in) and bias (out,)."""

    def __init__(self, weight: Tensor, bias: Tensor) -> None: ...

    def __call__(self, x: Tensor) -> Tensor:
        """X W^T + b, (rows, out)."""
        ...

    def gelu(self, x: Tensor) -> Any:
        """gelu(x W^T + b), (rows, out), as an input for `onto` of the same class."""
        ...

    def onto(self, x: Any, residual: Tensor) -> Tensor:
        """X W^T + b + residual, (rows, out)."""
        ...


class PlainLinear:
    """A product with the public functions of torch."""

    def __init__(self, weight: Tensor, bias: Tensor) -> None:
        self.weight = weight  # (out, in)
        self.bias = bias  # (out,)

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
    """A product with functions of oneDNN that are private in torch.

    They store the weights in the order in which the kernels read them, apply GELU to sums that are still in
    the cache, and add the residual in the same pass. The public functions reorder the weights at every call
    and take 1.3 to 1.6 times as long in bf16.
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


@dataclass(frozen=True, slots=True)
class Bytes:
    """A matrix in 8 bits, step * (values - zero).

    values: (rows, in) uint8.
    step: (rows, 1) float32.
    zero: the byte of 0.0.
    """

    values: Tensor
    step: Tensor
    zero: int


class Int8Linear:
    """A product in 8 bits: x as bytes, weights as signed bytes of at most `largest_weight()`.

    The operations behind a product work in place, so that the sums of a few hundred rows stay in the cache.
    Otherwise passes over them take longer than the product.
    """

    def __init__(self, weight: Tensor, bias: Tensor) -> None:
        largest = largest_weight() or 127
        self.scales = weight.abs().amax(dim=1).clamp_min_(1e-12).div_(largest)
        rows = (weight / self.scales.unsqueeze(1)).round_().to(torch.int8)
        self.weight = torch.ops.onednn.qlinear_prepack(rows, None)
        self.bias = bias
        self.zeros = torch.zeros(len(bias), dtype=torch.int32)
        n_out, n_in = weight.shape
        self._half_signed = torch.full((n_in,), SIGNED_ZERO + 0.5)  # torch adds a full row faster
        self._half_gelu = torch.full((n_out,), GELU_ZERO + 0.5)

    def __call__(self, x: Tensor) -> Tensor:
        """X W^T + b."""
        x8 = self._signed_bytes(x)
        return self._product_onto(self.bias, x8)

    def gelu(self, x: Tensor) -> Bytes:
        """gelu(x W^T + b); the step is the least that covers the row's maximum and the minimum of GELU."""
        out = torch.ops.aten.gelu_(self(x))
        step = out.amax(1, keepdim=True).div_(255 - GELU_ZERO).clamp_min_(-GELU_MIN / GELU_ZERO)
        torch.addcmul(self._half_gelu, out, step.reciprocal(), out=out)
        return Bytes(out.to(torch.uint8), step, GELU_ZERO)

    def onto(self, x: Tensor | Bytes, residual: Tensor) -> Tensor:
        """X W^T + b + residual."""
        x8 = x if isinstance(x, Bytes) else self._signed_bytes(x)
        return self._product_onto(residual, x8).add_(self.bias)

    def _signed_bytes(self, x: Tensor) -> Bytes:
        """The rows in bytes from 1 to 255; the largest absolute value of a row becomes 1 or 255."""
        top = torch.maximum(x.amax(1, keepdim=True), x.amin(1, keepdim=True).neg_())
        step = top.clamp_min_(1e-12).div_(127)
        values = torch.addcmul(self._half_signed, x, step.reciprocal()).to(torch.uint8)
        return Bytes(values, step, SIGNED_ZERO)

    def _product_onto(self, start: Tensor, x: Bytes) -> Tensor:
        sums = self._sums(x)
        return torch.addcmul(start, sums, x.step, out=sums)

    def _sums(self, x: Bytes) -> Tensor:
        return _sums(x.values, x.zero, self.weight, self.scales, self.zeros)


def _sums(values: Tensor, zero: int, *weight: Tensor) -> Tensor:
    """(values - zero) W^T, (rows, out) float32, with packed weights, their scales and their zeros."""
    no_bias = None
    output = (1.0, 0, torch.float32)  # scale, zero and type
    no_operation = ("none", list[float](), "")
    out: Tensor = torch.ops.onednn.qlinear_pointwise(
        values, 1.0, zero, *weight, no_bias, *output, *no_operation
    )
    return out


@cache
def largest_weight() -> int | None:
    """The largest weight in 8 bits with which sums are exact; None if torch lacks the kernels.

    Without VNNI a processor adds two products of a byte and a weight in 16 bits: 2 * 255 * 64 still fits.
    """
    weight = torch.full((384, 384), 127, dtype=torch.int8)
    scale = torch.ones(384)
    zeros = torch.zeros(384, dtype=torch.int32)
    x = torch.full((64, 384), 255, dtype=torch.uint8)
    try:
        sums = _sums(x, 0, torch.ops.onednn.qlinear_prepack(weight, None), scale, zeros)
    except MISSING:
        return None
    return 127 if bool((sums == 384 * 255 * 127).all()) else 64


def kind_for(dtype: torch.dtype, device: torch.device) -> type[PackedLinear]:
    """The fastest kernel on the device for floating-point products."""
    return PrepackedLinear if device.type == "cpu" and _prepacked_works(dtype) else PlainLinear


def _prepacked_works(dtype: torch.dtype) -> bool:
    """True if the private functions exist and agree with the public ones on a small product."""
    weight = torch.linspace(-1, 1, 32 * 32).view(32, 32).sin().to(dtype)
    x = weight.flip(0).contiguous()
    bias = weight[0].contiguous()
    plain = PlainLinear(weight, bias)
    try:
        prepacked = PrepackedLinear(weight, bias)
        pairs = [
            (prepacked(x), plain(x)),
            (prepacked.gelu(x), plain.gelu(x)),
            (prepacked.onto(x, x), plain.onto(x, x)),
        ]
    except MISSING:
        return False
    return all(torch.allclose(ours.float(), public.float(), rtol=0.02, atol=0.02) for ours, public in pairs)
