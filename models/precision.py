"""The device that computes, and the precision of its matrix products.

Products run in bf16 where the hardware multiplies in it, otherwise in 8 bits on a CPU with fast kernels for
them, otherwise in float32. SPANWISE_PRECISION forces a precision on a CPU.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

import torch

from .linear_kernels import largest_weight

PRECISION = "SPANWISE_PRECISION"
PRECISIONS = ("int8", "float32", "bf16")


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
    if device.type != "cpu" or torch.backends.cpu.get_cpu_capability() != "AVX512":
        return False
    probe = getattr(torch.cpu, "_is_avx512_bf16_supported", None)
    return bool(probe is not None and probe())
