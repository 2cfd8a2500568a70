"""Tells whether a model's files are those that were seen before, without reading or loading them.

Trusted is what the file system says of each file: device, number, size, and the times of its last change, of
which the second cannot be set by hand. That is what git trusts, and like git nothing is trusted that changed
a moment ago, when a second change may have left no trace. Loading a model always reads and checks its files.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from .locate import BUILTIN, DPR, base_folders, builtin_folder, is_base, is_pinned, is_student

SETTLED_S = 2.0  # the coarsest clock of a file system
_MOST_FILES = 1000


def model_fingerprint(name: str) -> str | None:
    """The fingerprint of an encoder, named as `find_model` takes it; see `fingerprint`.

    A name pinned to a commit is its own: the hub's client keeps to the commit. Of two names joined by "::"
    both count.
    """
    parts = [_fingerprint_of(part) for part in name.split("::")]
    return None if None in parts else " ".join(part for part in parts if part)


def token_model_fingerprint(name: str) -> str | None:
    """The fingerprint of a late-interaction model, named as `token_models` says; see `fingerprint`."""
    if name == BUILTIN:
        return fingerprint([builtin_folder("token-encoder"), *base_folders()])
    return _fingerprint_of(name)


def cross_encoder_fingerprint(name: str) -> str | None:
    """The fingerprint of a cross-encoder and of the base it may be a difference from; see `fingerprint`."""
    folder = builtin_folder("cross-encoder") if name == BUILTIN else Path(name).expanduser()
    if folder.is_dir():
        return fingerprint([folder, *base_folders()])
    return name if is_pinned(name) else None


def fingerprint(folders: Sequence[Path]) -> str | None:
    """A digest over the state of all files in these folders and below, in the order given.

    None when that cannot be had or relied on: a folder is missing or has too many files, a file is new.
    """
    states: list[tuple[str, tuple[int, ...]]] = []
    try:
        for folder in folders:
            for path in _files(folder):
                states.append((str(path.absolute()), _state(path)))
                if len(states) > _MOST_FILES:
                    return None
    except OSError:
        return None
    newest = max((max(state[-2:]) for _, state in states), default=None)
    if newest is None or newest > time.time_ns() - SETTLED_S * 1e9:
        return None
    return hashlib.sha256(repr(states).encode("utf-8", "surrogatepass")).hexdigest()


def _fingerprint_of(name: str) -> str | None:
    folder = builtin_folder("token-encoder") if name == DPR else Path(name).expanduser()
    if is_base(name):
        return fingerprint(base_folders())
    if is_student(folder):
        return fingerprint([folder, *base_folders()])
    if folder.is_dir():
        return fingerprint([folder])
    return name if is_pinned(name) else None


def _files(folder: Path) -> Iterator[Path]:
    """Every file, links followed as loading does, sorted within each folder."""
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _files(Path(entry.path))
        else:
            yield Path(entry.path)


def _state(path: Path) -> tuple[int, ...]:
    status = path.stat()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
