"""`spanwise train reader`: the model that finds the span of an answer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..arguments import JsonOption
from .options import (
    AccumulateOption,
    AverageOption,
    BatchOption,
    EpochsOption,
    LayerDecayOption,
    LengthOption,
    LimitOption,
    OutOption,
    PrecisionOption,
    RateOption,
    StoredPrecision,
)
from .run import read_lists, show_trained, told_run


def reader(
    data: Annotated[
        list[Path], typer.Option("--data", help="SQuAD-format files; may be given several times.")
    ],
    out: OutOption,
    start: Annotated[
        str, typer.Option(help="What it begins with: base, builtin, or the folder of a reader.")
    ] = "base",
    absent: Annotated[
        list[str] | None,
        typer.Option(
            help="Unanswerable questions made for each answerable one, as KIND=SHARE; may be given several "
            "times. Kinds: article, retrieved, figures, names, opposites, negation. Default: article=0.33."
        ),
    ] = None,
    lists: Annotated[
        Path | None,
        typer.Option(
            help="Made by `train negatives`: passages for unanswerable questions of the kind retrieved."
        ),
    ] = None,
    limit: LimitOption = None,
    epochs: EpochsOption = 1,
    learning_rate: RateOption = 2e-4,
    layer_decay: LayerDecayOption = 1.0,
    average: AverageOption = 0.0,
    batch_tokens: BatchOption = 6144,
    accumulate: AccumulateOption = 1,
    max_length: LengthOption = 320,
    sentence_weight: Annotated[
        float,
        typer.Option(
            min=0, help="Weight of a head that finds the sentence that carries the answer; 0: no such head."
        ),
    ] = 0.2,
    precision: PrecisionOption = StoredPrecision.int8,
    seed: Annotated[int, typer.Option(help="Seed of order, windows and the made-up absent questions.")] = 0,
    json: JsonOption = False,
) -> None:
    """Fine-tune the span reader on SQuAD-format data; an interrupted run goes on where it stopped."""
    from ....corpora.squad import read_squad
    from ....models.training import Recipe
    from ....reader.training import ReaderRecipe
    from ...training.train_reader import ABSENT, train_reader

    shares = dict(map(_share, absent)) if absent else ABSENT
    loop = Recipe(
        learning_rate=learning_rate,
        seed=seed,
        accumulate=accumulate,
        layer_decay=layer_decay,
        average=average,
    )
    recipe = ReaderRecipe(
        loop,
        epochs,
        batch_tokens=batch_tokens,
        max_length=max_length,
        sentence_weight=sentence_weight,
    )
    datasets = [read_squad(path) for path in data]
    found = read_lists(lists) if lists else []
    with told_run(out) as report:
        evaluations = train_reader(
            datasets, out, recipe, limit, precision.value, start, shares, found, report
        )
    data_used = [*data, *([lists] if lists else [])]
    use = f"spanwise ask … --reader {out}"
    show_trained(out, "reader", data_used, use, evaluations, json, digits=2)


def _share(given: str) -> tuple[str, float]:
    kind, _, share = given.partition("=")
    try:
        return kind, float(share)
    except ValueError:
        raise typer.BadParameter(f"{given!r}: expected KIND=SHARE", param_hint="--absent") from None
