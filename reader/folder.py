"""Where a reader's files are; loads no model, so that its files can be looked at first."""

from __future__ import annotations

import hashlib
from importlib.resources import as_file, files
from pathlib import Path

from ..models.fingerprint import fingerprint
from ..models.locate import base_folders, is_pinned

BUILTIN = "builtin"
DELTA = "reader.safetensors"
CALIBRATION = "calibration.json"


def builtin_folder() -> Path:
    """The folder of the built-in reader's files."""
    with as_file(files("spanwise.models") / "weights" / "reader") as folder:
        return Path(folder)


def reader_folder(name: str) -> Path:
    """The folder that a reader's name stands for, if it is a folder's."""
    return builtin_folder() if name == BUILTIN else Path(name).expanduser()


def reader_fingerprint(name: str) -> str | None:
    """The fingerprint of a reader and of the base that it may be a difference from; see `fingerprint`."""
    folder = reader_folder(name)
    if folder.is_dir():
        return fingerprint([folder, *base_folders()])
    return name if is_pinned(name) else None


def calibration_sha256(name: str) -> str:
    """The digest of a reader's calibration as it is now; empty without one."""
    try:
        return hashlib.sha256((reader_folder(name) / CALIBRATION).read_bytes()).hexdigest()
    except FileNotFoundError:
        return ""
