"""The device that computes, and its precision: bf16 where the hardware multiplies in it."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

import torch


def pick_device(device: str | None = None) -> torch.device:
    """The device of that name, or by default the first GPU, or the CPU."""
    return torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))


@cache
def has_bf16(device: torch.device) -> bool:
    """True if the device multiplies matrices in bf16 in hardware."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    if device.type != "cpu" or torch.backends.cpu.get_cpu_capability() != "AVX512":
        return False
    probe = getattr(torch.cpu, "_is_avx512_bf16_supported", None)
    return bool(probe is not None and probe())


def compute_dtype(device: torch.device) -> torch.dtype:
    """The fastest precision of matrix products: bf16 if the hardware has it, else float32."""
    return torch.bfloat16 if has_bf16(device) else torch.float32


def autocast(device: torch.device) -> AbstractContextManager[Any]:
    """A context in which matrix products run in bf16 if the hardware has it; sums stay in float32."""
    return torch.autocast(device.type, dtype=torch.bfloat16) if has_bf16(device) else nullcontext()
