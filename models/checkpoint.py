"""A model folder read as what it is: its config.json and the tensors of its model.safetensors.

Reads without transformers, which takes longer to import than the weights to load. The tensors are views of
the file mapped into memory: two models of the same file share it, and what is never used is never read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from spanwise.errors import ModelRejected

from .locate import CONFIG, WEIGHTS


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The settings of a model and its tensors by name, on the CPU, in the precision of the file."""

    config: Mapping[str, Any]
    weights: Mapping[str, Tensor]


def read_config(folder: Path) -> dict[str, Any]:
    """The settings in a folder's config.json; ModelRejected when they are no JSON object."""
    path = folder / CONFIG
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelRejected(f"{path} cannot be read: {error}") from error
    if not isinstance(config, dict):
        raise ModelRejected(f"{path} holds {type(config).__name__}, expected an object of settings")
    return config


def read_checkpoint(folder: Path) -> Checkpoint:
    """Settings and tensors of a folder with one weights file; ModelRejected when it is damaged."""
    path = folder / WEIGHTS
    try:
        with safe_open(path, framework="pt") as file:
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no mapping)
    except (SafetensorError, OSError) as error:
        raise ModelRejected(f"{path} cannot be read: {error}") from error
    return Checkpoint(read_config(folder), weights)


def weight_names(folder: Path) -> set[str]:
    """The names of all tensors in a folder's safetensors files; ModelRejected for a damaged one."""
    names: set[str] = set()
    for path in folder.glob("*.safetensors"):
        try:
            with safe_open(path, framework="pt") as file:
                names.update(file.keys())
        except (SafetensorError, OSError) as error:
            raise ModelRejected(f"{path} cannot be read: {error}") from error
    return names


def require_finite(weights: Mapping[str, Tensor], source: object) -> None:
    """Raises ModelRejected when a weight is NaN or infinite.

    A sum is finite only if every term is, and takes a tenth of the time; only where it overflows are the
    terms looked at one by one.
    """
    for name, tensor in weights.items():
        if tensor.is_floating_point() and not (
            torch.isfinite(tensor.sum()) or bool(torch.isfinite(tensor).all())
        ):
            raise ModelRejected(f"{source}: the weight {name} is not finite")
