"""`spanwise train reader`: the model that finds the span of an answer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..arguments import JsonOption
from .options import (
    AccumulateOption,
    EpochsOption,
    LimitOption,
    OutOption,
    PrecisionOption,
    RateOption,
    StoredPrecision,
)
from .run import show_evaluations, told_run


def reader(
    data: Annotated[
        list[Path], typer.Option("--data", help="SQuAD-format files; may be given several times.")
    ],
    out: OutOption,
    limit: LimitOption = None,
    epochs: EpochsOption = 1,
    learning_rate: RateOption = 2e-4,
    accumulate: AccumulateOption = 1,
    precision: PrecisionOption = StoredPrecision.int8,
    seed: Annotated[int, typer.Option(help="Seed of order, windows and the made-up absent questions.")] = 0,
    json: JsonOption = False,
) -> None:
    """Fine-tune the span reader on SQuAD-format data; an interrupted run goes on where it stopped."""
    from ....corpora.squad import read_squad
    from ....models.training import Recipe
    from ....reader.training import ReaderRecipe
    from ...train_reader import train_reader

    loop = Recipe(learning_rate=learning_rate, seed=seed, accumulate=accumulate)
    datasets = [read_squad(path) for path in data]
    with told_run(out) as report:
        evaluations = train_reader(
            datasets, out, ReaderRecipe(loop=loop, epochs=epochs), limit, precision.value, report
        )
    show_evaluations(out, evaluations, json, f"spanwise ask … --reader {out}", digits=2)
