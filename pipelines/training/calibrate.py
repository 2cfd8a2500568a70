"""`calibrate`: fits a reader's confidence on held-out questions.

On the observations of `observe` it fits weights that rank the candidates of a question, the rule that ends
reading early, confidence in the best candidate, and the threshold below which a question is declined.

Confidence must hold for questions that the weights were not fitted on. So the questions are divided into
folds: the evidence of each fold comes from weights fitted on the others, the confidence is fitted on that,
and the threshold is chosen on confidences fitted without the fold. The weights that are kept are those of all
questions. Source: Wolpert 1992, "Stacked Generalization".
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from spanwise.types import ProgressCallback, no_progress

from ...corpora.squad import SquadDataset
from ...eval.calibration import (
    HeldBack,
    LogisticModel,
    Threshold,
    aurc,
    brier_score,
    choose_threshold,
    credit_at_coverage,
    expected_calibration_error,
    fit_listwise,
    fit_logistic,
    log_loss,
)
from ...reader.evidence import (
    CONFIDENCE_FEATURES,
    FEATURES,
    LEAD,
    Calibration,
    Calibrations,
    EarlyExit,
    Features,
    margins_to_runner_up,
)
from ...reader.load import CALIBRATION, load_reader
from ...retrieval.retrievers import stages_of
from ..models import DEFAULT_RETRIEVER, split_rerank
from .observe import Observed, observe

FOLDS = 5
FIRST = (4, 8, 12)  # passages that may be read first
MAX_CHANGED = 0.01  # share of questions with another answer when reading ends early
EFFECTS = ("utility", "right", "answered", "rightly_declined", "answerable", "questions")
SETS = ((), (LEAD,), (LEAD, "log_share", "agreement", "agreeing"), CONFIDENCE_FEATURES)
"""Features that the confidence may rest on beside the evidence; the first set is Platt's scaling."""


@dataclass(frozen=True, slots=True)
class Calibrated:
    """The calibration and its figures, JSON values."""

    calibration: Calibration
    figures: dict[str, Any]


def calibrate(
    dataset: SquadDataset,
    reader: Path,
    retriever: str = DEFAULT_RETRIEVER,
    k: int = 20,
    n_questions: int = 1500,
    seed: int = 0,
    on_progress: ProgressCallback = no_progress,
) -> Calibrated:
    """The calibration of the reader in a folder; observations are kept in its `run/calibration`.

    The confidence rests on the set of features with the least log loss on held-out folds. ValueError for a
    data set without validation articles, and for too few questions.
    """
    loaded = load_reader(str(reader))
    name = full_name(retriever)
    observed = observe(dataset, reader, loaded.digest, name, k, n_questions, seed, on_progress)
    fitted_on = f"{len(observed)} questions of SQuAD train's validation articles, {retriever}"
    fits = {one: cross_fit(observed, loaded.digest, fitted_on, one, loaded.answers_null) for one in SETS}
    losses = {one: confidence_figures(fitted.held_out)["log_loss"] for one, fitted in fits.items()}
    best = fits[min(fits, key=lambda one: losses[one])]
    named = {" ".join(one) or "evidence alone": loss for one, loss in losses.items()}
    return Calibrated(best.calibration, _figures(best) | {"log_losses": named})


def keep_calibration(calibration: Calibration, folder: Path, retriever: str) -> None:
    """Writes the calibration into the reader's folder, beside those for other retrievers.

    That of the default retriever, or the first one, holds for all retrievers without their own.
    """
    path, name = folder / CALIBRATION, full_name(retriever)
    held = Calibrations.load(path) if path.is_file() else Calibrations(calibration)
    held.fitted(calibration, name, name == full_name(DEFAULT_RETRIEVER)).save(path)


def full_name(retriever: str) -> str:
    """The `Retriever.name` of a spelling.

    >>> full_name("hybrid+rerank")
    'bm25+dense+rerank'
    """
    below = split_rerank(retriever)[0]
    return "+".join(stages_of(below)) + retriever.removeprefix(below)


@dataclass(frozen=True, slots=True)
class Fitted:
    """A calibration, what its threshold does, and one record a question: confidence and truth.

    The records are from fits on the other folds.
    """

    calibration: Calibration
    threshold: Threshold
    held_out: tuple[HeldBack, ...]


def cross_fit(
    observed: Sequence[Observed],
    reader: str,
    fitted_on: str,
    confidence: Sequence[str] = (),
    answers_null: bool = True,
) -> Fitted:
    """A calibration whose confidence rests on the evidence and on the features named `confidence`.

    A reader without a null answer gets no rule to end reading early. ValueError for too few questions, and
    when none or all of a fold are right.
    """
    folds = folds_of([one.group for one in observed])
    by_fold = {
        fold: Calibration(
            _weights([one for one, its in zip(observed, folds, strict=True) if its != fold]),
            *(1.0, 0.0, 0.0, "", ""),
        )
        for fold in sorted(set(folds))
    }
    rankings = [by_fold[fold] for fold in folds]
    stopping = fit_stopping(observed, rankings) if answers_null else None
    read = [as_read(one, stopping) for one in observed]
    best = [_Best.of(ranking, one) for ranking, one in zip(rankings, read, strict=True)]
    model, sure = _confidences(best, folds, confidence)
    held_out = tuple(
        HeldBack(probability, float(one is not None and one.right), its.answerable)
        for probability, one, its in zip(sure, best, observed, strict=True)
    )
    threshold = choose_threshold(held_out)
    calibration = Calibration(
        _weights(observed),
        model.weights[0],
        model.bias,
        threshold.value,
        reader,
        fitted_on,
        dict(zip(confidence, model.weights[1:], strict=True)),
        stopping=stopping,
    )
    return Fitted(calibration, threshold, held_out)


def folds_of(groups: Sequence[str]) -> list[int]:
    """The fold of each question; groups are dealt out in an order that depends on their names alone."""
    names = sorted(set(groups))
    random.Random(0).shuffle(names)
    dealt = {name: at % FOLDS for at, name in enumerate(names)}
    return [dealt[group] for group in groups]


@dataclass(frozen=True, slots=True)
class _Best:
    """The best candidate of a question, how far it leads, and whether it is right."""

    evidence: float
    lead: float
    features: Features
    right: bool

    @classmethod
    def of(cls, calibration: Calibration, one: Observed) -> _Best | None:
        at = _best_at(one, calibration)
        if at is None:
            return None
        evidence = [calibration.evidence(features) for features in one.features]
        return cls(
            evidence[at], margins_to_runner_up(evidence, one.same)[at], one.features[at], one.right[at]
        )

    def values(self, confidence: Sequence[str]) -> list[float]:
        further = (self.lead if name == LEAD else getattr(self.features, name) for name in confidence)
        return [self.evidence, *further]


def _weights(observed: Sequence[Observed]) -> dict[str, float]:
    used = [one for one in observed if one.features]
    rows = [np.array([[getattr(f, name) for name in FEATURES] for f in one.features]) for one in used]
    weights = fit_listwise(rows, [np.array(one.right, dtype=np.bool_) for one in used])
    return dict(zip(FEATURES, weights.tolist(), strict=True))


def _confidences(
    best: Sequence[_Best | None], folds: Sequence[int], confidence: Sequence[str]
) -> tuple[LogisticModel, list[float]]:
    """The model of all questions, and the confidence in each by a model of the other folds."""
    found = [(one, fold) for one, fold in zip(best, folds, strict=True) if one is not None]

    def fit(some: Sequence[_Best]) -> LogisticModel:
        n_right = sum(one.right for one in some)
        if n_right in (0, len(some)):
            raise ValueError(
                f"the best candidate is right for {n_right} of {len(some)} questions of a fold: confidence "
                "needs right and wrong ones. Ask more questions"
            )
        return fit_logistic([one.values(confidence) for one in some], [float(one.right) for one in some])

    by_fold = {fold: fit([one for one, its in found if its != fold]) for fold in set(folds)}
    sure = [
        0.0 if one is None else float(by_fold[fold].probability([one.values(confidence)])[0])
        for one, fold in zip(best, folds, strict=True)
    ]
    return fit([one for one, _ in found]), sure


def fit_stopping(observed: Sequence[Observed], rankings: Sequence[Calibration]) -> EarlyExit | None:
    """The rule that leaves most passages unread and changes at most MAX_CHANGED of the answers, or None.

    `rankings[i]` ranks the candidates of `observed[i]`, and was fitted without them.
    """
    of = max((rank for one in observed for rank in _ranks(one)), default=0)
    rules = [_fit_first(observed, rankings, first, of) for first in FIRST if first < of]
    return max((rule for rule in rules if rule), key=lambda rule: rule.unread, default=None)


def as_read(one: Observed, stopping: EarlyExit | None) -> Observed:
    """The observation when reading ends early by the rule."""
    if stopping is None or _best_margin(one, stopping.first) < stopping.margin:
        return one
    return shortened(one, stopping.first)


def shortened(one: Observed, first: int) -> Observed:
    """The observation when only the best `first` passages are read.

    Probabilities are shares of everything read, so they are divided by the share of the first passages. That
    is exact but for repeated sentences, spans beside the best of a sentence, and candidates cut off.
    """
    ranks = _ranks(one)
    read = [at for at, rank in enumerate(ranks) if rank <= first]
    left = [at for at, rank in enumerate(ranks) if rank > first]
    shares = {at: one.features[at].log_share for at in left}
    null = {ranks[at]: min(0.0, share - one.features[at].margin) for at, share in shares.items()}
    rest = max(1e-9, 1 - math.fsum(map(math.exp, [*shares.values(), *null.values()])))
    features = []
    for at in read:
        seen = one.features[at]
        unread = [math.exp(shares[other]) for other in left if one.same[other] == one.same[at]]
        features.append(
            replace(
                seen,
                log_share=min(0.0, seen.log_share - math.log(rest)),
                agreement=max(0.0, seen.agreement - math.fsum(unread)) / rest,
                agreeing=math.log1p(max(0.0, math.expm1(seen.agreeing) - len(unread))),
            )
        )
    return replace(
        one,
        features=tuple(features),
        f1=tuple(one.f1[at] for at in read),
        same=tuple(one.same[at] for at in read),
    )


def _fit_first(
    observed: Sequence[Observed], rankings: Sequence[Calibration], first: int, of: int
) -> EarlyExit | None:
    rows = []  # (margin, whether the answer changes), surest first
    for one, ranking in zip(observed, rankings, strict=True):
        part = shortened(one, first)
        best, best_read = _best_at(one, ranking), _best_at(part, ranking)
        if best is not None and best_read is not None:
            rows.append((_best_margin(one, first), one.same[best] != part.same[best_read]))
    rows.sort(reverse=True)
    changed = list(accumulate(int(changes) for _, changes in rows))
    stopped = sum(total <= MAX_CHANGED * len(observed) for total in changed)
    while 0 < stopped < len(rows) and rows[stopped - 1][0] == rows[stopped][0]:
        stopped -= 1  # of equal margins all are enough or none
    if not stopped:
        return None
    unread = stopped * (of - first) / (len(observed) * of)
    return EarlyExit(first, of, rows[stopped - 1][0], unread, changed[stopped - 1] / len(observed))


def _ranks(one: Observed) -> list[int]:
    """The rank of each candidate's passage, from 1."""
    return [round(math.exp(features.log_rank)) for features in one.features]


def _best_at(one: Observed, ranking: Calibration) -> int | None:
    """The number of the best candidate, of equal ones the first."""
    evidence = [ranking.evidence(features) for features in one.features]
    return max(range(len(evidence)), key=lambda at: evidence[at], default=None)


def _best_margin(one: Observed, first: int) -> float:
    pairs = zip(one.features, _ranks(one), strict=True)
    return max((features.margin for features, rank in pairs if rank <= first), default=-math.inf)


def confidence_figures(records: Sequence[HeldBack]) -> dict[str, float]:
    """`ece` (calibration error over 15 bins of equal width), `brier`, `log_loss` (nats), `aurc` (area under
    risk against coverage), and `right_at_50`, the share right of the surer half; `right_at_100` of all.
    """
    forecasts = [record.score for record in records], [record.right for record in records]
    return {
        "ece": expected_calibration_error(*forecasts),
        "brier": brier_score(*forecasts),
        "log_loss": log_loss(*forecasts),
        "aurc": aurc(*forecasts),
        "right_at_50": credit_at_coverage(*forecasts, 0.5),
        "right_at_100": credit_at_coverage(*forecasts, 1.0),
    }


def _figures(fitted: Fitted) -> dict[str, Any]:
    threshold, calibration = fitted.threshold, fitted.calibration
    rule = calibration.stopping
    return {
        "threshold": threshold.value,
        **{name: getattr(threshold, name) for name in EFFECTS},
        "weights": dict(calibration.weights),
        "confidence_weights": dict(calibration.confidence_weights),
        "slope": calibration.slope,
        "offset": calibration.offset,
        "held_out": confidence_figures(fitted.held_out),
        "stopping": rule and {"first": rule.first, "unread": rule.unread, "changed": rule.changed},
    }
