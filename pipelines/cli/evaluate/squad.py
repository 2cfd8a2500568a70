"""`spanwise eval squad`: answers on the gold paragraphs, scored as the official scripts do."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..arguments import JsonOption
from ..terminal import print_json, progress, say
from .kept import OutOption, kept
from .options import DataOption, LimitOption, ReaderOption, SeedOption, print_figures

THRESHOLD = (
    "Decline a question whose no-answer probability is above it (SQuAD 2.0). Without it: 0.5 for a reader,"
    " where its null answer wins; 1 for a predictions file, as the official script has it."
)
THRESHOLD_FROM = "The result folder of `eval squad` on held-back questions: decline as was best for their F1."
DETAILS = "Also AvNA, and figures at the best thresholds."


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
    threshold_from: Annotated[Path | None, typer.Option(help=THRESHOLD_FROM, show_default=False)] = None,
    out: OutOption = None,
    save: Annotated[
        Path | None, typer.Option(help="Write the predictions there, as the official script reads them.")
    ] = None,
    details: Annotated[bool, typer.Option("--details", help=DETAILS)] = False,
    json: JsonOption = False,
) -> None:
    """Score answers on the gold paragraphs as the official SQuAD scripts do."""
    from ...evaluation.squad import open_task
    from ...evaluation.squad_predictions import evaluate_predictions
    from ...evaluation.squad_reader import PREDICTIONS, evaluate_squad
    from ...evaluation.squad_threshold import fitted_threshold

    _check(predictions, na_probs, na_prob_thresh, threshold_from, save)
    if predictions is not None:
        task = open_task(data, limit, seed, na_prob_thresh, tell=say)
        with kept(out) as folder:
            figures = evaluate_predictions(task, predictions, na_probs, folder, tell=say)
            more = _details(folder) if details else None
        _print(figures, more, json)
        return
    from ....reader.load import load_reader

    with kept(out) as folder, progress() as report:
        model = load_reader(reader)
        if threshold_from is not None:
            na_prob_thresh = fitted_threshold(threshold_from, model.digest)
        task = open_task(data, limit, seed, na_prob_thresh, tell=say)
        figures = evaluate_squad(task, model, folder, reader, report)
        if save is not None:
            save.write_bytes((folder / PREDICTIONS).read_bytes())
        more = _details(folder) if details else None
    _print(figures, more, json)


def _check(
    predictions: Path | None,
    na_probs: Path | None,
    na_prob_thresh: float | None,
    threshold_from: Path | None,
    save: Path | None,
) -> None:
    if predictions is None and na_probs is not None:
        raise ValueError("--na-probs belongs to --predictions; a reader gives probabilities of its own")
    if predictions is not None and save is not None:
        raise ValueError("--save is for the predictions of a reader; expected no --predictions beside it")
    if threshold_from is not None and (predictions is not None or na_prob_thresh is not None):
        other = "--predictions" if predictions is not None else "--na-prob-thresh"
        raise ValueError(f"--threshold-from is for a reader without another threshold; expected no {other}")


def _details(folder: Path) -> dict[str, Any]:
    """All figures of the one system of the folder."""
    from ...evaluation.result_folder import ResultFolder

    results = ResultFolder.open(folder)
    [figures] = results.metrics["systems"].values()
    return dict(figures)


def _print(figures: dict[str, float], more: dict[str, Any] | None, json: bool) -> None:
    """The official figures alone, or everything that is known."""
    if more is None:
        print_figures(figures, json)
        return
    if json:
        print_json(more)
        return
    print_figures({name: value for name, value in more.items() if not isinstance(value, dict)}, json)
    for name in ("at_best_exact", "at_best_f1"):
        if name in more:
            print(f"\n{name}")
            print_figures(more[name], json)
