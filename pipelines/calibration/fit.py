"""Fits what evidence is worth: weights that rank the candidates of a question, then confidence in the best.

The confidence must hold for questions that the weights were not fitted on. So the questions are cut into
folds: each fold's evidence comes of weights fitted on the others, the confidence is fitted on that, and both
thresholds are chosen on confidences that were themselves fitted without the fold. What is kept in the end are
the weights of all questions. Confidence and thresholds are of what is read by the rule that is fitted between
the two steps, see `stopping`. Source: Wolpert 1992, "Stacked Generalization".
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...eval.calibration.platt import LogisticModel, fit_logistic
from ...eval.calibration.risk_control import DELTA, thresholds_by_percent
from ...eval.calibration.threshold import HeldBack, Threshold, choose_threshold, outcome_at
from ...eval.listwise import fit_listwise
from ...reader.evidence import FEATURES, LEAD, Calibration, Features, leads
from .observed import RIGHT_F1, Observed
from .stopping import as_read, best_at, fit_stopping

FOLDS = 5


@dataclass(frozen=True, slots=True)
class Best:
    """The best candidate of a question by some weights, how far it leads, and whether it is right."""

    evidence: float
    lead: float
    features: Features
    right: bool

    def values(self, confidence: Sequence[str]) -> list[float]:
        """The evidence and the further features that the confidence is fitted on."""
        further = (self.lead if name == LEAD else getattr(self.features, name) for name in confidence)
        return [self.evidence, *further]


@dataclass(frozen=True, slots=True)
class Fitted:
    """A calibration and what it does: the forecasts of the questions it was and was not fitted on.

    `held_back` has one record a question, confidence and truth, from a fit on the other folds; `seen` is of
    the calibration itself. A question without a candidate has confidence 0.
    """

    calibration: Calibration
    threshold: Threshold
    held_back: tuple[HeldBack, ...]
    seen: tuple[HeldBack, ...]


def fit(
    observed: Sequence[Observed],
    reader: str,
    fitted_on: str,
    features: Sequence[str] = FEATURES,
    confidence: Sequence[str] = (),
    least_f1: float = RIGHT_F1,
    delta: float = DELTA,
) -> tuple[Calibration, Threshold]:
    """The calibration, and what its threshold does on held-back questions; see `cross_fit`."""
    fitted = cross_fit(observed, reader, fitted_on, features, confidence, least_f1, delta)
    return fitted.calibration, fitted.threshold


def cross_fit(
    observed: Sequence[Observed],
    reader: str,
    fitted_on: str,
    features: Sequence[str] = FEATURES,
    confidence: Sequence[str] = (),
    least_f1: float = RIGHT_F1,
    delta: float = DELTA,
    stops: bool = True,
) -> Fitted:
    """A calibration that ranks by `features`, and is sure by the evidence and what `confidence` names.

    `delta` is the probability with which a promised share of errors may be exceeded. `stops` is False for a
    reader without a null answer, which has no margin to stop by. ValueError: too few questions, or none right
    or none wrong in one of the folds.
    """
    folds = folds_of([one.group or str(at) for at, one in enumerate(observed)])
    weighings = _out_of_fold(observed, folds, features, least_f1)
    stopping = fit_stopping(observed, weighings) if stops else None
    read = [as_read(one, stopping) for one in observed]
    held = [best_of(weighing, one, least_f1) for weighing, one in zip(weighings, read, strict=True)]
    model, sure = _confidences(held, folds, confidence)
    raw = Calibration(
        _ranking_weights(observed, features, least_f1),
        model.weights[0],
        model.bias,
        0.0,
        reader,
        fitted_on,
        dict(zip(confidence, model.weights[1:], strict=True)),
        delta=delta,
        stopping=stopping,
    )
    held_back = tuple(_record(*row) for row in zip(sure, held, observed, strict=True))
    calibration, threshold = _with_thresholds(raw, held_back)
    return Fitted(calibration, threshold, held_back, tuple(_seen(calibration, read, least_f1)))


def _with_thresholds(
    calibration: Calibration, held_back: Sequence[HeldBack]
) -> tuple[Calibration, Threshold]:
    """The calibration that declines and promises by these confidences, and what its threshold does."""
    threshold = choose_threshold(held_back)
    promised = thresholds_by_percent(
        [one.score for one in held_back], [one.right for one in held_back], calibration.delta
    )
    by_percent = {str(percent): value for percent, value in promised.items()}
    return replace(calibration, threshold=threshold.value, error_thresholds=by_percent), threshold


def declining_for(fitted: Fitted, max_error: float) -> Fitted:
    """The same with the threshold that keeps a share of errors, see `Calibration.threshold_for`."""
    value = fitted.calibration.threshold_for(max_error)
    threshold = outcome_at(fitted.held_back, value)
    return replace(fitted, calibration=replace(fitted.calibration, threshold=value), threshold=threshold)


def folds_of(groups: Sequence[str]) -> list[int]:
    """The fold of each, 0 to 4: groups are dealt out in an order that depends on their names alone."""
    names = sorted(set(groups))
    random.Random(0).shuffle(names)
    dealt = {name: at % FOLDS for at, name in enumerate(names)}
    return [dealt[group] for group in groups]


def best_of(calibration: Calibration, one: Observed, least_f1: float = RIGHT_F1) -> Best | None:
    """The candidate that is shown first, or None where there is none; of equal ones the first."""
    at = best_at(one, calibration)
    if at is None:
        return None
    evidence = [calibration.evidence(features) for features in one.features]
    ahead = leads(evidence, one.said or range(len(evidence)))
    return Best(evidence[at], ahead[at], one.features[at], one.right(least_f1)[at])


def _ranking_weights(
    observed: Iterable[Observed], features: Sequence[str], least_f1: float
) -> dict[str, float]:
    used = [(one, one.right(least_f1)) for one in observed if one.features]
    rows = [np.array([[getattr(f, name) for name in features] for f in one.features]) for one, _ in used]
    weights = fit_listwise(rows, [np.array(right, dtype=np.bool_) for _, right in used])
    return dict(zip(features, weights.tolist(), strict=True))


def _out_of_fold(
    observed: Sequence[Observed], folds: Sequence[int], features: Sequence[str], least_f1: float
) -> list[Calibration]:
    """For each question what ranks its candidates, fitted on the other folds."""
    by_fold = {}
    for fold in sorted(set(folds)):
        others = [one for one, its in zip(observed, folds, strict=True) if its != fold]
        weights = _ranking_weights(others, features, least_f1)
        by_fold[fold] = Calibration(weights, 1.0, 0.0, 0.0, "", "")
    return [by_fold[fold] for fold in folds]


def _confidences(
    held: Sequence[Best | None], folds: Sequence[int], confidence: Sequence[str]
) -> tuple[LogisticModel, list[float]]:
    """The model of all questions, and the confidence in each by one of the other folds."""
    found = [(one, fold) for one, fold in zip(held, folds, strict=True) if one is not None]
    by_fold = {fold: _logistic([one for one, its in found if its != fold], confidence) for fold in set(folds)}
    sure = [
        0.0 if one is None else float(by_fold[fold].probability([one.values(confidence)])[0])
        for one, fold in zip(held, folds, strict=True)
    ]
    return _logistic([one for one, _ in found], confidence), sure


def _logistic(found: Sequence[Best], confidence: Sequence[str]) -> LogisticModel:
    n_right = sum(one.right for one in found)
    if n_right in (0, len(found)):
        raise ValueError(
            f"of {len(found)} questions that a fold is fitted on the best candidate is right for {n_right}: "
            "confidence needs right and wrong ones, ask more questions"
        )
    return fit_logistic([one.values(confidence) for one in found], [float(one.right) for one in found])


def _seen(calibration: Calibration, observed: Sequence[Observed], least_f1: float) -> Iterable[HeldBack]:
    for one in observed:
        best = best_of(calibration, one, least_f1)
        sure = 0.0 if best is None else calibration.confidence(best.evidence, best.features, best.lead)
        yield _record(sure, best, one)


def _record(sure: float, best: Best | None, one: Observed) -> HeldBack:
    return HeldBack(sure, float(best is not None and best.right), one.answerable)
