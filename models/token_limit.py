"""How many tokens of a text a folder lets its transformer see, [CLS] and [SEP] among them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spanwise.errors import ModelRejected

from .model_folder import CONFIG, read_json, stated

_LEAST = 3  # [CLS], one token, [SEP]


def stated_length(config: Mapping[str, Any], name: str, path: Path) -> int | None:
    """A limit in tokens, None where it is not stated; ModelRejected for one that leaves no room."""
    length = stated(config, name, int, path)
    if length is not None and length < _LEAST:
        raise ModelRejected(f"{path}: {name} is {length}, expected at least {_LEAST} tokens")
    return length


def token_limit(folder: Path, own: object = None) -> int | None:
    """The least of its own limit and the tokenizer's; None when the transformer has no more positions.

    ModelRejected for a limit that leaves no room for a token.
    """
    path = folder / "tokenizer_config.json"
    given = [own, read_json(path).get("model_max_length") if path.is_file() else None]
    limits = [limit for limit in given if isinstance(limit, int | float)]
    if any(not limit >= _LEAST for limit in limits):
        raise ModelRejected(f"{folder}: a limit of {min(limits)} tokens, expected at least {_LEAST}")
    positions = read_json(folder / CONFIG).get("max_position_embeddings")
    least = min(limits, default=float("inf"))  # a tokenizer without a limit says 1e30
    known = positions if isinstance(positions, int) else 2**31
    return int(least) if least < known else None
