"""The record of a training, `training.json`, and a model card in Hugging Face's form.

A mean of models has only the record.

Source: Mitchell et al., "Model Cards for Model Reporting", 2019.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spanwise.errors import ModelNotFound

from ...models.model_files import BASE_HUB_NAME, READER, STUDENT, file_sha256, read_json
from ...models.token_model import SETTINGS
from ...models.weights import save_mean
from ..evaluation.results import markdown_table

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

RUN = "run"  # the folder of checkpoints
RECORD = "training.json"
CARD = "README.md"
TEMPLATE = """---
base_model: {base}
pipeline_tag: {tag}
---
# {name}

{about}

## Settings

{settings}

## Figures

On held-out data, by which the weights were selected:

{figures}

Nothing else was measured. Use it with:

    {use}
"""
ABOUT = {
    "reader": ("question-answering", "Finds the span of a passage that answers a question, or no answer."),
    "retriever": ("sentence-similarity", "Encodes texts as one vector per token (ColBERT) and one per text."),
}
USE = {"reader": "spanwise ask … --reader", "retriever": "spanwise index … --colbert"}


def write_card(
    out: Path,
    kind: str,
    config: DataclassInstance,
    record: Mapping[str, Any],
    evaluations: Sequence[Mapping[str, float]],
) -> None:
    """Writes `out/training.json`, and `out/README.md` unless there is one. `kind` is one of ABOUT."""
    _write_record(out, {**record, "config": asdict(config), "evaluations": list(evaluations)})
    if (out / CARD).exists():
        return
    tag, about = ABOUT[kind]
    names = list(evaluations[-1])
    rows = [[f"{row[name]:.4g}" for name in names] for row in evaluations]
    text = TEMPLATE.format(
        base=record.get("base", BASE_HUB_NAME).partition("@")[0],
        tag=tag,
        name=out.resolve().name,
        about=about,
        settings=markdown_table(["setting", "value"], *_flat({**record, **asdict(config)})),
        figures=markdown_table(names, *rows),
        use=f"{USE[kind]} {out}",
    )
    (out / CARD).write_text(text, encoding="utf-8")


def write_mean(out: Path, shares: Mapping[Path, float]) -> None:
    """Writes the mean of readers, or of students, over the built-in base, weighed by their shares.

    The settings are those of the first. ValueError for shares that are not above 0, ModelNotFound for folders
    that are not of one kind, ModelRejected as for `save_mean`.
    """
    if not all(share > 0 for share in shares.values()):
        raise ValueError("a share is above 0: FOLDER=0.6")
    names = [name for name in (READER, STUDENT) if all((folder / name).is_file() for folder in shares)]
    if not names:
        raise ModelNotFound(f"{', '.join(map(str, shares))} do not all hold {READER}, nor all {STUDENT}")
    out.mkdir(parents=True, exist_ok=True)
    save_mean(out / names[0], {folder / names[0]: share for folder, share in shares.items()})
    settings = read_json(next(iter(shares)) / SETTINGS)
    if "sha256" in settings:
        settings["sha256"] = file_sha256(out / names[0])
    (out / SETTINGS).write_text(json.dumps(settings, ensure_ascii=False) + "\n", encoding="utf-8")
    _write_record(out, {"mean_of": {str(folder): share for folder, share in shares.items()}})


def start_record(start: str, weights: Path | None) -> dict[str, str | None]:
    """The name that a training started from, and the sha256 of weights that are not the base's."""
    return {"start": start, "start_sha256": file_sha256(weights) if weights else None}


def _write_record(out: Path, record: Mapping[str, Any]) -> None:
    (out / RECORD).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


def _flat(values: Mapping[str, Any]) -> list[list[str]]:
    rows: list[list[str]] = []
    for name, value in values.items():
        rows += _flat(value) if isinstance(value, Mapping) else [[name.replace("_", " "), str(value)]]
    return rows
