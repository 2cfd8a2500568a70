"""`spanwise train reader`: the model that finds the span of an answer."""

from __future__ import annotations

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
from .reader_options import (
    AbsentOption,
    EvaluationsOption,
    PatienceOption,
    ReaderBaseOption,
    ReaderStartOption,
    SquadOption,
    share_of,
)
from .run import show_trained, told_run


def reader(
    data: SquadOption,
    out: OutOption,
    base: ReaderBaseOption = "base",
    start: ReaderStartOption = "base",
    absent: AbsentOption = None,
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
    evaluations: EvaluationsOption = None,
    patience: PatienceOption = 0,
    precision: PrecisionOption = StoredPrecision.int8,
    seed: Annotated[int, typer.Option(help="Seed of order, windows and the made-up absent questions.")] = 0,
    json: JsonOption = False,
) -> None:
    """Fine-tune a span reader on SQuAD-format data; an interrupted run goes on where it stopped."""
    from ....corpora.squad import read_squad
    from ....models.training import Recipe, evenly
    from ....reader.training import ReaderRecipe
    from ...training.train_reader import ABSENT, train_reader

    shares = dict(map(share_of, absent)) if absent else ABSENT
    loop = Recipe(
        learning_rate=learning_rate,
        seed=seed,
        accumulate=accumulate,
        layer_decay=layer_decay,
        average=average,
        patience=patience,
        evaluate_at=evenly(evaluations) if evaluations else Recipe().evaluate_at,
    )
    recipe = ReaderRecipe(
        loop,
        epochs,
        batch_tokens=batch_tokens,
        max_length=max_length,
        sentence_weight=sentence_weight,
    )
    datasets = [read_squad(path) for path in data]
    with told_run(out) as report:
        figures = train_reader(
            datasets,
            out,
            recipe,
            limit,
            precision.value,
            start,
            shares,
            report,
            base=base,
        )
    show_trained(out, "reader", data, f"spanwise ask … --reader {out}", figures, json, digits=2)
