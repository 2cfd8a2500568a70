"""Weights as differences from the base: what a fine-tuned model adds, and nothing that the base has.

A tensor that the base does not have is stored in float32. A matrix that changed is stored as differences, in
one of these precisions:

    bf16                    as they are, in bfloat16
    int8                    q = round(127 d / max|d|) with one float32 scale a row, so that the error of a
                            weight is at most max|d| / 254 of its row's largest change
    int6, int4, int3, int2  codes of so many bits with a scale for each group of 64 (`few_bits`)

Changed vectors (biases, layer norms) are few and stored as float32 differences. The file names the base's
digest in its metadata. Format 1 knew int8 and bf16 alone, and is read like format 2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from spanwise.errors import ModelRejected

from .checkpoint import require_finite
from .few_bits import from_codes, to_codes

Precision = Literal["bf16", "int8", "int6", "int4", "int3", "int2"]
Precisions = Precision | Callable[[str], Precision]  # of all matrices, or by the name of one
FORMAT = "spanwise-delta-2"
READ = (FORMAT, "spanwise-delta-1")
FEW_BITS: Mapping[str, int] = {"int6": 6, "int4": 4, "int3": 3, "int2": 2}
_PARTS = ("scale", "shape")  # of what belongs to a matrix of codes


def save_delta(
    path: Path,
    tuned: Mapping[str, Tensor],
    base: Mapping[str, Tensor],
    base_sha256: str,
    precision: Precisions = "int8",
) -> None:
    """Writes what `tuned` changes in or adds to `base`; unchanged tensors are left out.

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
                out.update(_encode(name, difference, precision(name) if callable(precision) else precision))
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
            stored = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (no mapping)
    except (SafetensorError, OSError) as error:
        raise ModelRejected(f"{path} cannot be read: {error}") from error
    if metadata.get("format") not in READ:
        raise ModelRejected(f"{path} is of the format {metadata.get('format')!r}, expected one of {READ}")
    if metadata.get("base_sha256") != base_sha256:
        raise ModelRejected(f"{path} was not made for the base with sha256 {base_sha256}")
    try:
        keys = [key for key in sorted(stored) if key.rpartition(":")[2] not in _PARTS]
        return {key.rpartition(":")[0]: _decode(key, stored) for key in keys}
    except (KeyError, ValueError, RuntimeError, TypeError) as error:
        raise ModelRejected(f"{path}: its weights do not fit together: {error}") from error


def _encode(name: str, difference: Tensor, precision: Precision) -> dict[str, Tensor]:
    if precision == "bf16":
        return {f"{name}:bf16": difference.to(torch.bfloat16).contiguous()}
    if precision == "int8":
        scale = difference.abs().amax(dim=1, keepdim=True) / 127  # (rows, 1)
        q = torch.where(scale > 0, difference / scale.clamp_min(torch.finfo(torch.float32).tiny), 0).round()
        return {f"{name}:q8": q.to(torch.int8).contiguous(), f"{name}:scale": scale.contiguous()}
    if precision not in FEW_BITS:
        raise ValueError(f"precision must be bf16, int8 or one of {', '.join(FEW_BITS)}, not {precision!r}")
    bits = FEW_BITS[precision]
    codes, scales = to_codes(difference, bits)
    shape = torch.tensor(difference.shape)
    return {f"{name}:q{bits}": codes, f"{name}:scale": scales, f"{name}:shape": shape}


def _decode(key: str, stored: Mapping[str, Tensor]) -> tuple[str, Tensor]:
    name, _, kind = key.rpartition(":")
    tensor = stored[key]
    if kind == "new":
        return "new", tensor
    if kind in ("f32", "bf16"):
        return "difference", tensor.float()
    if kind == "q8":
        return "difference", tensor.float() * stored[f"{name}:scale"]
    for bits in FEW_BITS.values():
        if kind == f"q{bits}":
            shape = stored[f"{name}:shape"].tolist()
            return "difference", from_codes(tensor, stored[f"{name}:scale"], bits, shape)
    raise ValueError(f"{key} is of an unknown kind")
