"""Files and directories that appear whole or not at all, also after a power cut.

The order is always: write, fsync the file, fsync its directory, rename, fsync the parent. A rename without
the fsyncs before it may publish an empty file (Pillai et al., "All File Systems Are Not Created Equal",
OSDI 2014).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


def write_file(path: Path, parts: Iterable[bytes | memoryview]) -> None:
    """Create the file with these bytes, on the disk when this returns; an existing file is an error."""
    with path.open("xb") as file:
        file.writelines(parts)
        file.flush()
        os.fsync(file.fileno())


def publish(temporary: Path, final: Path) -> None:
    """Give a finished file or directory its name, durably. Its files must be on the disk already."""
    if temporary.is_dir():
        sync_directory(temporary)
    temporary.rename(final)
    sync_directory(final.parent)


def sync_directory(path: Path) -> None:
    """Make the names inside a directory durable."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
