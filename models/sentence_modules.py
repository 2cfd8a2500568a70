"""The modules of a sentence-transformers folder for one side: what `modules.json` lists, routes followed.

The types are matched by their last name, as their paths differ between releases of the library. A `Router`
has other modules for questions ("query") and for passages ("document"); it may stand for a part of the list.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from spanwise.errors import ModelRejected

from .locate import MODULES
from .model_folder import read_json, read_json_list
from .tower import Side

KINDS = ("Transformer", "Pooling", "Dense", "Normalize")
_ROUTES = {"question": "query", "passage": "document"}


@dataclass(frozen=True, slots=True)
class Module:
    """One of `KINDS` and the folder of its configuration."""

    kind: str
    folder: Path


def sentence_modules(folder: Path, side: Side) -> list[Module]:
    """The modules of that side: one Transformer, one Pooling, any number of Dense, at most one Normalize.

    ModelRejected for other modules, for another order, and for a module that lies outside of the folder.
    """
    found: list[Module] = []
    for module in listed_modules(folder, (*KINDS, "Router")):
        found.extend(_routed(module.folder, side) if module.kind == "Router" else [module])
    kinds = [module.kind for module in found]
    n_dense = kinds.count("Dense")
    plain = ["Transformer", "Pooling", *["Dense"] * n_dense]
    if kinds not in (plain, [*plain, "Normalize"]):
        raise ModelRejected(
            f"{folder / MODULES}: {', '.join(kinds) or 'no modules'}; known are Transformer, Pooling, then "
            "any number of Dense, then one Normalize or none"
        )
    return found


def listed_modules(
    folder: Path, kinds: Sequence[str], libraries: Sequence[str] = ("sentence_transformers",)
) -> list[Module]:
    """The modules that `modules.json` lists; ModelRejected for other kinds, and outside of the folder."""
    path = folder / MODULES
    entries = read_json_list(path)
    return [
        _module(folder, entry.get("type"), entry.get("path"), path, kinds, libraries) for entry in entries
    ]


def _routed(folder: Path, side: Side) -> Iterator[Module]:
    """The modules of a Router's route for that side."""
    path = folder / "router_config.json"
    config = read_json(path)
    route = _ROUTES[side]
    names = _object(config.get("structure")).get(route)
    if _object(config.get("parameters")).get("route_mappings") or not isinstance(names, list):
        raise ModelRejected(f"{path} has no plain route named {route}")
    types = _object(config.get("types"))
    for name in names:
        yield _module(folder, types.get(name), name, path)


def _module(
    folder: Path,
    full_type: object,
    path: object,
    source: Path,
    kinds: Sequence[str] = KINDS,
    libraries: Sequence[str] = ("sentence_transformers",),
) -> Module:
    library, _, kind = str(full_type).partition(".")
    kind = kind.rpartition(".")[2]
    if library not in libraries or kind not in kinds:
        raise ModelRejected(
            f"{source}: the module {full_type} is not known here; known are {', '.join(kinds)}"
        )
    if not isinstance(path, str) or PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
        raise ModelRejected(f"{source}: the path {path!r} does not lie in the folder")
    inside = folder / path
    if not inside.resolve().is_relative_to(folder.resolve()):
        raise ModelRejected(f"{source}: {path!r} is a link that leads out of the folder")
    return Module(kind, inside)


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
