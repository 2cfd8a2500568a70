"""Weights on disk: safetensors files as they are, and fine-tuned models as differences from the base.

A tensor that the base does not have is stored in float32 (`name:new`), a changed vector (bias, layer norm) as
a float32 difference (`name:f32`). A changed matrix is stored as differences d of 8 bits:

    q = round(127 d / max|d|), one float32 scale a row: the error of a weight is at most max|d| / 254 of the
    largest change of its row

The metadata of a file names the digest of the base. Reading needs no transformers: that library takes longer
to import than the weights to load. Tensors are views of the file mapped into memory, so two models of the
same file share it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from spanwise.errors import ModelRejected

from .locate import BASE_SHA256, CONFIG, WEIGHTS, find_base, read_json

FORMAT = "spanwise-delta-2"
_SCALE = "scale"  # the part of a matrix that holds the scales of its rows


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The settings of a model and its tensors by name, on the CPU, in the precision of the file."""

    config: Mapping[str, Any]
    weights: Mapping[str, Tensor]


def read_checkpoint(folder: Path) -> Checkpoint:
    """Settings and tensors of a folder with one weights file; ModelRejected if it is damaged."""
    return Checkpoint(read_json(folder / CONFIG), _tensors(folder / WEIGHTS)[0])


def require_finite(weights: Mapping[str, Tensor], source: object) -> None:
    """Raises ModelRejected if a weight is NaN or infinite.

    The sum of a tensor is tested first, which takes a tenth of the time: it is finite only if every term is.
    """
    for name, tensor in weights.items():
        if tensor.is_floating_point() and not (
            torch.isfinite(tensor.sum()) or bool(torch.isfinite(tensor).all())
        ):
            raise ModelRejected(f"{source}: the weight {name} is not finite")


def save_delta(path: Path, tuned: Mapping[str, Tensor], base: Mapping[str, Tensor]) -> None:
    """Writes the tensors that `tuned` changes in `base` or adds to it; equal tensors are left out.

    ModelRejected for weights that are not finite.
    """
    require_finite(tuned, path)
    out: dict[str, Tensor] = {}
    for name, tensor in tuned.items():
        if name not in base:
            out[f"{name}:new"] = tensor.float().contiguous()
        elif not torch.equal(tensor, base[name]):
            difference = (tensor - base[name]).float()
            if difference.dim() < 2:
                out[f"{name}:f32"] = difference.contiguous()
            else:
                out |= {f"{name}:{part}": value for part, value in _encode(difference).items()}
    save_file(out, path, metadata={"format": FORMAT, "base_sha256": BASE_SHA256})


def read_delta(path: Path) -> dict[str, tuple[str, Tensor]]:
    """The stored tensors by weight name, each with its kind, "new" or "difference", in float32.

    Raises ModelRejected for a damaged file, another format, and a file made for another base.
    """
    stored, metadata = _tensors(path)
    if metadata.get("format") != FORMAT:
        raise ModelRejected(f"{path} has the format {metadata.get('format')!r}, expected {FORMAT!r}")
    if metadata.get("base_sha256") != BASE_SHA256:
        raise ModelRejected(f"{path} was not made for the base with sha256 {BASE_SHA256}")
    try:
        keys = [key for key in sorted(stored) if key.rpartition(":")[2] != _SCALE]
        return {key.rpartition(":")[0]: _decode(key, stored) for key in keys}
    except (KeyError, ValueError, RuntimeError, TypeError) as error:
        raise ModelRejected(f"{path}: its weights do not fit together: {error}") from error


def tuned_weights(base: Mapping[str, Tensor], path: Path) -> dict[str, Tensor]:
    """The weights of the base with the stored differences and additions; `base` itself is not changed.

    Raises ModelRejected as `read_delta` does, and for a difference from a weight that the base lacks.
    """
    tuned = dict(base)
    for name, (kind, tensor) in read_delta(path).items():
        if kind == "new":
            tuned[name] = tensor
        elif name in base and base[name].shape == tensor.shape:
            tuned[name] = base[name] + tensor
        else:
            raise ModelRejected(f"{path}: the weight {name} does not fit the model")
    require_finite(tuned, path)
    return tuned


def apply_delta(model: nn.Module, path: Path) -> None:
    """Adds the stored differences to a model that holds the weights of the base, in place.

    Raises ModelRejected as `tuned_weights` does, and for weights that the model does not have.
    """
    try:
        model.load_state_dict(tuned_weights(model.state_dict(), path))
    except RuntimeError as error:
        raise ModelRejected(f"{path} does not fit the model: {error}") from error


def save_tuned(path: Path, backbone: nn.Module, added: Mapping[str, Tensor]) -> None:
    """Writes the changes of a backbone over the base, and the tensors of its heads."""
    tuned = {name: tensor.detach().cpu() for name, tensor in backbone.state_dict().items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    base = read_checkpoint(find_base()).weights
    save_delta(path, {**tuned, **added}, base)


def _encode(difference: Tensor) -> dict[str, Tensor]:
    scale = difference.abs().amax(dim=1, keepdim=True) / 127  # (rows, 1)
    q = torch.where(scale > 0, difference / scale.clamp_min(torch.finfo(torch.float32).tiny), 0).round()
    return {"q8": q.to(torch.int8).contiguous(), _SCALE: scale.contiguous()}


def _decode(key: str, stored: Mapping[str, Tensor]) -> tuple[str, Tensor]:
    name, _, kind = key.rpartition(":")
    tensor = stored[key]
    if kind == "new":
        return "new", tensor
    if kind == "f32":
        return "difference", tensor.float()
    if kind == "q8":
        return "difference", tensor.float() * stored[f"{name}:{_SCALE}"]
    raise ValueError(f"{key} has an unknown kind")


def _tensors(path: Path) -> tuple[dict[str, Tensor], Mapping[str, str]]:
    """The tensors and the metadata of a safetensors file; ModelRejected if it is damaged."""
    try:
        with safe_open(path, framework="pt") as file:
            names = file.keys()
            return {name: file.get_tensor(name) for name in names}, file.metadata() or {}
    except (SafetensorError, OSError) as error:
        raise ModelRejected(f"{path} cannot be read: {error}") from error
