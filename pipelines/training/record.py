"""What a training leaves beside the weights: how they were made."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...models.locate import file_sha256
from ...models.training import read_history
from ...models.weights import Precision

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

RECORD = "training.json"
RUN = "run"


def write_record(
    out: Path,
    recipe: DataclassInstance,
    data: Mapping[str, Any],
    precision: Precision,
    evaluations: Sequence[Mapping[str, float]],
) -> None:
    """Writes `out/training.json`; `data` is what was learned from, and how much.

    A run that its patience ended has fewer `steps` than `steps_planned`.
    """
    history = read_history(out / RUN)
    ran = {"steps": len(history.losses), "steps_planned": history.steps}
    record = {
        "recipe": asdict(recipe),
        **data,
        "precision": precision,
        **ran,
        "evaluations": list(evaluations),
    }
    (out / RECORD).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


def started(start: str, weights: Path | None) -> dict[str, str | None]:
    """What a training began with: the name, and the sha256 of the weights where they are not the base's."""
    return {"start": start, "start_sha256": file_sha256(weights) if weights else None}
