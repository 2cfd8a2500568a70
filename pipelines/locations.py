"""Where an index lies: `.spanwise/` in the indexed folder, found upward from here like `.git`.

The index of a folder that cannot be written to lies in the user's cache directory, under the folder's name
and the digest of its path, and is found from inside the folder just the same. `SPANWISE_CACHE` names
another place for these.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from spanwise.errors import FolderNotFound, IndexNotFound

FOLDER_NAME = ".spanwise"
CATALOG_NAME = "catalog.sqlite"


def index_folder_of(folder: Path) -> Path:
    """Where the index of a folder is, or will be made: in it, or in the cache when it is read-only."""
    own, cached = folder / FOLDER_NAME, cached_index_of(folder)
    if is_writable(own if own.exists() else folder):
        return own
    return cached


def cached_index_of(folder: Path) -> Path:
    """Where the index of a read-only folder lies."""
    path = folder.resolve()
    digest = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
    return cache_folder() / f"{path.name or 'root'}-{digest}"


def cache_folder() -> Path:
    """The folder of the indexes that do not lie in their folders."""
    if own := os.environ.get("SPANWISE_CACHE"):
        return Path(own)
    from platformdirs import user_cache_path

    return user_cache_path("spanwise")


def is_writable(folder: Path) -> bool:
    """True when files can be made in a folder, as far as its permissions and its file system tell."""
    return os.access(folder, os.W_OK | os.X_OK)


def is_index(path: Path) -> bool:
    """True when the path is a directory that an index was written to."""
    return (path / CATALOG_NAME).is_file()


def resolve_index(path: Path) -> Path:
    """The index meant by `--index`: that directory, or the index of that folder."""
    index = path if is_index(path) else _index_of(path)
    if index is None:
        raise IndexNotFound(
            f"{path} is not an index and holds none; make one with: spanwise index FOLDER --index {path}"
        )
    return index


def nearest_index(start: Path) -> Path:
    """The index of `start` or of the nearest folder above it that has one."""
    for folder in (start, *start.parents):
        if index := _index_of(folder):
            return index
    raise IndexNotFound(f"no index in {start} or above it; make one with: spanwise index {start}")


def existing_folder(folder: Path) -> Path:
    """The folder as an absolute path; FolderNotFound when there is none."""
    if not folder.exists():
        raise FolderNotFound(f"there is no folder {folder}")
    if not folder.is_dir():
        raise FolderNotFound(f"{folder} is a file, not a folder; name the folder that holds it")
    return folder.resolve()


def _index_of(folder: Path) -> Path | None:
    """The index that a folder has, if any; the one that can be brought up to date goes first."""
    candidates = (index_folder_of(folder), folder / FOLDER_NAME)
    return next((path for path in candidates if is_index(path)), None)
