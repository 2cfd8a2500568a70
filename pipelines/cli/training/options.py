"""The arguments that several verbs of `train` share."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer


class StoredPrecision(str, Enum):  # noqa: UP042 (typer shows the values of this kind)
    """How the differences from the base are stored."""

    bf16 = "bf16"
    int8 = "int8"
    int6 = "int6"
    int4 = "int4"
    int3 = "int3"
    int2 = "int2"


OutOption = Annotated[
    Path, typer.Option(help="Folder for the weights and the checkpoint; the same one resumes.")
]
ListsOption = Annotated[
    Path,
    typer.Option(help="A lists.jsonl of questions with passages, or the folder of `train negatives`."),
]
HeldOutOption = Annotated[
    Path, typer.Option("--validation", help="Lists that are not trained on, to select the weights by.")
]
LimitOption = Annotated[
    int | None, typer.Option(min=1, help="Train on so many questions, drawn by the seed.")
]
EpochsOption = Annotated[int, typer.Option(min=1, help="Passes over the data.")]
RateOption = Annotated[float, typer.Option(min=0.0, help="Peak learning rate.")]
AccumulateOption = Annotated[
    int, typer.Option(min=1, help="How many batches make one step: more in less memory.")
]
LayerDecayOption = Annotated[
    float, typer.Option(min=0.01, max=1.0, help="Each layer learns so much slower than the one above it.")
]
AverageOption = Annotated[
    float,
    typer.Option(
        min=0.0, max=0.9999, help="Decay of a moving average of the weights, which is kept; 0: none."
    ),
]
NegativesOption = Annotated[
    int, typer.Option(min=1, help="Negatives of a list in a step, drawn anew for each epoch.")
]
BatchOption = Annotated[int, typer.Option(min=256, help="Tokens of a batch, padding included.")]
LengthOption = Annotated[int, typer.Option(min=80, help="Longest input in tokens; more is cut off.")]
TrainingSeedOption = Annotated[int, typer.Option(help="Seed of the order and of all that is drawn.")]
PrecisionOption = Annotated[
    StoredPrecision, typer.Option(help="How the weights are stored: fewer bits make a smaller file.")
]
