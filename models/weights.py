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

from .model_files import BASE_SHA256, CONFIG, WEIGHTS, find_base, read_json
from .numpy_bert import DELTA_FORMAT

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
            out |= _stored(name, "new", tensor)
        elif not torch.equal(tensor, base[name]):
            out |= _stored(name, "difference", tensor - base[name])
    save_file(out, path, metadata={"format": DELTA_FORMAT, "base_sha256": BASE_SHA256})


def save_mean(path: Path, shares: Mapping[Path, float]) -> None:
    """Writes the mean of the weights in files, each weighed by its part of the sum of all shares.

    A weight that a file lacks is the base's there. ModelRejected as for `read_delta`, and for files that add
    other weights to the base.
    """
    total = sum(shares.values())
    found = [(share / total, read_delta(one)) for one, share in shares.items()]
    out: dict[str, Tensor] = {}
    for name, kind in sorted({(name, kind) for _, one in found for name, (kind, _) in one.items()}):
        held = [(share, one[name][1]) for share, one in found if name in one]
        if len({one.shape for _, one in held}) > 1 or (kind == "new" and len(held) < len(found)):
            raise ModelRejected(f"{path}: the models do not have the same weight {name}")
        out |= _stored(name, kind, torch.stack([share * tensor for share, tensor in held]).sum(dim=0))
    save_file(out, path, metadata={"format": DELTA_FORMAT, "base_sha256": BASE_SHA256})


def read_delta(path: Path) -> dict[str, tuple[str, Tensor]]:
    """The stored tensors by weight name, each with its kind, "new" or "difference", in float32.

    Raises ModelRejected for a damaged file, another format, and a file made for another base.
    """
    stored, metadata = _tensors(path)
    if metadata.get("format") != DELTA_FORMAT:
        raise ModelRejected(f"{path} has the format {metadata.get('format')!r}, expected {DELTA_FORMAT!r}")
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


def quantized_rows(tensor: Tensor) -> tuple[Tensor, Tensor]:
    """Integers (rows, columns) int8 and the scale of each row (rows, 1) float32, of which it is the product.

    >>> q, scale = quantized_rows(torch.tensor([[0.5, -1.0], [0.0, 0.0]]))
    >>> q.tolist(), round(float(scale[0]), 5)
    ([[64, -127], [0, 0]], 0.00787)
    """
    tensor = tensor.float()
    scale = tensor.abs().amax(dim=1, keepdim=True) / 127  # (rows, 1)
    q = torch.where(scale > 0, tensor / scale.clamp_min(torch.finfo(torch.float32).tiny), 0).round()
    return q.to(torch.int8).contiguous(), scale.contiguous()


def _stored(name: str, kind: str, tensor: Tensor) -> dict[str, Tensor]:
    """The tensors in the file of a weight that is new, or of its difference from the base."""
    tensor = tensor.float()
    if kind == "new" or tensor.dim() < 2:
        return {f"{name}:{'new' if kind == 'new' else 'f32'}": tensor.contiguous()}
    q, scale = quantized_rows(tensor)
    return {f"{name}:q8": q, f"{name}:{_SCALE}": scale}


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
