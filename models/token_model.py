"""Token models: one transformer over the base that gives token vectors (ColBERT) and dense vectors (DPR).

`student.safetensors` is a delta file, see `numpy_bert`, of the transformer and the linear layers behind it:

    projection                    maps the state of a token to its vector, normalize(W state + b)
    question_head, passage_head   map the mean of a text's states to its vector, normalize(W mean + b)

`settings.json` holds the format, the digests of the base and of the weights, the token limit, and the tokens
that give no vector.
"""

from __future__ import annotations

import json
import string
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from spanwise.errors import ModelNotFound, ModelRejected

from .model_files import BASE_SHA256, STUDENT, file_sha256, read_json, setting

if TYPE_CHECKING:
    from torch import nn

SETTINGS = "settings.json"
FORMAT = 1
LAYERS = ("projection", "question_head", "passage_head")
_MIN_LENGTH = 3  # [CLS], one token, [SEP]


@dataclass(frozen=True, slots=True)
class TokenModelSettings:
    """The settings of a token model.

    max_length: the longest input in tokens, or None for the limit of the base.
    skiplist: tokens that give no vector.
    """

    max_length: int | None = None
    skiplist: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TokenModel:
    """The parts of a token model in float32.

    backbone: the transformer.
    projection: the layer of token vectors.
    question_head, passage_head: the layers of dense vectors.
    settings: the token limit and the skipped tokens.
    """

    backbone: nn.Module
    projection: nn.Linear
    question_head: nn.Linear
    passage_head: nn.Linear
    settings: TokenModelSettings


def punctuation_skiplist(vocabulary: Iterable[str]) -> tuple[str, ...]:
    """[CLS], [SEP], ASCII punctuation, and the other punctuation of the vocabulary, in any script.

    >>> punctuation_skiplist(["[CLS]", "mill", "»", "."])[-2:]
    ('~', '»')
    """
    marks = {word for word in vocabulary if len(word) == 1 and unicodedata.category(word).startswith("P")}
    return "[CLS]", "[SEP]", *string.punctuation, *sorted(marks - set(string.punctuation))


def save_token_model(folder: Path, model: TokenModel) -> None:
    """Writes a token model over the one in the folder; other files of the folder stay.

    The settings name the sha256 of the weights, so that files of two models are never mixed up. ModelRejected
    for weights that are not finite.
    """
    from .weights import save_tuned

    layers = (model.projection, model.question_head, model.passage_head)
    added = {
        f"{name}.{part}": tensor.detach().cpu()
        for name, layer in zip(LAYERS, layers, strict=True)
        for part, tensor in layer.named_parameters()
    }
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = folder / f".{STUDENT}.unfinished"
    save_tuned(unfinished, model.backbone, added)
    settings = {
        "format": FORMAT,
        "base_sha256": BASE_SHA256,
        "sha256": file_sha256(unfinished),
        "max_length": model.settings.max_length,
        "dense": True,  # it has both heads
        "skiplist": model.settings.skiplist,
    }
    unfinished_settings = folder / f".{SETTINGS}.unfinished"
    text = json.dumps(settings, indent=1, ensure_ascii=False) + "\n"
    unfinished_settings.write_text(text, encoding="utf-8")
    unfinished.replace(folder / STUDENT)
    unfinished_settings.replace(folder / SETTINGS)


def load_token_model(folder: Path) -> TokenModel:
    """The token model of a folder.

    ModelNotFound if a file is missing. ModelRejected for damaged files, files of two models, and a model over
    another base.
    """
    from .load import linear, tuned_backbone

    settings, path = read_settings(folder)
    backbone, added = tuned_backbone(path)
    if added.keys() != {f"{name}.{part}" for name in LAYERS for part in ("weight", "bias")}:
        raise ModelRejected(
            f"{path} adds {sorted(added)} to the base, expected the layers {', '.join(LAYERS)}"
        )
    projection, question_head, passage_head = (linear(added, name, path) for name in LAYERS)
    return TokenModel(backbone, projection, question_head, passage_head, settings)


def read_settings(folder: Path) -> tuple[TokenModelSettings, Path]:
    """The settings and the weights file of a folder, after a check of the file's digest."""
    path = folder / SETTINGS
    weights = folder / STUDENT
    for needed in (path, weights):
        if not needed.is_file():
            raise ModelNotFound(f"{folder} holds no token model: {needed.name} is missing")
    config = read_json(path)
    if config.get("format") != FORMAT:
        raise ModelRejected(f"{path} has the format {config.get('format')!r}, expected {FORMAT}")
    if config.get("base_sha256") != BASE_SHA256:
        raise ModelRejected(f"{path} belongs to the base {config.get('base_sha256')}, not to {BASE_SHA256}")
    digest = file_sha256(weights)
    if config.get("sha256") != digest:
        raise ModelRejected(f"{weights} has sha256 {digest}, but {path} names {config.get('sha256')}")
    length = setting(config, "max_length", int, path)
    if length is not None and length < _MIN_LENGTH:
        raise ModelRejected(f"{path}: max_length is {length}, expected at least {_MIN_LENGTH} tokens")
    skiplist = setting(config, "skiplist", list, path) or ()
    return TokenModelSettings(length, tuple(map(str, skiplist))), weights
