"""What a model folder must be before its files are used: no code, no pickles, weights that can be read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from spanwise.errors import ModelNotFound, ModelRejected

CONFIG = "config.json"
CODE = "auto_map"  # the key under which a configuration names Python files of its own
_CONFIGS = (CONFIG, "tokenizer_config.json")
_KINDS: dict[type, str] = {str: "a text", int: "a whole number", list: "a list", dict: "an object"}
Value = TypeVar("Value")


def checked_folder(folder: Path) -> Path:
    """The folder of one network, which holds a configuration and safetensors weights and asks for no code.

    ModelNotFound without a configuration, ModelRejected for everything else; nothing of the folder is run.
    """
    if not (folder / CONFIG).is_file():
        raise ModelNotFound(f"{folder} holds no {CONFIG}, so it is not a model folder")
    for name in _CONFIGS:
        if (folder / name).is_file():
            read_json(folder / name)
    if (folder / "adapter_config.json").exists():
        raise ModelRejected(f"{folder} is an adapter of another model; merge it into that model first")
    weights = sorted(folder.glob("*.safetensors"))
    if not weights:
        raise ModelRejected(
            f"{folder} holds no safetensors weights; other formats can run code and are refused"
        )
    for path in weights:
        check_weights(path)
    _check_index(folder, [path.name for path in weights])
    return folder


def check_weights(path: Path) -> None:
    """Raises ModelRejected unless the file is a whole safetensors file: its header is read, and no tensor."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="np") as file:
            file.keys()
    except (SafetensorError, OSError) as error:
        raise ModelRejected(f"{path} is not a whole safetensors file: {error}") from error


def read_json(path: Path) -> dict[str, Any]:
    """The object in a configuration file; ModelRejected when it is none, or asks for code at any depth."""
    found = _parsed(path)
    if not isinstance(found, dict):
        raise ModelRejected(f"{path} holds no JSON object")
    return found


def read_json_list(path: Path) -> list[dict[str, Any]]:
    """The objects listed in a configuration file, with the errors of `read_json`."""
    found = _parsed(path)
    if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
        raise ModelRejected(f"{path} holds no list of JSON objects")
    return found


def stated(config: Mapping[str, Any], name: str, kind: type[Value], path: Path) -> Value | None:
    """The setting of that name, None where there is none; ModelRejected unless it is of that very type."""
    value = config.get(name)
    if value is not None and type(value) is not kind:
        raise ModelRejected(f"{path}: {name} is {value!r}, expected {_KINDS.get(kind, kind.__name__)}")
    return value


def _parsed(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=partial(_without_code, path))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelRejected(f"{path} cannot be read: {error}") from error


def _without_code(path: Path, pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if CODE in found:
        raise ModelRejected(f"{path} asks for code of its own ({CODE}), which is never run")
    return found


def _check_index(folder: Path, names: Sequence[str]) -> None:
    """Weights in several files: the list may only name safetensors files that lie in the folder itself."""
    path = folder / "model.safetensors.index.json"
    if not path.is_file():
        return
    parts = read_json(path).get("weight_map")
    if not isinstance(parts, dict) or not set(map(str, parts.values())) <= set(names):
        raise ModelRejected(f"{path} names weights other than {', '.join(names)}")
