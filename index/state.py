"""One generation of an index: what a commit makes visible, and the seal that proves it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class SegmentEntry:
    """A segment as the catalog names it: by the digest of its manifest. `rows` counts deleted ones too."""

    id: str
    kind: str
    model: str
    rows: int


@dataclass(frozen=True, slots=True)
class State:
    """Counts over what is live, and the seal over everything that decides what is searched."""

    generation: int
    n_documents: int
    n_passages: int
    seal: str


def seal(
    generation: int,
    n_documents: int,
    n_passages: int,
    settings: Mapping[str, str],
    segments: Sequence[SegmentEntry],
    deleted: NDArray[np.int64],
) -> str:
    """The digest over counts, settings, segment names and deleted passages: a lost row breaks it."""
    named = [(entry.id, entry.kind, entry.model, entry.rows) for entry in segments]
    head = json.dumps([generation, n_documents, n_passages, sorted(settings.items()), named])
    return hashlib.sha256(head.encode("utf-8") + deleted.astype("<i8").tobytes()).hexdigest()
