"""Weights as differences from the base: what a fine-tuned model adds, and nothing that the base has.

A tensor that the base does not have is stored in float32. A matrix that changed is stored as
int8 differences with one float32 scale a row (symmetric, absmax: q = round(127 d / max|d|)), so the
error of a weight is at most max|d| / 254 of its row's largest change. Changed vectors (biases, layer
norms) are few and stored as float32 differences. The file names the base's digest in its metadata.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from spanwise.errors import ModelRejected

Precision = Literal["int8", "bf16"]
FORMAT = "spanwise-delta-1"


def save_delta(
    path: Path,
    tuned: Mapping[str, Tensor],
    base: Mapping[str, Tensor],
    base_sha256: str,
    precision: Precision = "int8",
) -> None:
    """Writes what `tuned` changes in or adds to `base`; unchanged tensors are left out."""
    out: dict[str, Tensor] = {}
    for name, tensor in tuned.items():
        if name not in base:
            out[f"{name}:new"] = tensor.float().contiguous()
        elif not torch.equal(tensor, base[name]):
            out.update(_encode(name, (tensor - base[name]).float(), precision))
    save_file(out, path, metadata={"format": FORMAT, "base_sha256": base_sha256})


def apply_delta(model: nn.Module, path: Path, base_sha256: str) -> None:
    """Adds the stored differences to a model that holds the base's weights, in place.

    Raises ModelRejected when the file belongs to another base, is damaged, or names unknown weights.
    """
    state = model.state_dict()
    tuned = tuned_weights(state, path, base_sha256)
    for name, tensor in tuned.items():
        if name not in state or state[name].shape != tensor.shape:
            raise ModelRejected(f"{path}: the weight {name} does not fit the model")
    model.load_state_dict(tuned)


def tuned_weights(base: Mapping[str, Tensor], path: Path, base_sha256: str) -> dict[str, Tensor]:
    """The weights that were stored: those of the base, which stay as they are, changed and added to.

    Raises ModelRejected when the file belongs to another base, is damaged, or changes what the base lacks.
    """
    tuned = dict(base)
    for name, (kind, tensor) in read_delta(path, base_sha256).items():
        if kind == "new":
            tuned[name] = tensor
        elif name in base and base[name].shape == tensor.shape:
            tuned[name] = base[name] + tensor
        else:
            raise ModelRejected(f"{path}: the weight {name} does not fit the model")
    return tuned


def read_delta(path: Path, base_sha256: str) -> dict[str, tuple[str, Tensor]]:
    """The stored tensors by weight name, each with its kind: "new" or "difference"; float32."""
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            if metadata.get("format") != FORMAT or metadata.get("base_sha256") != base_sha256:
                raise ModelRejected(f"{path} was not made for the base with sha256 {base_sha256}")
            keys = set(file.keys())
            return {
                key.rpartition(":")[0]: _decode(key, keys, file.get_tensor)
                for key in sorted(keys)
                if ":scale" not in key
            }
    except (SafetensorError, OSError) as error:
        raise ModelRejected(f"{path} cannot be read: {error}") from error


def _encode(name: str, difference: Tensor, precision: Precision) -> dict[str, Tensor]:
    if difference.dim() < 2:
        return {f"{name}:f32": difference.contiguous()}
    if precision == "bf16":
        return {f"{name}:bf16": difference.to(torch.bfloat16).contiguous()}
    scale = difference.abs().amax(dim=1, keepdim=True) / 127  # (rows, 1)
    q = torch.where(scale > 0, difference / scale.clamp_min(torch.finfo(torch.float32).tiny), 0).round()
    return {f"{name}:q8": q.to(torch.int8).contiguous(), f"{name}:scale": scale.contiguous()}


def _decode(key: str, keys: set[str], get: object) -> tuple[str, Tensor]:
    name, _, kind = key.rpartition(":")
    tensor: Tensor = get(key)  # type: ignore[operator]
    if kind == "new":
        return "new", tensor
    if kind == "q8":
        if f"{name}:scale" not in keys:
            raise ModelRejected(f"the scale of {name} is missing")
        return "difference", tensor.float() * get(f"{name}:scale")  # type: ignore[operator]
    if kind in ("f32", "bf16"):
        return "difference", tensor.float()
    raise ModelRejected(f"{key}: unknown kind of stored weight")
