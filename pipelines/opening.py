"""From folders, or from an index, to a library."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ..index.analysis import Analyzer
from ..index.store import Store
from .colbert_setting import NO_COLBERT, NONE, ColbertSetting, wanted_setting
from .default_retriever import COLBERT, needs_tokens
from .index_settings import MODEL, model_setting
from .library import Library
from .locations import FOLDER_NAME, existing_folder, index_folder_of, is_index, resolve_index
from .roots import roots_setting, with_folders

NO_CACHE = "SPANWISE_NO_CACHE"


def open(
    folder: str | Path | Sequence[str | Path],
    index: str | Path | None = None,
    model: str | None = None,
    cache: bool = True,
    colbert: str | None = None,
) -> Library:
    """The library of one folder, or of several in one index; what is missing is made.

    The index lies in `folder/.spanwise`, in the user's cache when that cannot be written, or at `index`,
    which several folders need; folders that an index does not hold yet are added to it. `model` names the
    encoder of the dense vectors: "base", "dpr", a local folder, name@revision, or QUESTION::PASSAGE.
    `colbert` names that of the token vectors: "builtin", a local folder or name@revision; with None an index
    keeps the one that it has, if any, and a new one those that the default retriever needs. With "none" a new
    index keeps none; what is there stays, see `Library.use_colbert`. `cache` is as for `Library`, and off
    where SPANWISE_NO_CACHE is set.
    Nothing is read before `sync`. Raises FolderNotFound, ModelMismatch for an index of another model, and
    ModelNotFound or ModelRejected, with nothing made, for one that cannot be had.
    """
    given = [folder] if isinstance(folder, (str, Path)) else list(folder)
    folders = [existing_folder(Path(each)) for each in given]
    path = _index_for(folders, index)
    if is_index(path):
        library = Library(Store.open(path), _wanted(cache))
        library.require_model(model)
        if colbert not in (None, NONE):
            library.require_colbert(str(colbert))
        library.add(folders)
        return library
    roots = roots_setting(with_folders((), folders), path)
    settings = {**roots, MODEL: _model(model), **Analyzer().settings()}
    return Library(Store.create(path, settings | _tokens(colbert)), _wanted(cache))


def _model(name: str | None) -> str:
    """The setting of a new index; a model that is named has to be there, or nothing is made."""
    from ..models.sides import model_digest

    setting = model_setting(name or "base")
    if name is not None:
        model_digest(setting)
    return setting


def _tokens(colbert: str | None) -> dict[str, str]:
    """The settings of a new index; a model that is meant by default is looked for when it is used."""
    if colbert == NONE:
        return NO_COLBERT
    if colbert is not None:
        return wanted_setting(colbert).settings()
    return ColbertSetting(COLBERT).settings() if needs_tokens() else {}


def _index_for(folders: Sequence[Path], index: str | Path | None) -> Path:
    if index is not None:
        path = Path(index)
        return path if is_index(path) or not is_index(path / FOLDER_NAME) else path / FOLDER_NAME
    if len(folders) != 1:
        what = f"{len(folders)} folders need a place for their index" if folders else "no folder to index"
        raise ValueError(f"{what}: name folders, and with several of them --index DIR")
    return index_folder_of(folders[0])


def open_index(index: str | Path, cache: bool = True) -> Library:
    """The library of an existing index, named by its directory or by the folder that holds `.spanwise`."""
    return Library(Store.open(resolve_index(Path(index))), _wanted(cache))


def _wanted(cache: bool) -> bool:
    return cache and not os.environ.get(NO_CACHE)
