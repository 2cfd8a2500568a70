"""Models that an index holds itself: `models/<digest>/`, made of its documents for its documents.

The settings name such a model by its digest, so that an index can be moved with it; everywhere else it is
a folder like any other. A model is trusted only by its digest.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from spanwise.errors import IndexCorrupt, SpanwiseError

from .colbert_setting import ColbertSetting

MODELS = "models"
UNFINISHED = ".unfinished"
_OWN = "index:"  # in front of the digest, in the settings


def placed(setting: ColbertSetting, index: Path) -> ColbertSetting:
    """The setting as it is used: the model named by its folder."""
    digest = setting.name.removeprefix(_OWN)
    return setting if digest == setting.name else replace(setting, name=str(own_folder(index, digest)))


def portable(setting: ColbertSetting, index: Path) -> ColbertSetting:
    """The setting as it is kept: a model of the index itself named by its digest."""
    digest = own_digest(setting.name, index)
    return setting if digest is None else replace(setting, name=_OWN + digest)


def own_folder(index: Path, digest: str) -> Path:
    """Where a model of this digest lies in an index."""
    return index.resolve() / MODELS / digest


def own_digest(name: str, index: Path) -> str | None:
    """The digest that a model of the index itself must have; None for a model from elsewhere."""
    folder = Path(name)
    return folder.name if folder.parent == index.resolve() / MODELS else None


def check_own_model(name: str, index: Path, digest: str) -> None:
    """IndexCorrupt when a model of the index itself is not the one that was put there."""
    wanted = own_digest(name, index)
    if wanted not in (None, digest):
        raise IndexCorrupt(
            f"{name} is not the model that was put there, its digest is {digest}: "
            "go back to the model before with `spanwise adapt --undo`"
        )


def own_problems(index: Path, used: Collection[str]) -> list[str]:
    """A line for each of the `used` models of the index that is missing or not as it was put there."""
    from ..models.token_models import token_model_digest

    found = []
    for wanted in sorted(used):
        folder = own_folder(index, wanted)
        try:
            check_own_model(str(folder), index, token_model_digest(str(folder)))
        except (SpanwiseError, OSError) as error:
            found.append(str(error))
    return found


def remove_others(index: Path, used: Collection[str]) -> None:
    """Deletes the models of the index that are no longer `used`, and what an interruption left of one."""
    folder = index.resolve() / MODELS
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.name not in used:
            shutil.rmtree(path, ignore_errors=True)
