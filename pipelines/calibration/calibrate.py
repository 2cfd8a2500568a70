"""From a data set to a reader's calibration: observe, fit by several sets of features, keep the best fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from spanwise.types import ProgressCallback, no_progress

from ...corpora.squad import SquadDataset
from ...eval.calibration.risk_control import DELTA
from ...reader.evidence import CONFIDENCE_FEATURES, FEATURES, LEAD, Calibration, Calibrations
from ...reader.load import CALIBRATION, load_reader
from ..default_retriever import DEFAULT_RETRIEVER
from ..reranking import below_reranking
from ..stages import stages_named
from .figures import confidence_figures
from .fit import Fitted, cross_fit, declining_for
from .observe import Observer, Trial
from .observed import RIGHT_F1, Observed

RUN = Path("run") / "calibration"
SETS = ((), (LEAD,), (LEAD, "log_share", "agreement", "agreeing"), CONFIDENCE_FEATURES)
"""What the confidence may rest on beside the evidence; the first alone is Platt's scaling."""


@dataclass(frozen=True, slots=True)
class Calibrated:
    """The calibration and its figures, JSON values: see `figures` for what is measured."""

    calibration: Calibration
    figures: dict[str, Any]


def calibrate(
    dataset: SquadDataset,
    reader: Path,
    retriever: str = DEFAULT_RETRIEVER,
    k: int = 20,
    n_questions: int = 1500,
    seed: int = 0,
    report: ProgressCallback = no_progress,
    colbert: str = "builtin",
    features: Sequence[str] = FEATURES,
    confidence: Sequence[str] | None = None,
    least_f1: float = RIGHT_F1,
    delta: float = DELTA,
    max_error: float | None = None,
) -> Calibrated:
    """The calibration of the reader in a folder; what is observed is kept in its `run/calibration`.

    Candidates are ranked by `features`. The confidence rests on the evidence and on what `confidence` names;
    without it on the one of `SETS` with the least log loss on held-back folds. For `least_f1` and `delta` see
    `cross_fit`. With `max_error` the threshold used by default is the one for this share of errors.
    ValueError: an unknown name, a data set without validation articles, too few questions, or an error that
    cannot be promised.
    """
    _require_names(features, FEATURES)
    _require_names(confidence or (), CONFIDENCE_FEATURES)
    trial, loaded = Trial.of(dataset, seed), load_reader(str(reader))
    digest = loaded.digest
    observer = Observer(str(reader), spelled(retriever), k, colbert)
    observed = observer.observe(trial, n_questions, reader / RUN, digest, report)
    told = f"{len(observed)} questions of SQuAD train's validation articles, {retriever}"
    sets = SETS if confidence is None else (tuple(confidence),)
    fits = {
        one: cross_fit(observed, digest, told, features, one, least_f1, delta, loaded.answers_null)
        for one in dict.fromkeys(sets)
    }
    losses = {one: confidence_figures(fitted.held_back)["log_loss"] for one, fitted in fits.items()}
    best = min(fits, key=lambda one: losses[one])
    named = {" ".join(one) or "evidence alone": loss for one, loss in losses.items()}
    fitted = fits[best] if max_error is None else declining_for(fits[best], max_error)
    return Calibrated(fitted.calibration, {**_figures(fitted, observed), "log_losses": named})


def keep_calibration(calibration: Calibration, folder: Path, retriever: str) -> None:
    """Writes it into the reader's folder, beside those for other retrievers.

    Fitted behind the default retriever, or as the first one, it holds for all that have none of their own.
    """
    path, name = folder / CALIBRATION, spelled(retriever)
    held = Calibrations.load(path) if path.is_file() else Calibrations(calibration)
    held.fitted(calibration, name, name == spelled(DEFAULT_RETRIEVER)).save(path)


def spelled(retriever: str) -> str:
    """The `Retriever.name` that a name stands for."""
    below = below_reranking(retriever)
    return "+".join(stages_named(below)) + retriever.removeprefix(below)


def _figures(fitted: Fitted, observed: Sequence[Observed]) -> dict[str, Any]:
    threshold, calibration = fitted.threshold, fitted.calibration
    promised = {f"{int(percent) / 100:g}": value for percent, value in calibration.error_thresholds.items()}
    return {
        "threshold": threshold.value,
        "utility": threshold.utility,
        "right": threshold.outcome.right,
        "answered": threshold.outcome.answered,
        "rightly_declined": threshold.outcome.rightly_declined,
        "answerable": threshold.outcome.answerable,
        "questions": len(observed),
        "weights": dict(calibration.weights),
        "confidence_weights": dict(calibration.confidence_weights),
        "slope": calibration.slope,
        "temperature": 1 / calibration.slope if calibration.slope else None,
        "offset": calibration.offset,
        "held_back": confidence_figures(fitted.held_back),
        "fitted_on": confidence_figures(fitted.seen),
        "delta": calibration.delta,
        "max_error": promised,
        "stopping": asdict(calibration.stopping) if calibration.stopping else None,
    }


def _require_names(names: Sequence[str], known: Sequence[str]) -> None:
    if strangers := [name for name in names if name not in known]:
        raise ValueError(f"the feature {strangers[0]!r} is unknown; expected some of {', '.join(known)}")
