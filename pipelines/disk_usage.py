"""How much room a directory takes."""

from __future__ import annotations

from pathlib import Path


def bytes_below(folder: Path) -> int:
    """The sizes of the files in a directory and below it, added up; links are not followed."""
    sizes = (path.lstat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sum(sizes)
