"""`spanwise train` and `spanwise calibrate`: make a reader, fit its confidence."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..default_retriever import DEFAULT_RETRIEVER
from .arguments import RETRIEVER, JsonOption, RetrieverOption
from .terminal import print_json, progress, say

app = typer.Typer(
    help="Train models from the built-in base.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


@app.callback()
def train() -> None:
    """Train models from the built-in base."""


@app.command(epilog="Example: spanwise train reader --data train-v1.1.json.gz --out runs/reader")
def reader(
    data: Annotated[
        list[Path], typer.Option("--data", help="SQuAD-format files; may be given several times.")
    ],
    out: Annotated[
        Path, typer.Option(help="Folder for the weights and the checkpoint; the same one resumes.")
    ],
    limit: Annotated[
        int | None, typer.Option(min=1, help="Train on so many questions, drawn by the seed.")
    ] = None,
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the data.")] = 1,
    learning_rate: Annotated[float, typer.Option(min=0.0, help="Peak learning rate.")] = 2e-4,
    seed: Annotated[int, typer.Option(help="Seed of order, windows and the made-up absent questions.")] = 0,
    json: JsonOption = False,
) -> None:
    """Fine-tune the span reader on SQuAD-format data; an interrupted run goes on where it stopped."""
    from ...corpora.squad import read_squad
    from ...models.training import Recipe
    from ...reader.training import ReaderRecipe
    from ..train_reader import train_reader

    recipe = ReaderRecipe(loop=Recipe(learning_rate=learning_rate, seed=seed), epochs=epochs)
    with progress() as report:
        evaluations = train_reader(
            [read_squad(path) for path in data],
            out,
            recipe,
            limit,
            report=lambda p: report("steps", p.step, p.steps),
        )
    if json:
        print_json({"out": str(out), "evaluations": evaluations})
    else:
        for figures in evaluations:
            print("  ".join(f"{name} {value:.2f}" for name, value in figures.items()))
        say(f"written to {out}; use it with: spanwise ask … --reader {out}")


def calibrate(
    data: Annotated[
        Path, typer.Option("--data", help="SQuAD train, plain or gzipped; its validation articles are used.")
    ],
    out: Annotated[Path, typer.Option(help="The reader's folder; calibration.json is written there.")],
    retriever: RetrieverOption = RETRIEVER,
    questions: Annotated[int, typer.Option(min=50, help="How many held-back questions.")] = 1500,
    k: Annotated[int, typer.Option("-k", min=1, help="How many passages are read.")] = 20,
    seed: Annotated[int, typer.Option(help="Which questions, and which paragraphs are left out.")] = 0,
    json: JsonOption = False,
) -> None:
    """Fit a reader's confidence and its threshold for declining, on held-back questions.

    Behind the default retriever it is fitted for all of them, behind another one for that alone.
    """
    from ...corpora.squad import read_squad
    from ..calibration import fit_calibration, keep_calibration

    name = retriever or DEFAULT_RETRIEVER
    with progress() as report:
        calibration, threshold = fit_calibration(read_squad(data), str(out), name, k, questions, seed, report)
    keep_calibration(calibration, out, name)
    figures = {
        "threshold": threshold.value,
        "utility": threshold.utility,
        "right": threshold.outcome.right,
        "answered": threshold.outcome.answered,
        "rightly_declined": threshold.outcome.rightly_declined,
        "answerable": threshold.outcome.answerable,
        "questions": threshold.outcome.questions,
        "weights": dict(calibration.weights),
    }
    print_json(figures) if json else say(
        f"threshold {threshold.value:.3f}, {threshold.utility:.1%} handled right"
    )
