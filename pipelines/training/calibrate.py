"""`calibrate`: fits a reader's confidence on questions about folders that it was not trained on.

On the observations of `observe` it fits weights that rank the candidates of a question, the rule that ends
reading early, confidence in the best candidate, and the threshold below which a question is declined: the
lowest one that answers at most a tenth of the questions without an answer.

What that does for other folders is measured by leaving each folder out in turn: everything is fitted on the
others, and counted on the one left out. Everyday wordings are asked, fitted on and left out with their
questions; figures are given for all questions, and for each kind of wording alone.
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
from ...reader.evidence import FEATURES, SHARED_PASSAGES, Calibration, Calibrations, EarlyExit
from ...reader.load import CALIBRATION, load_reader
from ...retrieval.retrievers import stages_of
from ..answering.ask import MIN_CANDIDATE_CONFIDENCE, N_CANDIDATES
from ..library.loaded_models import DEFAULT_RETRIEVER, split_rerank
from .candidate_observations import Observed, ObservedCandidate, observe

FIRST = (SHARED_PASSAGES, 12)  # passages that may be read first
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
    """A question with the confidence in its best candidate, and whether that is right.

    `right` judges the candidate as it is shown, `right_span` its span alone. `candidates` are those that are
    shown if the question is declined: whether each is right.
    """

    confidence: float
    right: bool
    right_span: bool
    answerable: bool
    everyday: bool
    passage_right: bool | None
    candidates: tuple[bool, ...]


def calibrate(
    folders: Path,
    reader: Path,
    retriever: str = DEFAULT_RETRIEVER,
    k: int = 20,
    on_progress: ProgressCallback = no_progress,
    every: int = 1,
) -> Calibrated:
    """The calibration of the reader in a folder; observations are kept in its `run/calibration`.

    `folders` and `every` as for `observe`. The figures of `held_out` are on each folder by a fit on the
    others, all together; those of its `plain` and `everyday` are on these wordings alone, None without any.
    ValueError for too few questions, and for a single folder.
    """
    loaded = load_reader(str(reader))
    observed = observe(folders, reader, full_name(retriever), k, on_progress, every)
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
        "held_out": {
            **held_out_figures(held_out, answered),
            "plain": _figures_of_wording(held_out, answered, everyday=False),
            "everyday": _figures_of_wording(held_out, answered, everyday=True),
        },
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
    """The calibration for these questions, from all features.

    A reader without a null answer gets no rule to end reading early. ValueError when the best candidate is
    right for all questions or none.
    """
    ranking = Calibration(_weights(observed), 1.0, 0.0, 0.0, reader, fitted_on)
    stopping = fit_stopping(observed, ranking) if answers_null else None
    best = [_best(as_read(one, stopping), ranking) for one in observed]
    found = [one for one in best if one is not None]
    n_right = sum(one.candidate.right for one in found)
    if n_right in (0, len(found)):
        raise ValueError(
            f"the best candidate is right for {n_right} of {len(found)} questions: confidence needs right "
            "and wrong ones. Ask more questions"
        )
    model = fit_logistic([one.values for one in found], [float(one.candidate.right) for one in found])
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
        best = _best(as_read(one, calibration.stopping), calibration)
        judged.append(
            Judged(
                0.0 if best is None else calibration.confidence(best.evidence, best.candidate.features),
                best is not None and best.candidate.right,
                best is not None and best.candidate.right_span,
                one.answerable,
                one.everyday,
                one.passage_right,
                shown_candidates(one, calibration),
            )
        )
    return judged


def shown_candidates(one: Observed, calibration: Calibration) -> tuple[bool, ...]:
    """Whether each candidate is right that `ask` shows if it declines the question.

    A declined question is read to the end. The section that it names comes first, then candidates by
    confidence: one of the same words, one of a sentence.
    """
    rows = [(calibration.evidence(candidate.features), candidate) for candidate in one.candidates]
    rows.sort(key=lambda row: -row[0])
    sure = [calibration.confidence(evidence, candidate.features) for evidence, candidate in rows]
    ranked = sorted(
        ((min(confidence, sure[0]), row[1]) for confidence, row in zip(sure, rows, strict=True)),
        key=lambda pair: -pair[0],
    )
    shown = [] if one.section is None else [one.section.right]
    sentences = set() if one.section is None else {one.section.sentence}
    words: set[int] = set()
    for confidence, candidate in ranked:
        is_repeated = candidate.same in words
        words.add(candidate.same)
        if (
            is_repeated
            or confidence < MIN_CANDIDATE_CONFIDENCE
            or not candidate.adds_words
            or candidate.sentence in sentences
        ):
            continue
        sentences.add(candidate.sentence)
        shown.append(candidate.right)
    return tuple(shown[:N_CANDIDATES])


def held_out_figures(judged: Sequence[Judged], answered: Sequence[bool]) -> dict[str, float | None]:
    """Shares of the questions with an answer, of those without one, and figures of the confidences.

    With an answer: `right`, answered and right as shown; `right_span`, its span alone is; `right_forced` and
    `right_span_forced`, were none declined; `right_shown`, right or declined with a right candidate;
    `right_at_10`, right with the threshold that answers a tenth of the questions without an answer here;
    `passage_right`, the reader prefers a passage with the answer, of the questions for which it reads one,
    None without any. Without an answer: `false`, answered; `absent_shown`, answered or declined with
    candidates. `ece` is over 15 bins of equal mass, and `aurc` the area under risk against coverage.
    """
    rows = list(zip(judged, answered, strict=True))
    present = [row for row in rows if row[0].answerable]
    absent = [row for row in rows if not row[0].answerable]
    threshold = threshold_at([one.confidence for one, _ in absent], MAX_FALSE)
    passages = [one.passage_right for one, _ in present if one.passage_right is not None]
    forecasts = [one.confidence for one in judged], [float(one.right) for one in judged]
    return {
        "right": _share([one.right and is_answered for one, is_answered in present]),
        "right_span": _share([one.right_span and is_answered for one, is_answered in present]),
        "right_forced": _share([one.right for one, _ in present]),
        "right_span_forced": _share([one.right_span for one, _ in present]),
        "right_shown": _share([one.right if done else any(one.candidates) for one, done in present]),
        "right_at_10": _share([one.right and one.confidence >= threshold for one, _ in present]),
        "passage_right": _share(passages) if passages else None,
        "false": _share([is_answered for _, is_answered in absent]),
        "absent_shown": _share([is_answered or bool(one.candidates) for one, is_answered in absent]),
        "ece": expected_calibration_error(*forecasts, equal_mass=True),
        "aurc": aurc(*forecasts),
    }


def _figures_of_wording(
    judged: Sequence[Judged], answered: Sequence[bool], everyday: bool
) -> dict[str, float | None] | None:
    rows = [row for row in zip(judged, answered, strict=True) if row[0].everyday is everyday]
    return held_out_figures([one for one, _ in rows], [done for _, done in rows]) if rows else None


def _share(outcomes: Sequence[bool]) -> float:
    return sum(outcomes) / max(1, len(outcomes))


@dataclass(frozen=True, slots=True)
class _Best:
    """The best candidate of a question."""

    evidence: float
    candidate: ObservedCandidate

    @property
    def values(self) -> list[float]:
        """The terms of the confidence."""
        return [self.evidence, *(getattr(self.candidate.features, name) for name in CONFIDENCE)]


def _best(one: Observed, calibration: Calibration) -> _Best | None:
    """The best candidate, of equal ones the first; None without any."""
    rows = [_Best(calibration.evidence(candidate.features), candidate) for candidate in one.candidates]
    return max(rows, key=lambda row: row.evidence, default=None)


def _weights(observed: Sequence[Observed]) -> dict[str, float]:
    used = [one.candidates for one in observed if one.candidates]
    rows = [np.array([[getattr(c.features, name) for name in FEATURES] for c in some]) for some in used]
    right = [np.array([candidate.right for candidate in some], dtype=np.bool_) for some in used]
    weights = fit_listwise(rows, right)
    return dict(zip(FEATURES, weights.tolist(), strict=True))


# When to stop reading


def fit_stopping(observed: Sequence[Observed], ranking: Calibration) -> EarlyExit | None:
    """The rule that leaves most passages unread and changes at most MAX_CHANGED of the answers, or None."""
    of = max((_rank(candidate) for one in observed for candidate in one.candidates), default=0)
    rules = [_fit_first(observed, ranking, first, of) for first in FIRST if first < of]
    return max((rule for rule in rules if rule), key=lambda rule: rule.unread, default=None)


def as_read(one: Observed, stopping: EarlyExit | None) -> Observed:
    """The observation when reading ends early by the rule; `agreeing` still counts all passages."""
    if stopping is None or _sureness(one, stopping.first) < stopping.margin:
        return one
    return shortened(one, stopping.first)


def shortened(one: Observed, first: int) -> Observed:
    """The observation when only the best `first` passages are read."""
    return replace(one, candidates=tuple(c for c in one.candidates if _rank(c) <= first))


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


def _rank(candidate: ObservedCandidate) -> int:
    """The rank of a candidate's passage, from 1."""
    return round(math.exp(candidate.features.log_rank))


def _best_words(one: Observed, ranking: Calibration) -> int | None:
    best = _best(one, ranking)
    return None if best is None else best.candidate.same


def _sureness(one: Observed, first: int) -> float:
    """The most plain evidence in the first passages."""
    read = [candidate.features for candidate in one.candidates if _rank(candidate) <= first]
    return max((features.margin + features.relevance for features in read), default=-math.inf)
