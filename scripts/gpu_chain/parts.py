"""Files cut into parts of a limited size, each with its digest, and joined again on the other machine.

A folder of parts has `manifest.json`: for each file its size and sha256, and those of its parts in order.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from spanwise.errors import DataMalformed
from spanwise.models.model_files import file_sha256

MANIFEST = "manifest.json"
BLOCK = 1 << 20  # bytes


@dataclass(frozen=True, slots=True)
class Part:
    """The name of a part, its size in bytes, and its sha256."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Cut:
    """A file that was cut: its size in bytes, its sha256, and its parts in order."""

    size: int
    sha256: str
    parts: tuple[Part, ...]


def cut(path: Path, folder: Path, most: int) -> Cut:
    """Writes the parts of a file, of nearly equal size and at most `most` bytes each, to a folder."""
    size = path.stat().st_size
    n_parts = max(1, -(-size // most))
    each = max(1, -(-size // n_parts))
    parts = []
    with path.open("rb") as file:
        for number in range(n_parts):
            content = file.read(each)
            name = f"{path.name}.{number:02}"
            (folder / name).write_bytes(content)
            parts.append(Part(name, len(content), hashlib.sha256(content).hexdigest()))
    return Cut(size, file_sha256(path), tuple(parts))


def write_manifest(folder: Path, cuts: Mapping[str, Cut]) -> None:
    """Writes what a folder of parts belongs to."""
    record = {name: asdict(one) for name, one in cuts.items()}
    (folder / MANIFEST).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def read_manifest(folder: Path) -> dict[str, Cut]:
    """The files of a folder of parts by name; DataMalformed without a manifest, or for a damaged one."""
    path = folder / MANIFEST
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        return {
            name: Cut(one["size"], one["sha256"], tuple(Part(**part) for part in one["parts"]))
            for name, one in record.items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataMalformed(f"{path} cannot be read: {error!r}. Make or carry it again") from error


def missing(one: Cut, folders: Sequence[Path]) -> list[str]:
    """The names of the parts that are in none of the folders."""
    return [part.name for part in one.parts if _place(part, folders) is None]


def join(one: Cut, folders: Sequence[Path], target: Path) -> None:
    """Writes a file from its parts; DataMalformed names a part that is missing or damaged."""
    unfinished = target.with_name(f"{target.name}.part")
    digest = hashlib.sha256()
    with unfinished.open("wb") as file:
        for part in one.parts:
            for block in _blocks(part, folders):
                digest.update(block)
                file.write(block)
    if digest.hexdigest() != one.sha256:
        unfinished.unlink()
        raise DataMalformed(f"{target.name}: its parts are whole and do not belong together. Make them again")
    unfinished.replace(target)


def check(part: Part, folders: Sequence[Path]) -> Path:
    """Where a part is; DataMalformed when it is missing or damaged."""
    path = _place(part, folders)
    if path is None:
        raise DataMalformed(f"{part.name} is missing. Carry it")
    if path.stat().st_size != part.size or file_sha256(path) != part.sha256:
        raise DataMalformed(f"{path} is damaged: its size or sha256 differs. Carry it again")
    return path


def _blocks(part: Part, folders: Sequence[Path]) -> Iterator[bytes]:
    with check(part, folders).open("rb") as file:
        while block := file.read(BLOCK):
            yield block


def _place(part: Part, folders: Iterable[Path]) -> Path | None:
    return next((folder / part.name for folder in folders if (folder / part.name).is_file()), None)
