"""`spanwise calibrate`: fit a reader's confidence."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..default_retriever import DEFAULT_RETRIEVER
from .arguments import RETRIEVER, JsonOption, RetrieverOption
from .terminal import print_json, progress, say


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
