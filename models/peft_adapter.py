"""Adapters as folders: low-rank updates and a head in the files of PEFT, to be merged into their base.

`adapter_config.json` names the base and the settings, `adapter_model.safetensors` holds, by layer,
`base_model.model.LAYER.lora_A.weight` and `lora_B.weight`, and the head's own weights. Settings that change
what the updates mean in ways not known here are refused by name. Source: the PEFT library's documentation,
"Checkpoint format".
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from spanwise.errors import ModelRejected

from .checkpoint import require_finite
from .locate import ADAPTER, ADAPTER_CONFIG, BASE_HUB_NAME, BASE_REVISION, find_model, is_base
from .lora import Lora, updated, updates
from .model_folder import read_json

_PREFIX = "base_model.model."
_A, _B = ".lora_A.weight", ".lora_B.weight"
_WRAPPED = ".modules_to_save."  # how older files mark a head
_UNKNOWN = (
    *("use_dora", "use_qalora", "lora_bias", "fan_in_fan_out", "rank_pattern", "alpha_pattern"),
    *("layer_replication", "trainable_token_indices", "target_parameters", "megatron_config"),
)


def save_adapter(folder: Path, model: nn.Module, base: str, lora: Lora, heads: Sequence[str]) -> None:
    """Writes the updates of a model over `base`, a folder or name@revision, and the modules in `heads`."""
    tensors: dict[str, Tensor] = {}
    for name, update in updates(model).items():
        tensors |= {f"{_PREFIX}{name}{_A}": update.lora_A, f"{_PREFIX}{name}{_B}": update.lora_B}
    for head in heads:
        for name, tensor in model.get_submodule(head).state_dict().items():
            tensors[f"{_PREFIX}{head}.{name}"] = tensor
    own, _, revision = (f"{BASE_HUB_NAME}@{BASE_REVISION}" if is_base(base) else base).partition("@")
    config = {
        "peft_type": "LORA",
        "task_type": "QUESTION_ANS",
        "base_model_name_or_path": str(Path(own).resolve()) if Path(own).is_dir() else own,
        "revision": revision or None,
        "r": lora.rank,
        "lora_alpha": lora.alpha,
        "lora_dropout": 0.0,
        "bias": "none",
        "target_modules": sorted({name.rpartition(".")[2] for name in updates(model)}),
        "modules_to_save": list(heads),
        "inference_mode": True,
    }
    folder.mkdir(parents=True, exist_ok=True)
    held = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    save_file(held, folder / ADAPTER, metadata={"format": "pt"})
    (folder / ADAPTER_CONFIG).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def adapter_base(folder: Path) -> Path:
    """The folder of the model that an adapter belongs to: inside its own, another one, or name@revision."""
    config = read_json(folder / ADAPTER_CONFIG)
    name, revision = config.get("base_model_name_or_path"), config.get("revision")
    if not isinstance(name, str) or not name:
        raise ModelRejected(
            f"{folder / ADAPTER_CONFIG}: base_model_name_or_path is {name!r}, expected a name"
        )
    inside = folder / name
    return find_model(
        str(inside) if inside.is_dir() else name, revision if isinstance(revision, str) else None
    )


@torch.no_grad()
def merge_adapter(model: nn.Module, folder: Path) -> set[str]:
    """Adds the updates of a folder to the weights of its base, in place; the names of all weights it changed.

    ModelRejected for settings that are not known here, and for weights that do not fit the model.
    """
    scale = _scale(folder / ADAPTER_CONFIG)
    tensors = _tensors(folder / ADAPTER)
    changed: set[str] = set()
    for name, tensor in tensors.items():
        if name.endswith(_B):
            continue
        layer, is_update = (name.removesuffix(_A), True) if name.endswith(_A) else (name, False)
        weight = f"{layer}.weight" if is_update else layer
        try:
            held = model.get_parameter(weight)
            new = updated(held, tensor, tensors[layer + _B], scale(len(tensor))) if is_update else tensor
        except (AttributeError, KeyError, RuntimeError) as error:
            raise ModelRejected(f"{folder / ADAPTER}: {name} does not fit the model: {error}") from error
        if new.shape != held.shape:
            raise ModelRejected(f"{folder / ADAPTER}: {name} does not fit the model")
        held.copy_(new)
        changed.add(weight)
    return changed


def _tensors(path: Path) -> Mapping[str, Tensor]:
    """By the names of the model they belong to, float32."""
    try:
        stored = load_file(path)
    except (SafetensorError, OSError) as error:
        raise ModelRejected(f"{path} cannot be read: {error}") from error
    require_finite(stored, path)
    named = {name.removeprefix(_PREFIX).replace(_WRAPPED, "."): one.float() for name, one in stored.items()}
    left = [name for name in named if name.endswith(_B) and name.removesuffix(_B) + _A not in named]
    other = [name for name in named if ".lora_" in name and not name.endswith((_A, _B))]
    if left or other:
        raise ModelRejected(f"{path}: {[*left, *other][0]} is not known here")
    return named


def _scale(path: Path) -> Any:
    """What the product of an update of rank r is multiplied by, as the settings say."""
    config = read_json(path)
    if config.get("peft_type") != "LORA":
        raise ModelRejected(f"{path}: peft_type is {config.get('peft_type')!r}, expected 'LORA'")
    for name in _UNKNOWN:
        if config.get(name):
            raise ModelRejected(f"{path}: {name} is {config[name]!r}, which is not known here")
    if config.get("bias", "none") != "none":
        raise ModelRejected(f"{path}: bias is {config['bias']!r}, expected 'none'")
    alpha, rank = config.get("lora_alpha"), config.get("r")
    if not isinstance(alpha, int | float) or not isinstance(rank, int) or rank < 1:
        raise ModelRejected(f"{path}: r is {rank!r} and lora_alpha {alpha!r}, expected two numbers")
    slow = (
        math.sqrt if config.get("use_rslora") else float
    )  # rank-stabilised: Kalajdzievski 2023, alpha / sqrt(r)

    def of(found: int) -> float:
        if found != rank:
            raise ModelRejected(f"{path}: r is {rank}, its weights are of rank {found}")
        return alpha / slow(rank)

    return of
