"""Weights on disk: checkpoints as they are, delta files over the base, and quantised models.

Matrices of quantised models have 8 bits with a float32 scale for each row, or 4 bits with a float16 scale for
each GROUP of a row. Steps are symmetric, because weights and their differences have a mean of about zero.
Vectors (biases, norms) and small matrices stay in float32.

Training changes most weights by less than a step of 4 bits, so rounding them again would undo it. A model
that was trained from 4 bits keeps these, and its difference from them as a product of rank RANK, in 4 bits,
too: twice the rank in as many bytes errs less than 8 bits.
Source: Dettmers et al., "QLoRA: Efficient Finetuning of Quantized LLMs", NeurIPS 2023. Deviation: all weights
are trained, and the product has the largest singular values of their difference.

Reading needs no transformers, which takes longer to import than the weights to load. Tensors of a checkpoint
are views of the file mapped into memory, so two models of the same file share it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn.functional import embedding

from spanwise.errors import ModelRejected

from .model_files import BASE_SHA256, CONFIG, WEIGHTS, find_base, read_json, read_tensors
from .numpy_bert import DELTA_FORMAT, changed_weights, read_delta

QUANTIZED_FORMAT = "spanwise-quantized-1"
LEAST = 1024  # weights of a matrix that is quantised
LEAST_4 = 2**17  # the same for 4 bits, which leaves the heads as they are
GROUP = 32  # weights with one scale
RANK = 96  # of the difference of a matrix in 4 bits
LEFT = "left"  # a factor of this difference, in 4 bits
RIGHT = "right"
UNPACKED_ROWS = 512  # of a matrix at once, so that little memory is needed beside the result
SHRINKS = (1.0, 0.95, 0.9, 0.85, 0.8, 0.75)  # of a scale: large weights are cut off, others rounded less
Tensors = dict[str, Tensor]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A model on the CPU, in the precision of its file.

    config: the settings of the model.
    weights: its tensors by name.
    """

    config: Mapping[str, Any]
    weights: Tensors


def read_checkpoint(folder: Path) -> Checkpoint:
    """The settings and tensors of a folder with one weights file; ModelRejected if it is damaged."""
    weights, _ = read_tensors(folder / WEIGHTS, "pt")
    return Checkpoint(read_json(folder / CONFIG), weights)


def require_finite(weights: Tensors, source: object) -> None:
    """Raises ModelRejected if a weight is NaN or infinite.

    The sum of a tensor is tested first, which takes a tenth of the time: it is finite only if every term is.
    """
    for name, tensor in weights.items():
        if not tensor.is_floating_point() or torch.isfinite(tensor.sum()):
            continue
        if not torch.isfinite(tensor).all():
            raise ModelRejected(f"{source}: the weight {name} is not finite")


def save_delta(path: Path, tuned: Tensors, base: Tensors) -> None:
    """Writes a delta file: the tensors that `tuned` changes in `base` or adds to it.

    ModelRejected for weights that are not finite.
    """
    require_finite(tuned, path)
    stored: Tensors = {}
    for name, tensor in tuned.items():
        if name not in base:
            stored |= _stored(name, tensor, is_new=True)
        elif not torch.equal(tensor, base[name]):
            stored |= _stored(name, tensor - base[name], is_new=False)
    _write_delta(path, stored)


def save_mean(path: Path, shares: Mapping[Path, float]) -> None:
    """Writes the mean of delta files, each weighed by its part of the sum of all shares.

    A weight that a file lacks counts as that of the base. ModelRejected as for `read_delta`, and for files
    that add different weights to the base.
    """
    total = sum(shares.values())
    deltas = [(share / total, read_delta(file)) for file, share in shares.items()]
    stored: Tensors = {}
    for name in sorted({name for _, delta in deltas for name in delta}):
        weights = [(share, delta[name]) for share, delta in deltas if name in delta]
        shapes = {weight.values.shape for _, weight in weights}
        is_new = {weight.is_new for _, weight in weights}
        if len(shapes) > 1 or len(is_new) > 1 or (True in is_new and len(weights) < len(deltas)):
            raise ModelRejected(f"{path}: the models do not have the same weight {name}")
        terms = [share * torch.from_numpy(weight.values) for share, weight in weights]
        stored |= _stored(name, torch.stack(terms).sum(dim=0), is_new.pop())
    _write_delta(path, stored)


def tuned_weights(base: Tensors, path: Path, prefix: str = "") -> Tensors:
    """The weights of the base with the changes and additions of a delta file; `base` is not changed.

    `prefix` and errors are those of `changed_weights`.
    """
    arrays = {name: tensor.numpy() for name, tensor in base.items()}
    changed = changed_weights(arrays, path, prefix)
    return {**base, **{name: torch.from_numpy(array) for name, array in changed.items()}}


def save_tuned(path: Path, backbone: nn.Module, added: Tensors) -> None:
    """Writes a delta file of a backbone over the base and of the tensors of its heads."""
    tuned = {name: tensor.detach().cpu() for name, tensor in backbone.state_dict().items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    base = read_checkpoint(find_base()).weights
    save_delta(path, {**tuned, **added}, base)


def quantized_rows(tensor: Tensor) -> tuple[Tensor, Tensor]:
    """Integers q (rows, columns) int8 and scales (rows, 1) float32, so that q * scale is close to the tensor.

    >>> q, scale = quantized_rows(torch.tensor([[0.5, -1.0], [0.0, 0.0]]))
    >>> q.tolist(), round(float(scale[0]), 5)
    ([[64, -127], [0, 0]], 0.00787)
    """
    tensor = tensor.float()
    scale = tensor.abs().amax(dim=1, keepdim=True) / 127  # (rows, 1)
    smallest = torch.finfo(torch.float32).tiny
    q = torch.where(scale > 0, tensor / scale.clamp_min(smallest), 0).round()
    return q.to(torch.int8).contiguous(), scale.contiguous()


def quantized_groups(tensor: Tensor) -> tuple[Tensor, Tensor]:
    """4-bit integers, two in a byte, (rows, columns / 2) uint8, and scales (rows, columns / GROUP) float16.

    Of several scales for a group, the one with the least square error is taken.
    """
    groups = tensor.float().reshape(-1, GROUP)
    largest = groups.abs().amax(dim=1, keepdim=True) / 7
    best = torch.full_like(largest, torch.inf)
    integers = torch.zeros_like(groups)
    scales = torch.zeros_like(largest)
    for shrink in SHRINKS:
        scale = (largest * shrink).half().float().clamp_min(torch.finfo(torch.float16).tiny)
        q = (groups / scale).round().clamp(-8, 7)
        error = (q * scale - groups).square().sum(dim=1, keepdim=True)
        is_better = error < best
        best = torch.where(is_better, error, best)
        integers = torch.where(is_better, q, integers)
        scales = torch.where(is_better, scale, scales)
    nibbles = (integers + 8).to(torch.uint8).reshape(len(tensor), -1)
    return nibbles[:, ::2] | nibbles[:, 1::2] << 4, scales.half().reshape(len(tensor), -1)


def from_groups(packed: Tensor, scales: Tensor) -> Tensor:
    """(rows, columns) bf16, from the bytes and scales of `quantized_groups`."""
    table = torch.arange(256, dtype=torch.uint8)
    pairs = (torch.stack([table & 15, table >> 4], dim=-1).to(torch.int8) - 8).bfloat16()
    values = torch.empty(len(packed), scales.shape[1], GROUP, dtype=torch.bfloat16)
    parts = (tensor.split(UNPACKED_ROWS) for tensor in (packed, scales, values))
    for nibbles, scale, part in zip(*parts, strict=True):
        integers = embedding(nibbles.int(), pairs).view_as(part)
        torch.mul(integers, scale.bfloat16().unsqueeze(-1), out=part)
    return values.flatten(1)


def save_quantized(path: Path, checkpoint: Checkpoint, bits: int = 8) -> None:
    """Writes the settings and the weights of a model, matrices in 8 or 4 bits."""
    stored: Tensors = {}
    for name, tensor in checkpoint.weights.items():
        if tensor.dim() < 2 or tensor.numel() < (LEAST if bits == 8 else LEAST_4):
            stored[f"{name}:f32"] = tensor.float().contiguous()
        elif bits == 4:
            stored[f"{name}:q4"], stored[f"{name}:scale"] = quantized_groups(tensor)
        else:
            stored[f"{name}:q8"], stored[f"{name}:scale"] = quantized_rows(tensor)
    metadata = {"format": QUANTIZED_FORMAT, "config": json.dumps(dict(checkpoint.config))}
    save_file(stored, path, metadata=metadata)


def save_retrained(path: Path, tuned: Tensors, rounded: Path) -> None:
    """Writes a quantised model that was trained from the one in the file `rounded`.

    Its matrices in 4 bits stay, with the nearest difference of rank RANK to those of `tuned`. All else is as
    in `tuned`.
    """
    stored, metadata = read_tensors(rounded, "pt")
    retrained: Tensors = {}
    for key, tensor in stored.items():
        name, _, kind = key.rpartition(":")
        if kind == "f32":
            retrained[key] = tuned[name].float().contiguous()
        elif kind == "q4":
            scale = stored[f"{name}:scale"]
            retrained[key] = tensor
            retrained[f"{name}:scale"] = scale
            difference = tuned[name].float() - from_groups(tensor, scale)
            if difference.any():
                retrained |= _factors(name, difference)
    save_file(retrained, path, metadata=metadata)


def _factors(name: str, difference: Tensor) -> Tensors:
    """The tensors in a quantised file of the matrix of rank RANK that is nearest to a difference."""
    left, values, right = torch.linalg.svd(difference, full_matrices=False)
    root = values[:RANK].sqrt()
    factors: Tensors = {}
    for side, vectors in ((LEFT, left[:, :RANK]), (RIGHT, right[:RANK].T)):
        factors[f"{name}:{side}"], factors[f"{name}:{side}_scale"] = quantized_groups(vectors * root)
    return factors


def _factor(stored: Tensors, name: str, side: str) -> Tensor:
    return from_groups(stored[f"{name}:{side}"], stored[f"{name}:{side}_scale"])


def read_quantized(path: Path) -> Checkpoint:
    """The settings and the weights, those of 4 bits in bf16, all others in float32.

    ModelRejected for a damaged file or another format.
    """
    stored, metadata = read_tensors(path, "pt")
    if metadata.get("format") != QUANTIZED_FORMAT:
        raise ModelRejected(
            f"{path} has the format {metadata.get('format')!r}, expected {QUANTIZED_FORMAT!r}"
        )
    weights: Tensors = {}
    try:
        for key, tensor in stored.items():
            name, _, kind = key.rpartition(":")
            if kind == "f32":
                weights[name] = tensor.clone()  # no view, which would keep the whole file mapped
            elif kind == "q8":
                weights[name] = tensor.float() * stored[f"{name}:scale"]
            elif kind == "q4":
                weights[name] = from_groups(tensor, stored[f"{name}:scale"])
                if f"{name}:{LEFT}" in stored:
                    weights[name] += _factor(stored, name, LEFT) @ _factor(stored, name, RIGHT).T
        return Checkpoint(json.loads(metadata["config"]), weights)
    except (KeyError, ValueError, RuntimeError) as error:
        raise ModelRejected(f"{path} cannot be read: {error}") from error


def _stored(name: str, tensor: Tensor, is_new: bool) -> Tensors:
    """The tensors in a delta file of a new weight, or of a difference from the base; see `numpy_bert`."""
    tensor = tensor.float()
    if is_new:
        return {f"{name}:new": tensor.contiguous()}
    if tensor.dim() < 2:
        return {f"{name}:f32": tensor.contiguous()}
    q, scale = quantized_rows(tensor)
    return {f"{name}:q8": q, f"{name}:scale": scale}


def _write_delta(path: Path, stored: Tensors) -> None:
    save_file(stored, path, metadata={"format": DELTA_FORMAT, "base_sha256": BASE_SHA256})
