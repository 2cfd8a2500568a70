"""A trunk with a head of our own, stored as its difference from the base."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from spanwise.errors import ModelRejected

from .bert import Bert, bert_trunk
from .checkpoint import Checkpoint, read_checkpoint, require_finite
from .delta import Precisions, save_delta, tuned_weights
from .locate import BASE_SHA256, find_base

_PREFIX = "bert."  # of a model with a head, as transformers names its trunk


def tuned_trunk(delta: Path | None = None) -> tuple[Bert, dict[str, Tensor]]:
    """The base with the differences of a file, in float32, and what the file adds to a trunk, by name.

    Without a file it is the base itself. ModelRejected for a file that does not fit it.
    """
    base = find_base()
    checkpoint = read_checkpoint(base)
    weights: Mapping[str, Tensor] = checkpoint.weights
    if delta is not None:
        prefixed = _is_prefixed(delta)
        named = {_PREFIX + name: tensor for name, tensor in weights.items()} if prefixed else weights
        weights = tuned_weights(named, delta, BASE_SHA256)
        require_finite(weights, delta)
        weights = {name.removeprefix(_PREFIX): tensor for name, tensor in weights.items()}
    trunk = bert_trunk(Checkpoint(checkpoint.config, weights))
    if trunk is None:
        raise ModelRejected(f"{delta or base} does not describe a model over the base")
    return trunk, {name: tensor for name, tensor in weights.items() if name not in checkpoint.weights}


def save_tuned(
    path: Path, trunk: nn.Module, added: Mapping[str, Tensor], precision: Precisions = "int8"
) -> None:
    """Writes what a trunk changes in the base, and the tensors of its head."""
    tuned = {name: tensor.detach().cpu() for name, tensor in trunk.state_dict().items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    base = read_checkpoint(find_base()).weights
    save_delta(path, {**tuned, **added}, base, BASE_SHA256, precision)


def _is_prefixed(delta: Path) -> bool:
    try:
        with safe_open(delta, framework="pt") as file:
            return any(name.startswith(_PREFIX) for name in file.keys())  # noqa: SIM118 (no mapping)
    except (SafetensorError, OSError) as error:
        raise ModelRejected(f"{delta} cannot be read: {error}") from error
