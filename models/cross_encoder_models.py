"""A cross-encoder by name: what its files say of it and its digest, known before anything is loaded.

builtin                  the base with the differences that are part of the package
FOLDER                   differences from the base, as `spanwise train reranker` writes them
FOLDER, NAME@REVISION    a model of transformers for sequence classification with one output, or a
                         CrossEncoder of sentence-transformers, with safetensors weights
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from pathlib import Path

from spanwise.errors import ModelNotFound

from .classifier_config import classifier_settings
from .locate import BASE_SHA256, BUILTIN, file_sha256, find_model
from .tower import weights_of

DELTA = "cross-encoder.safetensors"
MAX_LENGTH = 384  # tokens of a pair, of a model that is stored as differences


@dataclass(frozen=True, slots=True)
class PairModel:
    """The network in `folder`; `is_delta` when it is stored as its differences from the base.

    `max_length` is the limit in tokens that is stated below that of the transformer, None without one.
    """

    weights: tuple[str, ...]
    folder: Path = field(compare=False)
    is_delta: bool = False
    max_length: int | None = None
    lowercase: bool = False

    @property
    def digest(self) -> str:
        """The sha256 that names all that scores depend on."""
        stated = f"max_length={self.max_length} lowercase={self.lowercase}"
        return hashlib.sha256(" ".join([*self.weights, stated]).encode()).hexdigest()


def pair_model_of(name: str) -> PairModel:
    """The description of a model; ModelNotFound, or ModelRejected for what is unsafe or no cross-encoder."""
    own = cross_encoder_folder(name)
    if (own / DELTA).is_file():
        return PairModel((BASE_SHA256, file_sha256(own / DELTA)), own, True, MAX_LENGTH)
    if name == BUILTIN:
        raise ModelNotFound(
            "the built-in cross-encoder is not part of this installation: name another one, a folder that "
            "`spanwise train reranker` made or name@revision of a cross-encoder on the Hugging Face hub"
        )
    folder, max_length, lowercase = classifier_settings(find_model(name))
    return PairModel(weights_of(folder), folder, False, max_length, lowercase)


def cross_encoder_digest(name: str) -> str:
    """The digest that the cross-encoder of that name has. Nothing is loaded."""
    return pair_model_of(name).digest


def cross_encoder_folder(name: str) -> Path:
    """The folder that a name stands for, if it is a folder's."""
    if name != BUILTIN:
        return Path(name).expanduser()
    with as_file(files("spanwise.models") / "weights" / "cross-encoder") as folder:
        return Path(folder)
