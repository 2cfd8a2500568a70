"""The built-in late-interaction model: a linear layer behind the base model, and what it skips.

The folder holds the layer as sentence-transformers stores one (`config.json`, `model.safetensors`) and
`settings.json`: the base that it was made for, and the tokens that give no vector on either side.
"""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

from spanwise.errors import ModelNotFound, ModelRejected

from .linear_layer import TOKENS, LinearLayer
from .locate import BASE_SHA256
from .model_folder import read_json
from .token_tower import TokenSide, TokenTower
from .tower import Tower

SETTINGS = "settings.json"


def builtin_colbert_folder() -> Path:
    """The folder of the built-in model's files."""
    with as_file(files("spanwise.models") / "weights" / "colbert") as folder:
        return Path(folder)


def base_with_layer(folder: Path, base: Path) -> TokenTower:
    """The model that a folder of this form adds to the base, which is not read here.

    ModelNotFound without the settings, ModelRejected when they belong to another base.
    """
    path = folder / SETTINGS
    if not path.is_file():
        raise ModelNotFound(f"{folder} holds no {SETTINGS}: the built-in late-interaction model is not there")
    settings = read_json(path)
    if settings.get("base_sha256") != BASE_SHA256:
        raise ModelRejected(f"{path} belongs to the base {settings.get('base_sha256')}, not to {BASE_SHA256}")
    skipped = tuple(map(str, settings.get("skiplist") or []))
    side = TokenSide(max_length=settings.get("max_length"), skiplist=skipped)
    layer = LinearLayer.read(folder, TOKENS)
    return TokenTower(Tower((BASE_SHA256,), base), (layer,), side, side)
