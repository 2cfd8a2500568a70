"""The model card of what was trained: what it is, the command, the data, the figures.

The form is that of Hugging Face's cards. Source: Mitchell et al., "Model Cards for Model Reporting", 2019.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ...models.locate import BASE_HUB_NAME, BASE_NAMES, BASE_SHA256, file_sha256, is_base
from .record import RECORD

CARD = "README.md"

Trained = Literal["reader", "cross-encoder", "student"]
ABOUT: Mapping[Trained, tuple[str, str]] = {
    "reader": (
        "question-answering",
        "Points at the answer of a question in a passage, or at [CLS] when the passage does not hold it.",
    ),
    "cross-encoder": (
        "text-ranking",
        "Reads a question and a passage together, and scores how well the passage answers.",
    ),
    "student": (
        "sentence-similarity",
        "Makes a vector of each token for late interaction, and one vector of a whole question or passage.",
    ),
}
STORED = {
    "differences": f"The weights are differences from the base, sha256 `{BASE_SHA256}`.",
    "whole": "The weights are all there, in the files of transformers; training began with `{base}`.",
}


@dataclass(frozen=True, slots=True)
class Training:
    """What was trained, by which command, on which files or folders, and how it is used from here on."""

    trained: Trained
    command: str
    data: Sequence[Path]
    use: str


def write_card(out: Path, training: Training) -> bool:
    """Writes `out/README.md` from `out/training.json`; False where there is one, which is left as it is."""
    path = out / CARD
    if path.exists():
        return False
    record = json.loads((out / RECORD).read_text(encoding="utf-8"))
    path.write_text("\n".join(_lines(out, training, record)) + "\n", encoding="utf-8")
    return True


def _lines(out: Path, training: Training, record: Mapping[str, Any]) -> Iterator[str]:
    tag, about = ABOUT[training.trained]
    base = record.get("base", BASE_NAMES[0])
    base = BASE_HUB_NAME if is_base(base) else base
    yield from ("---", f"base_model: {base.partition('@')[0]}", f"pipeline_tag: {tag}", "---")
    yield from (f"# {out.resolve().name}", "", about, "")
    yield STORED[record.get("form", "differences")].format(base=base)
    yield from ("", "## Recipe", "", f"    {training.command}", "")
    yield from ("| setting | value |", "|---|---|")
    yield from (f"| {name} | {value} |" for name, value in _settings(record["recipe"]))
    yield from ("", "## Data", "")
    yield from (_data_line(path) for path in training.data)
    counts = {name: record[name] for name in record if name not in ("recipe", "evaluations")}
    yield from ("", *(f"- {name.replace('_', ' ')}: {value}" for name, value in counts.items()))
    yield from ("", "## Figures", "", "On held-back data, by which the weights were chosen:", "")
    names = list(record["evaluations"][-1])
    yield from (f"| {' | '.join(names)} |", "|---" * len(names) + "|")
    yield from (f"| {' | '.join(_shown(row[name]) for name in names)} |" for row in record["evaluations"])
    yield from ("", "## Limits", "", "Nothing but the figures above was measured. It is used with:", "")
    yield f"    {training.use}"


def _settings(recipe: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in recipe.items():
        if isinstance(value, Mapping):
            yield from _settings(value)
        else:
            yield name.replace("_", " "), value


def _data_line(path: Path) -> str:
    return (
        f"- `{path.name}`, sha256 `{file_sha256(path)}`" if path.is_file() else f"- the folder `{path.name}`"
    )


def _shown(value: float) -> str:
    return str(int(value)) if value == int(value) else f"{value:.4g}"
