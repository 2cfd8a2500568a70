"""Student models: one transformer over the base for token vectors (ColBERT) and dense vectors (DPR).

`student.safetensors` holds the differences of the transformer from the base (see `weights`), and the linear
layers behind it:

    projection                    the vector of a token: normalize(W state + b), on both sides
    question_head, passage_head   the vector of a text: normalize(W mean + b), of the mean of its states

`settings.json` holds the format, the digests of the base and of the weights, the token limit, and the tokens
that give no vector.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from spanwise.errors import ModelNotFound, ModelRejected

from .model_files import BASE_SHA256, STUDENT, file_sha256, read_json, stated

if TYPE_CHECKING:
    from torch import nn

SETTINGS, FORMAT = "settings.json", 1
LAYERS = ("projection", "question_head", "passage_head")
_MIN_LENGTH = 3  # [CLS], one token, [SEP]


@dataclass(frozen=True, slots=True)
class StudentSettings:
    """`max_length` in tokens, None for all that the base sees; tokens of `skiplist` give no vector."""

    max_length: int | None = None
    skiplist: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredStudent:
    """The parts of a student in float32."""

    backbone: nn.Module
    projection: nn.Linear
    question_head: nn.Linear
    passage_head: nn.Linear
    settings: StudentSettings


def save_student(folder: Path, student: StoredStudent) -> None:
    """Writes a student, replacing one that the folder holds; other files of the folder stay.

    The settings name the sha256 of the weights, so that files of two students are never mixed up.
    ModelRejected for weights that are not finite.
    """
    from .weights import save_tuned

    layers = (student.projection, student.question_head, student.passage_head)
    added = {
        f"{name}.{part}": tensor.detach().cpu()
        for name, layer in zip(LAYERS, layers, strict=True)
        for part, tensor in layer.named_parameters()
    }
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = folder / f".{STUDENT}.unfinished"
    save_tuned(unfinished, student.backbone, added)
    settings = {
        "format": FORMAT,
        "base_sha256": BASE_SHA256,
        "sha256": file_sha256(unfinished),
        "max_length": student.settings.max_length,
        "dense": True,  # it has both heads
        "skiplist": student.settings.skiplist,
    }
    unfinished_settings = folder / f".{SETTINGS}.unfinished"
    text = json.dumps(settings, indent=1, ensure_ascii=False) + "\n"
    unfinished_settings.write_text(text, encoding="utf-8")
    unfinished.replace(folder / STUDENT)
    unfinished_settings.replace(folder / SETTINGS)


def load_student(folder: Path) -> StoredStudent:
    """The student of a folder.

    ModelNotFound without the files of a student, ModelRejected for damaged files, files of two students, and
    a student of another base.
    """
    from .load import linear, tuned_backbone

    settings, path = read_settings(folder)
    backbone, added = tuned_backbone(path)
    if added.keys() != {f"{name}.{part}" for name in LAYERS for part in ("weight", "bias")}:
        raise ModelRejected(
            f"{path} adds {sorted(added)} to the base, expected the layers {', '.join(LAYERS)}"
        )
    projection, question, passage = (linear(added, name, path) for name in LAYERS)
    return StoredStudent(backbone, projection, question, passage, settings)


def read_settings(folder: Path) -> tuple[StudentSettings, Path]:
    """The settings, and the file of the weights, which is checked against its digest."""
    path, weights = folder / SETTINGS, folder / STUDENT
    for needed in (path, weights):
        if not needed.is_file():
            raise ModelNotFound(f"there is no student in {folder}: {needed.name} is missing")
    config = read_json(path)
    if config.get("format") != FORMAT:
        raise ModelRejected(f"{path} has the format {config.get('format')!r}, expected {FORMAT}")
    if config.get("base_sha256") != BASE_SHA256:
        raise ModelRejected(f"{path} belongs to the base {config.get('base_sha256')}, not to {BASE_SHA256}")
    if config.get("sha256") != (digest := file_sha256(weights)):
        raise ModelRejected(f"{weights} has sha256 {digest}, but {path} names {config.get('sha256')}")
    length = stated(config, "max_length", int, path)
    if length is not None and length < _MIN_LENGTH:
        raise ModelRejected(f"{path}: max_length is {length}, expected at least {_MIN_LENGTH} tokens")
    skiplist = tuple(map(str, stated(config, "skiplist", list, path) or ()))
    return StudentSettings(length, skiplist), weights
