"""`spanwise train cross-encoder`: the teacher, which also re-ranks."""

from __future__ import annotations

from typing import Annotated

import typer

from ..arguments import JsonOption
from .options import (
    AccumulateOption,
    BatchOption,
    EpochsOption,
    HeldOutOption,
    LengthOption,
    LimitOption,
    ListsOption,
    NegativesOption,
    OutOption,
    PrecisionOption,
    RateOption,
    StoredPrecision,
    TrainingSeedOption,
)
from .run import read_lists, show_trained, told_run


def cross_encoder(
    lists: ListsOption,
    validation: HeldOutOption,
    out: OutOption,
    start: Annotated[
        str, typer.Option(help="What it begins with: base, or reader, which knows of questions and passages.")
    ] = "reader",
    limit: LimitOption = None,
    epochs: EpochsOption = 1,
    negatives: NegativesOption = 3,
    learning_rate: RateOption = 1e-4,
    batch_tokens: BatchOption = 6144,
    accumulate: AccumulateOption = 1,
    max_length: LengthOption = 320,
    precision: PrecisionOption = StoredPrecision.int8,
    seed: TrainingSeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Train a cross-encoder on lists: the positive passage has to win; an interrupted run goes on."""
    from ....models.training import TrainingConfig
    from ....retrieval.training.cross_encoder import CrossEncoderRecipe
    from ...training.train_cross_encoder import train_cross_encoder

    loop = TrainingConfig(
        learning_rate=learning_rate, seed=seed, accumulate=accumulate, evaluate_at=(0.5, 1.0)
    )
    recipe = CrossEncoderRecipe(loop, epochs, negatives, batch_tokens, max_length)
    examples, held_out = read_lists(lists), read_lists(validation)
    with told_run(out) as report:
        evaluations = train_cross_encoder(
            examples, held_out, out, recipe, start, limit, precision.value, report
        )
    use = f"spanwise train scores … --teacher {out}"
    show_trained(out, "cross-encoder", [lists, validation], use, evaluations, json)
