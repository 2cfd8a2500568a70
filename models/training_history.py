"""What a run of the training loop has kept of its past: a loss for each step, and the evaluations."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from spanwise.errors import ModelRejected

CHECKPOINT = "checkpoint.safetensors"


@dataclass(frozen=True, slots=True)
class History:
    """`losses[i]` is that of step i + 1 of `steps`; an evaluation has its `step` beside its figures."""

    steps: int
    losses: Sequence[float]
    evaluations: Sequence[Mapping[str, float]]


def read_history(run: Path) -> History:
    """The history of the run in a folder, of a finished or an unfinished one."""
    record = read_run(run / CHECKPOINT)
    return History(record["steps"], record["losses"], record["evaluations"])


def read_run(path: Path) -> dict[str, Any]:
    """The record in a checkpoint's metadata; ModelRejected for a file that is no checkpoint."""
    try:
        with safe_open(path, framework="np") as file:
            record = json.loads((file.metadata() or {})["run"])
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise ModelRejected(f"{path}: no checkpoint of a training run: {error}") from error
    if not isinstance(record, dict):
        raise ModelRejected(f"{path}: no checkpoint of a training run")
    return record
