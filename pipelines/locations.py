"""Where an index lies: `.spanwise/` in the indexed folder, found upward from here like `.git`."""

from __future__ import annotations

from pathlib import Path

from spanwise.errors import FolderNotFound, IndexNotFound

FOLDER_NAME = ".spanwise"
CATALOG_NAME = "catalog.sqlite"


def index_folder_of(folder: Path) -> Path:
    """Where the index of an indexed folder lies by default."""
    return folder / FOLDER_NAME


def is_index(path: Path) -> bool:
    """True when the path is a directory that an index was written to."""
    return (path / CATALOG_NAME).is_file()


def resolve_index(path: Path) -> Path:
    """The index directory meant by `--index`: itself, or the `.spanwise` that it holds."""
    for candidate in (path, path / FOLDER_NAME):
        if is_index(candidate):
            return candidate
    raise IndexNotFound(
        f"{path} is not an index and holds none; make one with: spanwise index FOLDER --index {path}"
    )


def nearest_index(start: Path) -> Path:
    """The `.spanwise` in `start` or in the nearest folder above it that has one."""
    for folder in (start, *start.parents):
        if is_index(folder / FOLDER_NAME):
            return folder / FOLDER_NAME
    raise IndexNotFound(f"no index in {start} or above it; make one with: spanwise index {start}")


def existing_folder(folder: Path) -> Path:
    """The folder as an absolute path; FolderNotFound when there is none."""
    if not folder.exists():
        raise FolderNotFound(f"there is no folder {folder}")
    if not folder.is_dir():
        raise FolderNotFound(f"{folder} is a file, not a folder; name the folder that holds it")
    return folder.resolve()
