"""Writes a student to a folder and reads it again, to be trained further or to be taken apart.

A student is a transformer over the base with three linear layers behind it: one makes the vectors of tokens,
two, the dense heads, make one vector of a question or of a passage. Searching with it takes less than that:
see `student_config`, `token_models` and `sides`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from .delta import Precision
from .locate import BASE_SHA256, STUDENT, file_sha256
from .stored_model import save_tuned, tuned_trunk
from .student_config import FORMAT, HEADS, PROJECTION, SETTINGS, StudentSettings, student_settings


@dataclass(frozen=True, slots=True)
class StoredStudent:
    """The parts of a student in float32; both heads are None for one that gives token vectors alone."""

    trunk: nn.Module
    projection: nn.Linear
    question_head: nn.Linear | None
    passage_head: nn.Linear | None
    settings: StudentSettings


def save_student(
    folder: Path,
    trunk: nn.Module,
    projection: nn.Linear,
    question_head: nn.Linear | None = None,
    passage_head: nn.Linear | None = None,
    settings: StudentSettings | None = None,
    precision: Precision = "int8",
) -> None:
    """Writes a student over what the folder held of another one; other files of the folder stay.

    The settings name the sha256 of the weights, so files of two students are never taken for one. ValueError
    for one head without the other, layers that do not fit or have no bias, and weights that are not finite.
    """
    settings = settings or StudentSettings()
    added = _added(trunk, projection, question_head, passage_head)
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = folder / f".{STUDENT}.unfinished"
    save_tuned(unfinished, trunk, added, precision)
    stated = {"format": FORMAT, "base_sha256": BASE_SHA256, "sha256": file_sha256(unfinished)}
    stated |= {"max_length": settings.max_length, "dense": question_head is not None}
    text = json.dumps(stated | {"skiplist": settings.skiplist}, indent=1, ensure_ascii=False) + "\n"
    unfinished_settings = folder / f".{SETTINGS}.unfinished"
    unfinished_settings.write_text(text, encoding="utf-8")
    unfinished.replace(folder / STUDENT)
    unfinished_settings.replace(folder / SETTINGS)


def load_student(folder: Path) -> StoredStudent:
    """The student of a folder; ModelNotFound or ModelRejected for a missing, damaged or foreign one."""
    settings = student_settings(folder)
    trunk, added = tuned_trunk(folder / STUDENT)
    layers = {
        name: _linear(added[f"{name}.weight"], added[f"{name}.bias"])
        for name in (PROJECTION, *HEADS.values())
        if f"{name}.weight" in added
    }
    question, passage = (layers.get(head) for head in HEADS.values())
    return StoredStudent(trunk, layers[PROJECTION], question, passage, settings)


def _added(trunk: nn.Module, projection: nn.Linear, *heads: nn.Linear | None) -> dict[str, Tensor]:
    """The tensors of the layers by their names in the file."""
    if (heads[0] is None) != (heads[1] is None):
        raise ValueError("a head for one side alone, expected both or neither")
    n_in: int = trunk.config.hidden_size  # type: ignore[union-attr, assignment]
    added: dict[str, Tensor] = {}
    for name, layer in zip((PROJECTION, *HEADS.values()), (projection, *heads), strict=True):
        if layer is not None:
            if layer.in_features != n_in or layer.bias is None:
                raise ValueError(f"{name} is {layer}, expected a layer for {n_in} numbers, with a bias")
            added |= {f"{name}.{part}": tensor.detach().cpu() for part, tensor in layer.named_parameters()}
    for name, tensor in (*trunk.state_dict().items(), *added.items()):
        if not bool(torch.isfinite(tensor).all()):
            raise ValueError(f"the weight {name} is not finite, so there is no student to save")
    return added


def _linear(weight: Tensor, bias: Tensor) -> nn.Linear:
    n_out, n_in = weight.shape
    layer = nn.Linear(n_in, n_out)
    layer.load_state_dict({"weight": weight.float(), "bias": bias.float()})
    return layer
