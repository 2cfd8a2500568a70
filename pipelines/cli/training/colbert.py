"""`spanwise train colbert`: the student, whose vectors an index holds."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Annotated

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

if TYPE_CHECKING:
    from ....retrieval.training.student import Distil


class Loss(str, Enum):  # noqa: UP042 (typer shows the values of this kind)
    """What is learned from: the teacher's distribution, its margins, or labels alone."""

    kl = "kl"
    margin_mse = "margin-mse"
    labels = "labels"


def colbert(
    lists: ListsOption,
    validation: HeldOutOption,
    out: OutOption,
    start: Annotated[
        str, typer.Option(help="What it begins with: base, builtin, or the folder of a student.")
    ] = "base",
    loss: Annotated[
        Loss, typer.Option(help="Of each list: KL to the teacher, MarginMSE, or labels without a teacher.")
    ] = Loss.kl,
    temperature: Annotated[
        float, typer.Option(min=1e-6, help="The teacher's scores are divided by it.")
    ] = 2.0,
    student_temperature: Annotated[
        float, typer.Option(min=1e-6, help="The student's MaxSim is divided by it.")
    ] = 0.25,
    dense_temperature: Annotated[
        float, typer.Option(min=1e-6, help="The cosine of its dense heads is divided by it.")
    ] = 0.05,
    labels: Annotated[float, typer.Option(min=0.0, help="Weight of the loss of in-batch negatives.")] = 0.5,
    dense: Annotated[float, typer.Option(min=0.0, help="Weight of both losses of the dense heads.")] = 0.5,
    limit: LimitOption = None,
    epochs: EpochsOption = 1,
    negatives: NegativesOption = 3,
    learning_rate: RateOption = 1e-4,
    batch_tokens: BatchOption = 12288,
    accumulate: AccumulateOption = 1,
    max_length: LengthOption = 256,
    frozen_layers: Annotated[
        int, typer.Option(min=0, help="So many first layers, with the embeddings, stay as they are.")
    ] = 0,
    precision: PrecisionOption = StoredPrecision.int8,
    seed: TrainingSeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Distil a teacher into token vectors and dense heads; an interrupted run goes on where it stopped."""
    from ....models.training import TrainingConfig
    from ....retrieval.training.student import StudentRecipe
    from ...training.train_student import train_student

    recipe = StudentRecipe(
        TrainingConfig(learning_rate=learning_rate, seed=seed, accumulate=accumulate, evaluate_at=(0.5, 1.0)),
        epochs=epochs,
        negatives=negatives,
        batch_tokens=batch_tokens,
        max_length=max_length,
        distil=_distil(loss),
        tau=student_temperature,
        dense_tau=dense_temperature,
        t_teacher=temperature,
        labels=labels,
        dense=dense,
        frozen_layers=frozen_layers,
    )
    examples, held_out = read_lists(lists), read_lists(validation)
    if recipe.distil != "none" and not all(one.scores for one in examples):
        raise ValueError(
            f"{lists} lacks a teacher's scores: take --loss labels, or make them with: "
            f"spanwise train scores --lists {lists} --out …"
        )
    with told_run(out) as report:
        evaluations = train_student(examples, held_out, out, recipe, start, limit, precision.value, report)
    show_trained(out, "student", [lists, validation], f"spanwise index … --colbert {out}", evaluations, json)


def _distil(loss: Loss) -> Distil:
    match loss:
        case Loss.kl:
            return "kl"
        case Loss.margin_mse:
            return "margin-mse"
    return "none"
