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
ColbertOption = Annotated[
    str, typer.Option("--colbert", help="The model of token vectors, for colbert: as for `index`.")
]
LimitOption = Annotated[
    int | None, typer.Option(min=1, help="Use only so many questions, drawn by the seed.")
]
SeedOption = Annotated[int, typer.Option(help="Which questions --limit draws.")]

SystemOption = Annotated[
    list[str] | None,
    typer.Option(help="Which systems of the results; may be given several times.", show_default=False),
]
MeasureOption = Annotated[
    list[str] | None,
    typer.Option(help="By which measures; may be given several times (default: all).", show_default=False),
]
QrelsOption = Annotated[
    Path | None, typer.Option(help="The judgements that TREC runs are scored by.", show_default=False)
]
PredictionsDataOption = Annotated[
    Path | None,
    typer.Option("--data", help="The SQuAD-format file that predictions are scored by.", show_default=False),
]
PermutationsOption = Annotated[
    int, typer.Option(min=1, help="Random permutations, and resamples of an interval.")
]
TestSeedOption = Annotated[int, typer.Option(min=0, help="Which permutations and resamples are drawn.")]
ShowOption = Annotated[int, typer.Option(min=0, help="How many questions are named, of each kind.")]


def print_figures(figures: dict[str, Any], json: bool) -> None:
    """Prints figures by name: aligned lines, or one JSON object."""
    if json:
        print_json(figures)
        return
    for name, value in figures.items():
        small = isinstance(value, float) and 0 < abs(value) < 0.01  # a threshold, not a percentage
        shown = f"{value:.3g}" if small else f"{value:.2f}" if isinstance(value, float) else value
        print(f"{name:20} {shown}")
