"""What a training writes beside the weights: `training.json`, and a model card in Hugging Face's form.

Source: Mitchell et al., "Model Cards for Model Reporting", 2019.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...models.locate import BASE_HUB_NAME, file_sha256

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

RUN, RECORD, CARD = "run", "training.json", "README.md"
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
    "retriever": ("sentence-similarity", "Encodes texts as a vector a token (ColBERT) and a vector a text."),
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
    whole = {**record, "config": asdict(config), "evaluations": list(evaluations)}
    (out / RECORD).write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")
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
        settings=_table(["setting", "value"], _flat({**record, **asdict(config)})),
        figures=_table(names, rows),
        use=f"{USE[kind]} {out}",
    )
    (out / CARD).write_text(text, encoding="utf-8")


def start_record(start: str, weights: Path | None) -> dict[str, str | None]:
    """What a training started from: the name, and the sha256 of weights that are not the base's."""
    return {"start": start, "start_sha256": file_sha256(weights) if weights else None}


def _flat(values: Mapping[str, Any]) -> list[list[str]]:
    found: list[list[str]] = []
    for name, value in values.items():
        found += _flat(value) if isinstance(value, Mapping) else [[name.replace("_", " "), str(value)]]
    return found


def _table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [names, ["---"] * len(names), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
