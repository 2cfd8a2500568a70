"""`spanwise eval generation`: texts that some generator wrote, judged by references."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..arguments import JsonOption
from ..terminal import print_json, progress, say
from .kept import OutOption, kept


def generation(
    data: Annotated[
        Path,
        typer.Option(help='JSON lines: "references", and "id", "prediction", "question", "confidence".'),
    ],
    predictions: Annotated[
        Path | None, typer.Option(help="A JSON object from id to text: the texts to judge.")
    ] = None,
    stem: Annotated[bool, typer.Option("--stem", help="Compare stems of words in ROUGE.")] = False,
    out: OutOption = None,
    json: JsonOption = False,
) -> None:
    """Judge generated texts by their references: ROUGE, BLEU, variety and repetition of their wording."""
    from ...evaluation.generation import evaluate_generation

    with kept(out) as folder, progress() as report:
        figures = evaluate_generation(data, folder, predictions, stem, report, tell=say)
    if json:
        print_json(figures)
        return
    for name, value in figures.items():
        if not name.endswith(("_precision", "_recall")):
            print(f"{name:20} {value:.4f}" if isinstance(value, float) else f"{name:20} {value}")
