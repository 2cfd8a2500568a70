"""The folders that an index is of. One folder: ids are paths below it. Several: each id starts with a label.

The settings keep them as a JSON list of [label, path]. The folder that holds its own `.spanwise` is kept as
"..", so that both can move together.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..corpora.folder import Listing, joined, readable, walk
from .locations import FOLDER_NAME, existing_folder

ROOTS, ROOT = "roots", "root"  # the second is the only folder of an index made before there could be several
HERE = ".."


@dataclass(frozen=True, slots=True)
class Root:
    """An indexed folder, and the label that its ids start with when there are several."""

    label: str
    folder: Path


def read_roots(settings: Mapping[str, str], index: Path) -> tuple[Root, ...]:
    """The folders that the index at `index` is of, where they are now."""
    beside = index.resolve().parent
    if ROOTS in settings:
        stored = json.loads(settings[ROOTS])
        return tuple(Root(label, beside if path == HERE else Path(path)) for label, path in stored)
    folder = beside if index.name == FOLDER_NAME else Path(settings[ROOT])
    return (Root(_label(folder), folder),)


def roots_setting(roots: Sequence[Root], index: Path) -> dict[str, str]:
    """The setting that `read_roots` reads. JSON keeps a path that is not UTF-8, too."""
    here = index.resolve().parent if index.name == FOLDER_NAME else None
    stored = [[root.label, HERE if root.folder == here else str(root.folder)] for root in roots]
    return {ROOTS: json.dumps(stored)}


def with_folders(roots: Sequence[Root], folders: Sequence[Path]) -> tuple[Root, ...]:
    """The roots and those folders that are not among them; `ValueError` when one lies inside another."""
    grown = list(roots)
    for folder in folders:
        if any(root.folder == folder for root in grown):
            continue
        for root in grown:
            _refuse_overlap(root.folder, folder)
        grown.append(Root(_unique(_label(folder), {root.label for root in grown}), folder))
    return tuple(grown)


def without_folders(roots: Sequence[Root], folders: Sequence[Path]) -> tuple[Root, ...]:
    """The roots but those folders, which need not exist; `ValueError` for others, and when none is left."""
    leaving = {folder.resolve() for folder in folders}
    for folder in sorted(leaving - {root.folder for root in roots}):
        raise ValueError(f"{folder} is not indexed here; the folders are {', '.join(_paths(roots))}")
    if not set(roots) - {root for root in roots if root.folder in leaving}:
        raise ValueError("an index of no folder is none: delete its directory instead")
    return tuple(root for root in roots if root.folder not in leaving)


def list_roots(roots: Sequence[Root]) -> Listing:
    """What lies in the roots; `FolderNotFound` names one that is missing, and then nothing is listed."""
    folders = [existing_folder(root.folder) for root in roots]
    if len(roots) == 1:
        return walk(folders[0])
    return joined([walk(folder, root.label + "/") for root, folder in zip(roots, folders, strict=True)])


def _refuse_overlap(one: Path, other: Path) -> None:
    for inner, outer in ((one, other), (other, one)):
        if inner.is_relative_to(outer):
            raise ValueError(f"{inner} lies inside {outer}: one index holds a file once; name one of them")


def _label(folder: Path) -> str:
    return readable(folder.name) or "root"


def _unique(label: str, taken: set[str]) -> str:
    """The label, with the first number that makes it differ from the others in more than case."""
    folded = {other.casefold() for other in taken}
    candidates = (label if number == 1 else f"{label}-{number}" for number in range(1, len(taken) + 2))
    return next(candidate for candidate in candidates if candidate.casefold() not in folded)


def _paths(roots: Sequence[Root]) -> list[str]:
    return [str(root.folder) for root in roots]
