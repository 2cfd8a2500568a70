"""The cache of an index: for each model one directory of codes, written like a segment, named by its digest.

<index>/cache/<sha256 of manifest.json>/

It can be deleted at any time, and searches then look at every vector. A damaged, foreign or old one is passed
over; the next writer replaces it.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator
from pathlib import Path

from spanwise.errors import SpanwiseError

from .atomic import make_folder
from .codes import KIND, Codes
from .segment import UNFINISHED, Segment, is_segment_name, open_segment
from .segment_writer import write_segment

CACHE = "cache"


def code_names(folder: Path) -> tuple[str, ...]:
    """The names of all codes, each a digest of what it names: as long as they stay, so do search results."""
    return tuple(path.name for path in _entries(folder))


def read_codes(folder: Path, model: str) -> Codes | None:
    """The codes of a model, with every byte compared with its digest; None when none can be trusted."""
    for path in _entries(folder):
        segment = _open(path)
        if segment is not None and (segment.kind, segment.model) == (KIND, model):
            try:
                segment.check_file()
                return Codes.from_columns(segment.columns)
            except (SpanwiseError, ValueError):
                continue
    return None


def write_codes(folder: Path, model: str, codes: Codes) -> None:
    """Replace the codes of a model; only the one writer of the index may.

    The old ones go first, since they may be a damaged copy of the new ones, under the same name. Whoever
    opens the index in between looks at every vector.
    """
    make_folder(folder)
    for path in _entries(folder):
        segment = _open(path)
        if segment is None or segment.model == model:
            shutil.rmtree(path, ignore_errors=True)
    write_segment(folder, KIND, model, codes.columns())


def drop_codes(folder: Path, models: Collection[str]) -> None:
    """Delete what no writer finished, what cannot be read, and the codes of all but these models."""
    for path in _entries(folder):
        segment = _open(path)
        if segment is None or segment.model not in models:
            shutil.rmtree(path, ignore_errors=True)


def code_problems(folder: Path) -> Iterator[str]:
    """One line for each directory of codes that is not as it was written."""
    for path in _entries(folder):
        if path.name == UNFINISHED:
            continue
        try:
            segment = open_segment(path)
            segment.check_file()
            if segment.kind != KIND:
                raise ValueError(f"it holds {segment.kind}")
            Codes.from_columns(segment.columns)
        except (SpanwiseError, ValueError, OSError) as error:
            told = str(error).partition(": delete the index")[0]
            yield f"{told}: searches go on without it; delete {path}, `spanwise index FOLDER` makes it again"


def _entries(folder: Path) -> list[Path]:
    """What we may have put there. A link may lead out of the index: behind one nothing is read or deleted."""
    if folder.is_symlink() or not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if is_segment_name(path.name) and not path.is_symlink())


def _open(path: Path) -> Segment | None:
    try:
        return open_segment(path)
    except (SpanwiseError, OSError):
        return None
