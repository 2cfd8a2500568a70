"""One tower of a bi-encoder: how the texts of one side, questions or passages, become vectors.

A tower is read from a folder's configuration without loading anything: its weights are known by their
digests. So two towers are equal when they compute the same, wherever they lie, and the digest of a model is
known before torch is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from .linear_layer import LinearLayer
from .locate import WEIGHTS, file_sha256

Side = Literal["question", "passage"]
Digests = Callable[[Path], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Tower:
    """A transformer in `folder`, then pooling, then linear layers; vectors are compared by their cosine.

    `inner_product` says that they are compared by their inner product instead, and `dpr` that the
    transformer is stored as that side of the DPR paper's model, with its projection. `max_length` is the
    limit in tokens that the folder states below that of the transformer, None without one. `pools_prompt`
    is False when the prompt's tokens are seen by the others but not pooled. `delta` is a file of differences
    that make the transformer out of the base in `folder`.
    """

    weights: tuple[str, ...]
    folder: Path = field(compare=False)
    pooling: str = "mean"
    layers: tuple[LinearLayer, ...] = ()
    inner_product: bool = False
    prompt: str = ""
    pools_prompt: bool = True
    max_length: int | None = None
    lowercase: bool = False
    dpr: Side | None = None
    delta: Path | None = field(default=None, compare=False)

    @property
    def digest(self) -> str:
        """The sha256 that names what the tower computes: weights, pooling, and whatever else is not plain."""
        stated = {
            "layers": [(layer.n_out, layer.activation, layer.sha256) for layer in self.layers],
            "inner_product": self.inner_product,
            "prompt": self.prompt,
            "prompt_not_pooled": bool(self.prompt) and not self.pools_prompt,
            "max_length": self.max_length,
            "lowercase": self.lowercase,
        }
        extras = [f"{name}={value!r}" for name, value in stated.items() if value]
        return hashlib.sha256(" ".join([*self.weights, self.pooling, *extras]).encode()).hexdigest()


def weights_of(folder: Path) -> tuple[str, ...]:
    """The sha256 of each weights file of a folder, by name."""
    return tuple(file_sha256(path) for path in sorted(folder.glob("*.safetensors"))) or (
        file_sha256(folder / WEIGHTS),
    )
