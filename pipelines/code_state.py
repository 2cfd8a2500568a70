"""Which code is running, so that what other code computed is not taken for its own work."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from spanwise import __version__

FOLDERS = ("spanwise", "corpora", "models", "index", "retrieval", "reader", "pipelines", "eval")
_ROOT = Path(__file__).resolve().parent.parent
_BEGAN_NS = time.time_ns()


def digest_of_files(files: Iterable[Path]) -> str | None:
    """A digest over names, sizes and times; None without files, or when one changed after this began."""
    states = sorted((str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files)
    return _digest(states) if states and max(changed for *_, changed in states) <= _BEGAN_NS else None


def code_state() -> str | None:
    """The version, and a digest over names, sizes and times of the source files.

    None when one of them changed after this process began: then old and new code may be mixed in it.
    """
    states = sorted(_states())
    if max(changed for _, _, changed in states) > _BEGAN_NS:
        return None
    return f"{__version__} {_digest(states)}"


def _digest(states: list[tuple[str, int, int]]) -> str:
    return hashlib.sha256(repr(states).encode("utf-8", "surrogatepass")).hexdigest()


def _states() -> Iterator[tuple[str, int, int]]:
    for folder in (_ROOT, *(_ROOT / name for name in FOLDERS)):
        for place, below, names in os.walk(folder):
            for name in names:
                if name.endswith(".py"):
                    status = Path(place, name).stat()
                    yield f"{place}/{name}", status.st_size, status.st_mtime_ns
            if place == str(_ROOT):
                below.clear()  # a checkout holds more than the package
