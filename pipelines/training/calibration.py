"""`calibrate`: fits a reader's confidence on questions about folders that it was not trained on.

It fits weights that rank the candidates of a question, the rule that ends reading early, and confidence in
the best candidate. Each folder is left out in turn: all this is fitted on the others, and measured on the one
left out. The threshold below which a question is declined is the lowest one with which `ask` answers at most
a tenth of the questions without an answer about the folders left out, and 15 % of those about one with enough
of them.

Everyday wordings are asked, fitted on and left out with their questions. Figures are given for all questions,
and for each kind of wording.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import accumulate, chain
from pathlib import Path
from typing import Any

import numpy as np

from spanwise.types import AskOptions, ProgressCallback, no_progress

from ...eval.calibration import fit_listwise, fit_logistic, threshold_at
from ...eval.questions import QuestionRecord
from ...reader.evidence import (
    FEATURES,
    SHARED_PASSAGES,
    Calibration,
    Calibrations,
    EarlyExit,
    UnseenFolders,
)
from ...reader.load import CALIBRATION, load_reader
from ...retrieval.retrievers import stages_of
from ..answering.ask import MIN_CANDIDATE_CONFIDENCE, N_CANDIDATES
from ..evaluation.asked_folders import (
    MAX_FALSE,
    AnsweredWording,
    AskedFolder,
    answer_figures,
    asked_folders,
    shown_confidence,
)
from ..library.loaded_models import DEFAULT_RETRIEVER, split_rerank
from .candidate_observations import Observation, ObservedCandidate, observe
from .verdicts import fit_verdicts

RUN = Path("run") / "calibration"
FIRST = (SHARED_PASSAGES, 12)  # passages that may be read first
MAX_CHANGED = 0.01  # share of questions with another answer when reading ends early
MAX_FALSE_OF_FOLDER = 0.15  # the same of one folder, if it has LEAST_ABSENT such questions
LEAST_ABSENT = 20
MAX_LOST = 0.003  # share of the questions that a small reader may lose where it is sure
MAX_MISSED = 0.005  # share whose right answer or candidate it may miss where it is sure that there is none
LEAST = 1e-9  # the lowest threshold that is one
CONFIDENCE = ("relevance", "length", "other_document")
"""Terms of the confidence besides evidence. The lead of the best candidate is left out: a question with two
right answers looks like one without any."""


@dataclass(frozen=True, slots=True)
class CalibrationResult:
    """The outcome of `calibrate`.

    calibration: fitted on all folders.
    figures: JSON values by name; those of `held_out` are on each folder by a fit on the others.
    """

    calibration: Calibration
    figures: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Judgement:
    """The best candidate of a question, judged.

    confidence: in the best candidate; 0 without one.
    right: true if the candidate is right as it is shown.
    answerable: true for a question with an answer.
    candidates: for each candidate shown if the question is declined, whether it is right.
    """

    confidence: float
    right: bool
    answerable: bool
    candidates: tuple[bool, ...]

    def shows(self, threshold: float) -> bool:
        """True if the answer is right, or one of the candidates where the question is declined."""
        return self.right if self.confidence >= threshold else any(self.candidates)


@dataclass(frozen=True, slots=True)
class FoldFit:
    """What is fitted on all folders but one.

    folder: the one that is left out.
    calibration: of the reader.
    small: that of the small reader of a pair, or None.
    """

    folder: AskedFolder
    calibration: Calibration
    small: Calibration | None = None

    def answers(self, threshold: float | None = None) -> list[QuestionRecord]:
        """The answers about the folder, with this threshold instead of the fitted one."""
        return self.folder.decided(self.calibration, self.small, threshold)

    def with_threshold(self, threshold: float) -> FoldFit:
        """The same fit with another fitted threshold."""
        small = self.small and replace(self.small, threshold=threshold)
        return replace(self, calibration=replace(self.calibration, threshold=threshold), small=small)


def calibrate(
    folders: Path,
    reader: Path,
    retriever: str = DEFAULT_RETRIEVER,
    k: int = 20,
    on_progress: ProgressCallback = no_progress,
    every: int = 1,
    yes_no: Path | None = None,
) -> CalibrationResult:
    """The calibration of the reader in a folder; its `run/calibration` keeps hits and readings.

    `folders` and `every` as for `asked_folders`, `yes_no` as for `fit_verdicts`. The figures of `held_out`
    are those of the answers that `ask` gives about each folder, by a fit on the others; its `plain` and
    `everyday` have the figures of these wordings, or None. ValueError for too few questions, and for a single
    folder.
    """
    options = AskOptions(k=k, retriever=full_name(retriever), reader=str(reader))
    with asked_folders(folders, reader / RUN, options, every, on_progress) as asked:
        if len(asked) < 2:
            raise ValueError(f"{folders} has questions about {len(asked)} folder; expected two or more")
        for folder in asked:
            folder.record(on_progress)
        whole, fits = fit_folders(asked, full_name(retriever), on_progress)
        threshold, unseen, held_out = held_out_answers(fits, on_progress)
    whole = replace(whole, threshold=threshold, unseen=unseen)
    figures = asdict(whole) | {"held_out": held_out}
    if yes_no is not None:
        rule, figures["verdicts"] = fit_verdicts(load_reader(str(reader)), yes_no, on_progress)
        whole = replace(whole, verdicts=rule)
    return CalibrationResult(whole, figures)


def fit_folders(
    asked: Sequence[AskedFolder], retriever: str, on_progress: ProgressCallback = no_progress
) -> tuple[Calibration, list[FoldFit]]:
    """The calibration fitted on all folders, and for each one that of the others, all without a threshold."""
    answerer = asked[0].answerer
    is_pair = asked[0].answerer.small is not None
    ends_early = getattr(answerer.reader, "answers_null", True) and not is_pair  # which reads all at once
    observations = []
    alone = []
    for number, folder in enumerate(asked):
        on_progress("folders scored", number, len(asked))
        observations.append(observe(folder, folder.answerer))
        if folder.answerer.small:
            alone.append(observe(folder, folder.answerer.small))
    names = ", ".join(folder.domain for folder in asked)
    every = [*chain.from_iterable(observations)]
    fitted_on = f"{len(every)} questions about {names}, {retriever}"
    whole = fit(every, answerer.reader.digest, fitted_on, ends_early)
    apart = fits_apart(observations, ends_early)
    by_group = [judge(inside, fold) for inside, fold in zip(observations, apart, strict=True)]
    small: Sequence[Calibration | None] = [None] * len(asked)
    if is_pair:
        small_fits = fits_apart(alone, True)
        by_small = [judge(inside, fold) for inside, fold in zip(alone, small_fits, strict=True)]
        sure, by_group = sure_alone(by_small, by_group)
        hopeless = hopeless_alone(by_small, by_group, fitted_threshold(absent_confidences(by_group)))
        whole = replace(whole, sure=sure, hopeless=hopeless)
        apart = [replace(fold, sure=sure, hopeless=hopeless) for fold in apart]
        small = small_fits
    return whole, [FoldFit(*each) for each in zip(asked, apart, small, strict=True)]


def held_out_answers(
    fits: Sequence[FoldFit], on_progress: ProgressCallback = no_progress
) -> tuple[float, UnseenFolders, dict[str, Any]]:
    """The threshold that fits the answers about each folder, what it answers, and `answer_figures`."""
    least = []
    for number, fold in enumerate(fits):
        on_progress("folders answered", number, len(fits))
        least.append(fold.with_threshold(LEAST).answers())
    threshold = fitted_threshold(
        [[shown_confidence(record) for record in records if not record.answerable] for records in least]
    )
    rows = []
    for number, (fold, records) in enumerate(zip(fits, least, strict=True)):
        on_progress("folders answered with the threshold", number, len(fits))
        shown = fold.with_threshold(threshold).answers()
        forced = fold.answers(0.0)
        rows += [
            AnsweredWording(wording.everyday, *ways)
            for wording, *ways in zip(fold.folder.wordings, shown, records, forced, strict=True)
        ]
    by_wording = {
        name: [row for row in rows if row.everyday is everyday]
        for name, everyday in (("plain", False), ("everyday", True))
    }
    figures = answer_figures(rows) | {
        name: answer_figures(part) if part else None for name, part in by_wording.items()
    }
    n_absent = sum(not row.shown.answerable for row in rows)
    n_answered = sum(not row.shown.answerable and not row.shown.scores["declined"] for row in rows)
    shares = figures["false_by_folder"].values()
    unseen = UnseenFolders(
        len(fits), n_absent, n_answered, min(shares, default=0.0), max(shares, default=0.0)
    )
    return threshold, unseen, figures


def keep_calibration(calibration: Calibration, folder: Path, retriever: str) -> None:
    """Writes the calibration into the reader's folder, with those for other retrievers.

    That of the default retriever, or the first one, holds for all retrievers without their own. Without a
    rule for verdicts it keeps the one that is there for the same reader.
    """
    path = folder / CALIBRATION
    name = full_name(retriever)
    calibrations = Calibrations.load(path) if path.is_file() else Calibrations(calibration)
    before = calibrations.fallback
    if calibration.verdicts is None and before.reader == calibration.reader:
        calibration = replace(calibration, verdicts=before.verdicts)
    calibrations.fitted(calibration, name, name == full_name(DEFAULT_RETRIEVER)).save(path)


def full_name(retriever: str) -> str:
    """The `Retriever.name` of a spelling.

    >>> full_name("hybrid+rerank")
    'bm25+dense+rerank'
    """
    below = split_rerank(retriever)[0]
    return "+".join(stages_of(below)) + retriever.removeprefix(below)


def fit(
    observations: Sequence[Observation], reader: str, fitted_on: str, answers_null: bool = True
) -> Calibration:
    """The calibration for these questions, from all features.

    A reader without a null answer gets no rule to end reading early. ValueError when the best candidate is
    right for all questions or none.
    """
    ranking = Calibration(_weights(observations), 1.0, 0.0, 0.0, reader, fitted_on)
    stopping = fit_stopping(observations, ranking) if answers_null else None
    all_best = [_best(as_read(observation, stopping), ranking) for observation in observations]
    bests = [best for best in all_best if best is not None]
    n_right = sum(best.candidate.right for best in bests)
    if n_right in (0, len(bests)):
        raise ValueError(
            f"the best candidate is right for {n_right} of {len(bests)} questions: confidence needs right "
            "and wrong ones. Ask more questions"
        )
    model = fit_logistic([best.values for best in bests], [float(best.candidate.right) for best in bests])
    return replace(
        ranking,
        slope=model.weights[0],
        offset=model.bias,
        confidence_weights=dict(zip(CONFIDENCE, model.weights[1:], strict=True)),
        stopping=stopping,
    )


def judge(observations: Sequence[Observation], calibration: Calibration) -> list[Judgement]:
    """The judgement on the best candidate of each question."""
    judgements = []
    for observation in observations:
        best = _best(as_read(observation, calibration.stopping), calibration)
        confidence = 0.0
        if best is not None:
            confidence = calibration.confidence(best.evidence, best.candidate.features)
        judgement = Judgement(
            confidence,
            best is not None and best.candidate.right,
            observation.answerable,
            shown_candidates(observation, calibration),
        )
        judgements.append(judgement)
    return judgements


def fits_apart(observations: Sequence[Sequence[Observation]], ends_early: bool) -> list[Calibration]:
    """For each folder the calibration fitted on the others."""
    return [
        fit(
            [*chain.from_iterable(other for other in observations if other is not inside)], "", "", ends_early
        )
        for inside in observations
    ]


def sure_alone(
    alone: Sequence[Sequence[Judgement]], pair: Sequence[Sequence[Judgement]]
) -> tuple[float, list[list[Judgement]]]:
    """The lowest confidence from which on a small reader's answers stand, and all judgements with these.

    They may lose MAX_LOST of the questions against those of the pair.
    """
    both = sorted(
        zip(chain.from_iterable(alone), chain.from_iterable(pair), strict=True),
        key=lambda judgements: -judgements[0].confidence,
    )
    lost = accumulate(twice.right - once.right for once, twice in both)
    sure = min(
        (once.confidence for (once, _), n in zip(both, lost, strict=True) if n <= MAX_LOST * len(both)),
        default=1.0,
    )
    merged = [
        [once if once.confidence >= sure else twice for once, twice in zip(*judgements, strict=True)]
        for judgements in zip(alone, pair, strict=True)
    ]
    return sure, merged


def hopeless_alone(
    alone: Sequence[Sequence[Judgement]], pair: Sequence[Sequence[Judgement]], threshold: float
) -> float:
    """The highest confidence up to which a small reader declines for both.

    MAX_MISSED of the questions may miss what the pair shows right.
    """
    both = sorted(
        zip(chain.from_iterable(alone), chain.from_iterable(pair), strict=True),
        key=lambda judgements: judgements[0].confidence,
    )
    missed = accumulate(twice.shows(threshold) - once.shows(threshold) for once, twice in both)
    return max(
        (once.confidence for (once, _), n in zip(both, missed, strict=True) if n <= MAX_MISSED * len(both)),
        default=0.0,
    )


def shown_candidates(observation: Observation, calibration: Calibration) -> tuple[bool, ...]:
    """For each candidate that `ask` shows with a declined question, whether it is right.

    A declined question is read to the end. The section that it names comes first, then candidates by
    confidence: one per wording, one per sentence.
    """
    ranked = sorted(_by_evidence(observation, calibration), key=lambda best: -best.evidence)
    sure = [calibration.confidence(best.evidence, best.candidate.features) for best in ranked]
    # No alternative is surer than the best candidate.
    by_confidence = [(min(confidence, sure[0]), best) for confidence, best in zip(sure, ranked, strict=True)]
    by_confidence.sort(key=lambda pair: -pair[0])
    section = observation.section
    shown = [section.right] if section else []
    sentences = {section.sentence} if section else set()
    words: set[int] = set()
    for confidence, best in by_confidence:
        candidate = best.candidate
        is_repeated = candidate.same in words or candidate.sentence in sentences
        words.add(candidate.same)
        if confidence >= MIN_CANDIDATE_CONFIDENCE and candidate.adds_words and not is_repeated:
            sentences.add(candidate.sentence)
            shown.append(candidate.right)
    return tuple(shown[:N_CANDIDATES])


def absent_confidences(by_group: Sequence[Sequence[Judgement]]) -> list[list[float]]:
    """For each folder the confidences of its questions without an answer."""
    return [[each.confidence for each in part if not each.answerable] for part in by_group]


def fitted_threshold(absent: Sequence[Sequence[float]]) -> float:
    """The threshold for these confidences, by folder, in answers to questions without an answer."""
    pooled = list(chain.from_iterable(absent))
    limits = [threshold_at(part, MAX_FALSE_OF_FOLDER) for part in absent if len(part) >= LEAST_ABSENT]
    return max([threshold_at(pooled, MAX_FALSE), *limits])


@dataclass(frozen=True, slots=True)
class _Evidence:
    """A candidate with its evidence."""

    evidence: float
    candidate: ObservedCandidate

    @property
    def values(self) -> list[float]:
        """The terms of the confidence."""
        return [self.evidence, *(getattr(self.candidate.features, name) for name in CONFIDENCE)]


def _by_evidence(observation: Observation, calibration: Calibration) -> list[_Evidence]:
    return [_Evidence(calibration.evidence(c.features), c) for c in observation.candidates]


def _best(observation: Observation, calibration: Calibration) -> _Evidence | None:
    """The best candidate, of equal ones the first; None without any."""
    return max(_by_evidence(observation, calibration), key=lambda row: row.evidence, default=None)


def _weights(observations: Sequence[Observation]) -> dict[str, float]:
    lists = [observation.candidates for observation in observations if observation.candidates]
    rows = [np.array([[getattr(c.features, name) for name in FEATURES] for c in some]) for some in lists]
    right = [np.array([candidate.right for candidate in some], dtype=np.bool_) for some in lists]
    return dict(zip(FEATURES, fit_listwise(rows, right).tolist(), strict=True))


# When to stop reading


def fit_stopping(observations: Sequence[Observation], ranking: Calibration) -> EarlyExit | None:
    """The rule that leaves most passages unread and changes at most MAX_CHANGED of the answers, or None."""
    ranks = [_rank(candidate) for observation in observations for candidate in observation.candidates]
    depth = max(ranks, default=0)
    rules = [_fit_first(observations, ranking, first, depth) for first in FIRST if first < depth]
    return max((rule for rule in rules if rule), key=lambda rule: rule.unread, default=None)


def as_read(observation: Observation, stopping: EarlyExit | None) -> Observation:
    """The observation when reading ends early by the rule; `agreeing` still counts all passages."""
    if stopping is None or _sureness(observation, stopping.first) < stopping.margin:
        return observation
    return shortened(observation, stopping.first)


def shortened(observation: Observation, first: int) -> Observation:
    """The observation when only the best `first` passages are read."""
    return replace(observation, candidates=tuple(c for c in observation.candidates if _rank(c) <= first))


def _fit_first(
    observations: Sequence[Observation], ranking: Calibration, first: int, depth: int
) -> EarlyExit | None:
    rows = []  # (margin, whether the answer changes), surest first
    for observation in observations:
        best = _best(observation, ranking)
        best_read = _best(shortened(observation, first), ranking)
        if best is not None and best_read is not None:
            changes = best.candidate.same != best_read.candidate.same
            rows.append((_sureness(observation, first), changes))
    rows.sort(reverse=True)
    changed = list(accumulate(int(changes) for _, changes in rows))
    stopped = sum(total <= MAX_CHANGED * len(observations) for total in changed)
    while 0 < stopped < len(rows) and rows[stopped - 1][0] == rows[stopped][0]:
        stopped -= 1  # of equal margins all are enough or none
    if not stopped:
        return None
    unread = stopped * (depth - first) / (len(observations) * depth)
    return EarlyExit(first, depth, rows[stopped - 1][0], unread, changed[stopped - 1] / len(observations))


def _rank(candidate: ObservedCandidate) -> int:
    """The rank of a candidate's passage, from 1."""
    return round(math.exp(candidate.features.log_rank))


def _sureness(observation: Observation, first: int) -> float:
    """The most plain evidence in the first passages."""
    read = [candidate.features for candidate in observation.candidates if _rank(candidate) <= first]
    return max((features.margin + features.relevance for features in read), default=-math.inf)
