"""`spanwise calibrate`: fit a reader's confidence."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..default_retriever import DEFAULT_RETRIEVER
from .arguments import RETRIEVER, JsonOption, RetrieverOption
from .terminal import print_json, progress, say

MEASURES = ("ece", "ece_mass", "brier", "log_loss", "aurc", "right_at_50", "right_at_100")


def calibrate(
    data: Annotated[
        Path, typer.Option("--data", help="SQuAD train, plain or gzipped; its validation articles are used.")
    ],
    out: Annotated[
        Path,
        typer.Option(
            help="The reader's folder, for calibration.json; run/calibration in it keeps what was observed."
        ),
    ],
    retriever: RetrieverOption = RETRIEVER,
    questions: Annotated[int, typer.Option(min=50, help="How many held-back questions.")] = 1500,
    k: Annotated[int, typer.Option("-k", min=1, help="How many passages are read.")] = 20,
    seed: Annotated[int, typer.Option(help="Which questions, and which paragraphs are left out.")] = 0,
    colbert: Annotated[
        str, typer.Option(help="The model of token vectors, for a retriever that needs them.")
    ] = "builtin",
    right_f1: Annotated[
        float, typer.Option(min=0.01, max=1.0, help="The F1 from which an answer counts as right.")
    ] = 0.6,
    feature: Annotated[
        list[str] | None,
        typer.Option(
            help="A feature that ranks candidates; may be given several times. Default: all.",
            show_default=False,
        ),
    ] = None,
    confidence: Annotated[
        list[str] | None,
        typer.Option(
            help="A feature that the confidence rests on beside the evidence, or none; may be given several "
            "times. Default: of several sets the one that fits held-back questions best.",
            show_default=False,
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Fit a reader's confidence and its thresholds for declining, on held-back questions.

    Behind the default retriever it is fitted for all of them, behind another one for that alone. What is
    observed is kept: a run that was stopped goes on, and fitting again takes seconds.

    Example: spanwise calibrate --data train-v1.1.json.gz --out runs/reader --questions 2000
    """
    from ...corpora.squad import read_squad
    from ...reader.evidence import FEATURES
    from .. import calibration as fitting

    name = retriever or DEFAULT_RETRIEVER
    rests_on = None if confidence is None else [one for one in confidence if one != "none"]
    with progress() as report:
        found = fitting.calibrate(
            read_squad(data),
            out,
            name,
            k,
            questions,
            seed,
            report,
            colbert,
            feature or FEATURES,
            rests_on,
            right_f1,
        )
    fitting.keep_calibration(found.calibration, out, name)
    print_json(found.figures) if json else _show(found.figures)


def _show(figures: dict[str, Any]) -> None:
    say(f"threshold {figures['threshold']:.3f}, {figures['utility']:.1%} handled right")
    if figures["temperature"] is not None:
        say(f"temperature of the evidence {figures['temperature']:.3f}")
    say(f"{'':14}{'held back':>12}{'fitted on':>12}")
    for name in MEASURES:
        say(f"{name:14}{figures['held_back'][name]:12.4f}{figures['fitted_on'][name]:12.4f}")
    for names, loss in figures["log_losses"].items():
        say(f"log loss {loss:.4f} with {names}")
    if rule := figures["stopping"]:
        say(
            f"passages after the first {rule['first']} are left unread from margin {rule['margin']:.2f} on: "
            f"{rule['unread']:.0%} of all; another answer in {rule['changed']:.1%} of the questions"
        )
