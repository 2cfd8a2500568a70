"""`calibrate`: fits a reader's confidence on questions about folders that it was not trained on.

On the observations of `observe` it fits weights that rank the candidates of a question, the rule that ends
reading early, confidence in the best candidate, and the threshold below which a question is declined: the
lowest one that answers at most a tenth of the questions without an answer.

What that does for other folders is measured by leaving each folder out in turn: everything is fitted on the
others, and counted on the one left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from spanwise.types import ProgressCallback, no_progress

from ...eval.calibration import aurc, expected_calibration_error, fit_listwise, fit_logistic, threshold_at
from ...reader.evidence import FEATURES, Calibration, Calibrations, EarlyExit, Features
from ...reader.load import CALIBRATION, load_reader
from ...retrieval.retrievers import stages_of
from ..models import DEFAULT_RETRIEVER, split_rerank
from .observe import Observed, observe

FIRST = (4, 8, 12)  # passages that may be read first
MAX_CHANGED = 0.01  # share of questions with another answer when reading ends early
MAX_FALSE = 0.1  # share of the questions without an answer that the threshold may answer
CONFIDENCE = ("relevance", "length")
"""What confidence rests on besides evidence. How far the best candidate leads is left out: a question with
two right answers looks like one without any."""


@dataclass(frozen=True, slots=True)
class Calibrated:
    """The calibration and its figures, JSON values."""

    calibration: Calibration
    figures: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Judged:
    """A question with the confidence in its best candidate, and whether that is right."""

    confidence: float
    right: bool
    answerable: bool


def calibrate(
    folders: Path,
    reader: Path,
    retriever: str = DEFAULT_RETRIEVER,
    k: int = 20,
    on_progress: ProgressCallback = no_progress,
) -> Calibrated:
    """The calibration of the reader in a folder; observations are kept in its `run/calibration`.

    `folders` as for `observe`. The figures of `held_out` are on each folder by a fit on the others, all
    together. ValueError for too few questions, and for a single folder.
    """
    loaded = load_reader(str(reader))
    observed = observe(folders, reader, full_name(retriever), k, on_progress)
    groups = sorted({one.group for one in observed})
    if len(groups) < 2:
        raise ValueError(f"{folders} has questions about {len(groups)} folder; expected two or more")
    fitted_on = f"{len(observed)} questions about {', '.join(groups)}, {retriever}"
    whole = fit(observed, loaded.digest, fitted_on, loaded.answers_null)
    held_out: list[Judged] = []
    answered: list[bool] = []
    for group in groups:
        others = fit([one for one in observed if one.group != group], "", "", loaded.answers_null)
        judged = judge([one for one in observed if one.group == group], others)
        held_out += judged
        answered += [one.confidence >= others.threshold for one in judged]
    figures = {
        "threshold": whole.threshold,
        "weights": dict(whole.weights),
        "confidence_weights": dict(whole.confidence_weights),
        "slope": whole.slope,
        "offset": whole.offset,
        "held_out": held_out_figures(held_out, answered),
        "stopping": None
        if whole.stopping is None
        else {name: getattr(whole.stopping, name) for name in ("first", "unread", "changed")},
    }
    return Calibrated(whole, figures)


def keep_calibration(calibration: Calibration, folder: Path, retriever: str) -> None:
    """Writes the calibration into the reader's folder, with those for other retrievers.

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


def fit(observed: Sequence[Observed], reader: str, fitted_on: str, answers_null: bool = True) -> Calibration:
    """The calibration for these questions, from eight features.

    A reader without a null answer gets no rule to end reading early. ValueError when the best candidate is
    right for all questions or none.
    """
    ranking = Calibration(_weights(observed), 1.0, 0.0, 0.0, reader, fitted_on)
    stopping = fit_stopping(observed, ranking) if answers_null else None
    best = [_best(as_read(one, stopping), ranking) for one in observed]
    found = [one for one in best if one is not None]
    n_right = sum(one.right for one in found)
    if n_right in (0, len(found)):
        raise ValueError(
            f"the best candidate is right for {n_right} of {len(found)} questions: confidence needs right "
            "and wrong ones. Ask more questions"
        )
    model = fit_logistic([one.values for one in found], [float(one.right) for one in found])
    calibration = replace(
        ranking,
        slope=model.weights[0],
        offset=model.bias,
        confidence_weights=dict(zip(CONFIDENCE, model.weights[1:], strict=True)),
        stopping=stopping,
    )
    absent = [one.confidence for one in judge(observed, calibration) if not one.answerable]
    return replace(calibration, threshold=threshold_at(absent, MAX_FALSE))


def judge(observed: Sequence[Observed], calibration: Calibration) -> list[Judged]:
    """The confidence in the best candidate of each question, 0 without one, and the truth."""
    judged = []
    for one in observed:
        best, confidence = _best(as_read(one, calibration.stopping), calibration), 0.0
        if best is not None:
            confidence = calibration.confidence(best.evidence, best.features)
        judged.append(Judged(confidence, best is not None and best.right, one.answerable))
    return judged


def held_out_figures(judged: Sequence[Judged], answered: Sequence[bool]) -> dict[str, float]:
    """Shares: `right`, of the questions with an answer, answered and right; `right_forced`, were none
    declined; `false`, of those without one, answered. Of the confidences: `ece`, over 15 bins of equal mass,
    and `aurc`, the area under risk against coverage.
    """
    rows = list(zip(judged, answered, strict=True))
    present = [row for row in rows if row[0].answerable]
    absent = [is_answered for one, is_answered in rows if not one.answerable]
    forecasts = [one.confidence for one in judged], [float(one.right) for one in judged]
    return {
        "right": sum(one.right and is_answered for one, is_answered in present) / max(1, len(present)),
        "right_forced": sum(one.right for one, _ in present) / max(1, len(present)),
        "false": sum(absent) / max(1, len(absent)),
        "ece": expected_calibration_error(*forecasts, equal_mass=True),
        "aurc": aurc(*forecasts),
    }


@dataclass(frozen=True, slots=True)
class _Best:
    """The best candidate of a question, and whether it is right."""

    evidence: float
    features: Features
    right: bool

    @property
    def values(self) -> list[float]:
        """The terms of the confidence."""
        return [self.evidence, *(getattr(self.features, name) for name in CONFIDENCE)]


def _best(one: Observed, calibration: Calibration) -> _Best | None:
    """The best candidate, of equal ones the first; None without any."""
    evidence = [calibration.evidence(features) for features in one.features]
    if not evidence:
        return None
    at = max(range(len(evidence)), key=lambda at: evidence[at])
    return _Best(evidence[at], one.features[at], one.right[at])


def _weights(observed: Sequence[Observed]) -> dict[str, float]:
    used = [one for one in observed if one.features]
    rows = [np.array([[getattr(f, name) for name in FEATURES] for f in one.features]) for one in used]
    weights = fit_listwise(rows, [np.array(one.right, dtype=np.bool_) for one in used])
    return dict(zip(FEATURES, weights.tolist(), strict=True))


# When to stop reading


def fit_stopping(observed: Sequence[Observed], ranking: Calibration) -> EarlyExit | None:
    """The rule that leaves most passages unread and changes at most MAX_CHANGED of the answers, or None."""
    of = max((_rank(features) for one in observed for features in one.features), default=0)
    rules = [_fit_first(observed, ranking, first, of) for first in FIRST if first < of]
    return max((rule for rule in rules if rule), key=lambda rule: rule.unread, default=None)


def as_read(one: Observed, stopping: EarlyExit | None) -> Observed:
    """The observation when reading ends early by the rule; `agreeing` still counts all passages."""
    if stopping is None or _sureness(one, stopping.first) < stopping.margin:
        return one
    return shortened(one, stopping.first)


def shortened(one: Observed, first: int) -> Observed:
    """The observation when only the best `first` passages are read."""
    read = [at for at, features in enumerate(one.features) if _rank(features) <= first]
    return replace(
        one,
        features=tuple(one.features[at] for at in read),
        right=tuple(one.right[at] for at in read),
        same=tuple(one.same[at] for at in read),
    )


def _fit_first(observed: Sequence[Observed], ranking: Calibration, first: int, of: int) -> EarlyExit | None:
    rows = []  # (margin, whether the answer changes), surest first
    for one in observed:
        best, of_read = _best_words(one, ranking), _best_words(shortened(one, first), ranking)
        if best is not None and of_read is not None:
            rows.append((_sureness(one, first), best != of_read))
    rows.sort(reverse=True)
    changed = list(accumulate(int(changes) for _, changes in rows))
    stopped = sum(total <= MAX_CHANGED * len(observed) for total in changed)
    while 0 < stopped < len(rows) and rows[stopped - 1][0] == rows[stopped][0]:
        stopped -= 1  # of equal margins all are enough or none
    if not stopped:
        return None
    unread = stopped * (of - first) / (len(observed) * of)
    return EarlyExit(first, of, rows[stopped - 1][0], unread, changed[stopped - 1] / len(observed))


def _rank(features: Features) -> int:
    """The rank of a candidate's passage, from 1."""
    return round(math.exp(features.log_rank))


def _best_words(one: Observed, ranking: Calibration) -> int | None:
    evidence = [ranking.evidence(features) for features in one.features]
    return one.same[int(np.argmax(evidence))] if evidence else None


def _sureness(one: Observed, first: int) -> float:
    """The most plain evidence in the first passages."""
    found = (f.margin + f.relevance for f in one.features if _rank(f) <= first)
    return max(found, default=-math.inf)
