"""Delta files: fine-tuned models as differences from the base, read without torch.

| key          | tensor                                                                       |
|--------------|------------------------------------------------------------------------------|
| `NAME:new`   | a weight that the base lacks, float32                                        |
| `NAME:f32`   | the difference d of a vector (bias, layer norm), float32                     |
| `NAME:q8`    | the difference d of a matrix as q = round(127 d / max abs(d) of the row)     |
| `NAME:scale` | max abs(d) / 127 of each row, float32 (rows, 1), so that d = q * scale       |

The error of a weight is at most 1/254 of the largest change in its row. The metadata names the format and the
digest of the base. `weights` writes these files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spanwise.errors import ModelRejected

from .batching import Vectors
from .model_files import BASE_SHA256, read_tensors

DELTA_FORMAT = "spanwise-delta-2"

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class DeltaWeight:
    """A weight of a delta file.

    values: the weight, or its difference from the base, float32.
    is_new: True for a weight that the base lacks.
    """

    values: Vectors
    is_new: bool


def read_delta(path: Path) -> dict[str, DeltaWeight]:
    """The weights of a delta file by name.

    Raises ModelRejected for a damaged file, another format, and a file made for another base.
    """
    stored, metadata = read_tensors(path)
    if metadata.get("format") != DELTA_FORMAT:
        raise ModelRejected(f"{path} has the format {metadata.get('format')!r}, expected {DELTA_FORMAT!r}")
    if metadata.get("base_sha256") != BASE_SHA256:
        raise ModelRejected(f"{path} was not made for the base with sha256 {BASE_SHA256}")
    weights = {}
    for key in sorted(stored):
        name, _, kind = key.rpartition(":")
        values = stored[key]
        if kind == "scale":
            continue
        if kind == "q8":
            scale = stored.get(f"{name}:scale")
            if scale is None or scale.shape != (len(values), 1):
                raise ModelRejected(f"{path}: {key} lacks its scale, or their shapes do not fit")
            values = values * scale
        elif kind not in ("new", "f32"):
            raise ModelRejected(f"{path}: {key} is of an unknown kind")
        weights[name] = DeltaWeight(values, is_new=kind == "new")
    return weights


def changed_weights(base: Arrays, path: Path, prefix: str = "") -> dict[str, Vectors]:
    """The weights that a delta file changes in the base or adds to it.

    `prefix`: what the names in the file may start with and those of the base do not. Raises ModelRejected as
    `read_delta` does, for a difference from a weight that the base lacks, and for weights that are not
    finite.
    """
    changed = {}
    for long_name, weight in read_delta(path).items():
        name = long_name.removeprefix(prefix)
        values = weight.values
        if not weight.is_new:
            if name not in base or base[name].shape != values.shape:
                raise ModelRejected(f"{path}: the weight {name} does not fit the model")
            values = base[name] + values
        if not np.isfinite(values).all():
            raise ModelRejected(f"{path}: the weight {name} is not finite")
        changed[name] = values
    return changed
