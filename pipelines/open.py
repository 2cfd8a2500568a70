"""Opening a library: of folders, whose index is created where it is missing, or of an existing index."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from spanwise.types import ClusterOptions, ProgressCallback, no_progress

from ..index.analysis import Analyzer
from ..index.pages import OCR
from ..index.shards import is_sharded
from ..index.store import Store
from .folders import (
    FOLDER_NAME,
    existing_folder,
    index_folder_of,
    is_index,
    resolve_index,
    roots_setting,
    with_folders,
)
from .library.library import Library
from .library.loaded_models import COLBERT, MODEL, NONE, model_setting, stages_below
from .parsing.ocr import OcrMode, use_ocr

NO_CACHE = "SPANWISE_NO_CACHE"


def open(
    folder: str | Path | Sequence[str | Path],
    index: str | Path | None = None,
    model: str | None = None,
    cache: bool = True,
    colbert: str | None = None,
    shards: int | None = None,
    cluster: ClusterOptions | None = None,
    ocr: OcrMode | None = None,
) -> Library:
    """The library of one folder, or of several in one index; a missing index is created.

    The index is in `folder/.spanwise`, or in the user's cache directory if the folder is read-only, or at
    `index`. Several folders need an `index`; new folders are added to it. No file is read before `sync`.

    `colbert` names the encoder of the token vectors: "builtin", a local folder or name@revision. `model` is
    that of the dense vectors: "base", "dpr", a local folder or name@revision. A new index has the vectors
    that are named. By default it has built-in token vectors, or built-in dense vectors where `colbert` is
    "none". For an existing index the next `sync` encodes all passages anew for another model.

    `cache` is as for `Library`, and off where SPANWISE_NO_CACHE is set. `shards` is the number of shards of a
    new index; an existing index is split anew. `cluster` says where shards are searched. `ocr` says where
    `sync` recognises the words on pictures: "pdf" (by default: on pages of PDFs without text), "all" (in
    picture files too), or "off".

    Raises FolderNotFound, and ModelNotFound or ModelRejected for a model that cannot be used. Then nothing is
    created.
    """
    named = [folder] if isinstance(folder, (str, Path)) else folder
    folders = [existing_folder(Path(each)) for each in named]
    path = _index_for(folders, index)
    wants_tokens = colbert not in (None, NONE)
    if is_index(path):
        if shards is not None:
            from .cluster.indexing import split_index

            split_index(path, shards)
        library = _opened(path, cache, cluster)
        library.use_model(model)
        if wants_tokens:
            library.use_colbert(str(colbert))
        library.add(folders)
        if ocr is not None:
            use_ocr(library.store, ocr)
        return library
    settings = {
        **roots_setting(with_folders((), folders), path),
        MODEL: model_setting(model, "encoder") if model else "",
        COLBERT: model_setting(str(colbert), "token-encoder") if wants_tokens else "",
        **Analyzer().settings(),
        **({OCR: ocr} if ocr else {}),
    }
    if not settings[MODEL] and not settings[COLBERT]:
        settings |= {MODEL: "base"} if colbert == NONE else {COLBERT: "builtin"}
    if shards is None:
        return Library(Store.create(path, settings), _is_cached(cache))
    from .cluster.indexing import create_shards

    create_shards(path, shards, settings)
    return _opened(path, cache, cluster)


def open_index(index: str | Path, cache: bool = True, cluster: ClusterOptions | None = None) -> Library:
    """The library of an existing index, named by its directory or by the folder that holds `.spanwise`."""
    return _opened(resolve_index(Path(index)), cache, cluster)


@contextmanager
def open_encoded(
    folder: Path, index: Path, retrievers: Iterable[str], on_progress: ProgressCallback = no_progress
) -> Iterator[Library]:
    """The library of a folder, synced, with the vectors that these retrievers need; nothing is cached."""
    with open(folder, index, cache=False) as library:
        library.sync(on_progress=on_progress)
        library.encode_for(stages_below(retrievers), "builtin", on_progress=on_progress)
        yield library


def _opened(path: Path, cache: bool, cluster: ClusterOptions | None) -> Library:
    if is_sharded(path):
        from .cluster.library import open_shards

        return open_shards(path, _is_cached(cache), cluster)
    if cluster is not None and cluster.address is not None:
        raise ValueError(f"{path} has no shards to search on a cluster: split it with --shards N")
    return Library(Store.open(path), _is_cached(cache))


def _index_for(folders: Sequence[Path], index: str | Path | None) -> Path:
    if index is not None:
        path = Path(index)
        return path if is_index(path) or not is_index(path / FOLDER_NAME) else path / FOLDER_NAME
    if len(folders) != 1:
        problem = f"{len(folders)} folders need a place for their index" if folders else "no folder to index"
        raise ValueError(f"{problem}: name folders, and with several of them --index DIR")
    return index_folder_of(folders[0])


def _is_cached(cache: bool) -> bool:
    return cache and not os.environ.get(NO_CACHE)
