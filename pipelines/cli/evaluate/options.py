"""The arguments that several verbs of `eval` share, and how figures are printed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..terminal import print_json

DataOption = Annotated[
    Path, typer.Option("--data", help="A SQuAD-format file, plain or gzipped.", show_default=False)
]
ReaderOption = Annotated[str, typer.Option(help="builtin, a folder, or name@revision.")]
LimitOption = Annotated[
    int | None, typer.Option(min=1, help="Use only so many questions, drawn by the seed.")
]
SeedOption = Annotated[int, typer.Option(help="Which questions --limit draws.")]


def print_figures(figures: dict[str, Any], json: bool) -> None:
    """Prints figures by name: aligned lines, or one JSON object."""
    if json:
        print_json(figures)
        return
    for name, value in figures.items():
        small = isinstance(value, float) and 0 < abs(value) < 0.01  # a threshold, not a percentage
        shown = f"{value:.3g}" if small else f"{value:.2f}" if isinstance(value, float) else value
        print(f"{name:20} {shown}")
