"""`spanwise eval squad`: answers on the gold paragraphs, scored as the official scripts do."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..arguments import JsonOption
from ..terminal import progress, say
from .kept import OutOption, kept
from .options import DataOption, LimitOption, ReaderOption, SeedOption, print_figures

THRESHOLD = (
    "Decline a question whose no-answer probability is above it (SQuAD 2.0). Without it: 0.5 for a reader,"
    " where its null answer wins; 1 for a predictions file, as the official script has it."
)


def squad(
    data: DataOption,
    reader: ReaderOption = "builtin",
    limit: LimitOption = None,
    seed: SeedOption = 0,
    predictions: Annotated[
        Path | None, typer.Option(help="Score this predictions file instead of running a reader.")
    ] = None,
    na_probs: Annotated[
        Path | None, typer.Option(help="The no-answer probabilities of the predictions (SQuAD 2.0).")
    ] = None,
    na_prob_thresh: Annotated[float | None, typer.Option(help=THRESHOLD, show_default=False)] = None,
    out: OutOption = None,
    save: Annotated[
        Path | None, typer.Option(help="Write the predictions there, as the official script reads them.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Score answers on the gold paragraphs as the official SQuAD scripts do."""
    from ...evaluation.squad import open_task
    from ...evaluation.squad_predictions import evaluate_predictions
    from ...evaluation.squad_reader import PREDICTIONS, evaluate_squad

    if predictions is None and na_probs is not None:
        raise ValueError("--na-probs belongs to --predictions; a reader gives probabilities of its own")
    if predictions is not None and save is not None:
        raise ValueError("--save is for the predictions of a reader; expected no --predictions beside it")
    task = open_task(data, limit, seed, na_prob_thresh, tell=say)
    if predictions is not None:
        with kept(out) as folder:
            figures = evaluate_predictions(task, predictions, na_probs, folder, tell=say)
        print_figures(figures, json)
        return
    from ....reader.builtin import load_reader

    with kept(out) as folder, progress() as report:
        figures = evaluate_squad(task, load_reader(reader), folder, reader, report)
        if save is not None:
            save.write_bytes((folder / PREDICTIONS).read_bytes())
    print_figures(figures, json)
