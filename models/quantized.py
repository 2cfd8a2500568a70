"""Weights in 8 or 4 bits, to be carried to another machine: models are not kept in this format.

    8 bits   a row of a matrix shares one float32 scale, see `weights.quantized_rows`
    4 bits   32 neighbours of a flattened matrix share one bfloat16 scale: q = round(7 w / max|w|), from -7
             to 7, two per byte: 4.5 bits per weight. The error is at most max|w| / 14 + max|w| / 512, the
             second term from rounding the scale, whose range is that of float32: small differences stay

Both are symmetric: differences of weights have a mean of zero, which stays exact. Vectors (biases, norms) and
matrices of fewer than LEAST weights stay in float32.
Source of the groups: Dettmers and Zettlemoyer, "The case for 4-bit precision", 2023, section 5.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from spanwise.errors import ModelRejected

from .weights import Checkpoint, quantized_rows

FORMAT = "spanwise-quantized-1"
GROUP = 32  # weights that share a scale in 4 bits
LEAST = 1024  # weights of a matrix that is stored in fewer than 32 bits
Bits = Literal[4, 8]


def quantized_groups(tensor: Tensor) -> tuple[Tensor, Tensor]:
    """Two weights a byte (n / 2,) uint8, the first one in the low bits, and scales (n / 32,) bfloat16.

    The tensor is flattened, and filled up with zeros to a multiple of GROUP.

    >>> packed, scale = quantized_groups(torch.tensor([7.0, -7.0, 3.2]))
    >>> packed.tolist()[:2], scale.tolist(), restored_groups(packed, scale, [3]).tolist()
    ([31, 139], [1.0], [7.0, -7.0, 3.0])
    """
    flat = tensor.float().flatten()
    groups = torch.nn.functional.pad(flat, (0, -len(flat) % GROUP)).view(-1, GROUP)
    scale = (groups.abs().amax(dim=1, keepdim=True) / 7).bfloat16()  # (groups, 1)
    exact = scale.float()  # as it is stored
    q = torch.where(exact > 0, groups / exact.clamp_min(torch.finfo(torch.float32).tiny), 0)
    levels = (q.round().clamp(-7, 7) + 8).to(torch.uint8).view(-1, 2)
    return (levels[:, 0] | levels[:, 1] << 4).contiguous(), scale.flatten()


def restored_groups(packed: Tensor, scale: Tensor, shape: list[int]) -> Tensor:
    """The weights of `quantized_groups` in float32, in that shape."""
    levels = torch.stack([packed & 15, packed >> 4], dim=1).view(-1, GROUP)
    flat = ((levels.float() - 8) * scale.float().unsqueeze(1)).flatten()
    return flat[: torch.Size(shape).numel()].reshape(shape)


def save_quantized(path: Path, checkpoint: Checkpoint, bits: Bits) -> None:
    """Writes the settings and the weights of a model, matrices in that many bits."""
    stored: dict[str, Tensor] = {}
    for name, tensor in checkpoint.weights.items():
        if tensor.dim() < 2 or tensor.numel() < LEAST:
            stored[f"{name}:f32"] = tensor.float().contiguous()
        elif bits == 8:
            stored[f"{name}:q8"], stored[f"{name}:scale"] = quantized_rows(tensor)
        else:
            stored[f"{name}:q4"], stored[f"{name}:scale"] = quantized_groups(tensor)
    shapes = {name: list(tensor.shape) for name, tensor in checkpoint.weights.items()}
    about = {"format": FORMAT, "config": json.dumps(dict(checkpoint.config)), "shapes": json.dumps(shapes)}
    save_file(stored, path, metadata=about)


def read_quantized(path: Path) -> Checkpoint:
    """The settings and the weights in float32; ModelRejected for a damaged file or another format."""
    try:
        with safe_open(path, framework="pt") as file:
            about = file.metadata() or {}
            if about.get("format") != FORMAT:
                raise ModelRejected(f"{path} has the format {about.get('format')!r}, expected {FORMAT!r}")
            stored = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (it is no dict)
        shapes: dict[str, list[int]] = json.loads(about["shapes"])
        weights = {name: _restored(name, stored, shape) for name, shape in shapes.items()}
        return Checkpoint(json.loads(about["config"]), weights)
    except (SafetensorError, OSError, KeyError, ValueError, RuntimeError) as error:
        raise ModelRejected(f"{path} cannot be read: {error}") from error


def _restored(name: str, stored: Mapping[str, Tensor], shape: list[int]) -> Tensor:
    if f"{name}:f32" in stored:
        return stored[f"{name}:f32"]
    scale = stored[f"{name}:scale"]
    if f"{name}:q8" in stored:
        return stored[f"{name}:q8"].float() * scale
    return restored_groups(stored[f"{name}:q4"], scale, shape)
