"""How much speaks for a candidate answer: reading and retrieval weighed by a fitted linear model.

evidence = sum of weight * feature; it ranks the candidates of a question. Then
confidence = sigmoid(slope * evidence + sum of confidence weight * feature + offset) of the best candidate.
Both are fitted on held-back questions (Platt 1999 for the second step: 1 / slope is the temperature of the
evidence) and stored beside the reader's weights, with the threshold below which a question is declined, and
one for each share of wrong answers that can be promised.
"""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from spanwise.errors import ModelRejected
from spanwise.types import ScoredSpan

FORMAT = 2  # 1 had five features, weighed all of them, and promised no error


@dataclass(frozen=True, slots=True)
class Features:
    """What is known of a candidate.

    `margin`: span score minus the null score of its passage (logits). `log_rank`: ln of the passage's
    rank, from 1. `coverage`: the share of the question's idf mass found in the passage and its headings.
    `sentence_coverage`: the same for the sentence under its heading. `similarity`: the cosine of the
    question and that sentence.

    Compared with all that was read: `log_share`: ln of its probability under one softmax, see
    `answer_share`. `agreement`: the summed probability, 0..1, of candidates elsewhere that say the same in
    other sentences. `agreeing`: ln(1 + their number). Compared with all that was found: `score_gap`: how far
    the hit's score lies below the best one, in units of the whole range, 0..1. `rerank`: the cross-encoder's
    score (a logit), 0 without one.

    Of the sentence: `sentence`: how much more it speaks for carrying the answer than for there being none
    (a logit, see `ScoredSpan.sentence_score`), 0 for a reader that does not score sentences.

    Of the words: `type_fit`: see there, -1..1. `log_words`: ln of the number of words of the answer.
    `factoid`: 1 for a question that wants a short answer, else 0; it is the same for all candidates of a
    question, and so can weigh in the confidence alone.
    """

    margin: float
    log_rank: float
    coverage: float
    sentence_coverage: float
    similarity: float
    log_share: float = 0.0
    agreement: float = 0.0
    agreeing: float = 0.0
    score_gap: float = 0.0
    rerank: float = 0.0
    type_fit: float = 0.0
    log_words: float = 0.0
    factoid: float = 0.0
    sentence: float = 0.0


FEATURES = tuple(one.name for one in fields(Features))
LEAD = "lead"
STOPPING = "stopping"
RETRIEVERS = "retrievers"
MAX_LEAD = 10.0
CONFIDENCE_FEATURES = (LEAD, *FEATURES)
"""What may weigh in the confidence beside the evidence: the features, and the lead over the best rival."""


@dataclass(frozen=True, slots=True)
class Stopping:
    """Of at most `of` passages the best `first` are read; they are enough when a span's margin is `margin`.

    The margin is the score of a span minus the null score of its passage (logits). Of the questions that it
    was fitted on, with `of` passages each, the rule leaves the share `unread` of all passages unread, and in
    the share `changed` of the questions the best candidate says something else than if all were read.
    """

    first: int
    of: int
    margin: float
    unread: float = 0.0
    changed: float = 0.0

    def part(self, n_passages: int) -> int:
        """How many of a question's passages are read first: all, where they are more than `of`.

        >>> rule = Stopping(first=8, of=20, margin=6.0)
        >>> rule.part(20), rule.part(5), rule.part(50)
        (8, 5, 50)
        """
        return n_passages if n_passages > self.of else min(self.first, n_passages)

    def is_enough(self, spans: Iterable[ScoredSpan]) -> bool:
        """True when one of the spans read leaves so little doubt; never without a null score."""
        return any(one.score - one.null_score >= self.margin for one in spans)

    @classmethod
    def parse(cls, stored: Any) -> Stopping:
        """The rule of a JSON object; TypeError or ValueError for anything else."""
        found = cls(**stored)
        if not (isinstance(found.first, int) and isinstance(found.of, int) and 0 < found.first < found.of):
            raise ValueError(f"first is {found.first!r} of {found.of!r}; expected 0 < first < of")
        if not all(map(math.isfinite, (found.margin, found.unread, found.changed))):
            raise ValueError(f"the margin is {found.margin!r}; expected finite numbers")
        return found


@dataclass(frozen=True, slots=True)
class Calibration:
    """A fitted weighing of evidence; `threshold` is in units of confidence.

    A feature without a weight counts nothing. `error_thresholds` are by whole percentages of wrong answers
    among those given, as far as they can be promised, each promise broken with probability `delta` at most.
    `stopping` says when passages are left unread; without it all are read.
    """

    weights: Mapping[str, float]
    slope: float
    offset: float
    threshold: float
    reader: str
    fitted_on: str
    confidence_weights: Mapping[str, float] = field(default_factory=dict)
    error_thresholds: Mapping[str, float] = field(default_factory=dict)
    delta: float = 0.1
    stopping: Stopping | None = None

    def evidence(self, features: Features) -> float:
        """The linear score that ranks candidates; higher is better."""
        return math.fsum(weight * getattr(features, name) for name, weight in self.weights.items())

    def confidence(self, evidence: float, features: Features | None = None, lead: float = 0.0) -> float:
        """The fitted probability that the best candidate, having this evidence, is right.

        >>> Calibration({}, 1.0, 0.0, 0.5, "", "").confidence(0.0)
        0.5
        """
        z = self.slope * evidence + self.further(features, lead) + self.offset
        return 1 / (1 + math.exp(-z)) if z >= 0 else math.exp(z) / (1 + math.exp(z))

    def further(self, features: Features | None, lead: float) -> float:
        """What the confidence rests on beside the evidence, summed."""
        return math.fsum(
            weight * (lead if name == LEAD else getattr(features, name, 0.0))
            for name, weight in self.confidence_weights.items()
        )

    def threshold_for(self, max_error: float) -> float:
        """The least confidence with which at most this share of the answers given is wrong; see `delta`.

        It is that of the next whole percentage below. ValueError: not a share between 0 and 1, or less than
        can be promised, in which case the least that can is named. ModelRejected: nothing was promised.

        >>> Calibration({}, 1.0, 0.0, 0.5, "", "", error_thresholds={"5": 0.8, "9": 0.6}).threshold_for(0.07)
        0.8
        """
        if not 0 < max_error < 1:
            raise ValueError(f"max_error is {max_error}; expected a share of wrong answers between 0 and 1")
        if not self.error_thresholds:
            raise ModelRejected(
                f"this calibration ({self.fitted_on}) promises no share of errors: fit it anew with "
                "spanwise calibrate, on more questions if it was fitted by this version"
            )
        by_percent = {int(percent): least for percent, least in self.error_thresholds.items()}
        met = [percent for percent in by_percent if percent <= 100 * max_error + 1e-9]
        if not met:
            raise ValueError(
                f"max_error is {max_error}; the least that can be promised is {min(by_percent) / 100}"
            )
        return by_percent[max(met)]

    def save(self, path: Path) -> None:
        """Writes the calibration as JSON."""
        path.write_text(json.dumps({"format": FORMAT, **asdict(self)}, indent=2) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Calibration:
        """The calibration that was saved; ModelRejected when the file is not one."""
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ModelRejected(f"{path} is not a calibration: {error!r}") from error
        if isinstance(stored, dict) and stored.get("format") not in (1, FORMAT):
            raise ModelRejected(f"{path} has format {stored.get('format')!r}; expected 1 or {FORMAT}")
        return cls.parse(stored, str(path))

    @classmethod
    def parse(cls, stored: Any, where: str) -> Calibration:
        """The calibration of a JSON value; ModelRejected says that what is `where` is none."""
        try:
            known = {
                one.name: stored[one.name] for one in fields(cls) if _is_required(one) or one.name in stored
            }
            if known.get(STOPPING) is not None:
                known[STOPPING] = Stopping.parse(known[STOPPING])
            calibration = cls(**known)
            strangers = {*calibration.weights} - {*FEATURES}
            strangers |= {*calibration.confidence_weights} - {*CONFIDENCE_FEATURES}
            strangers |= {percent for percent in calibration.error_thresholds if not percent.isdecimal()}
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ModelRejected(f"{where} is not a calibration: {error!r}") from error
        if strangers:
            raise ModelRejected(f"{where} weighs {sorted(strangers)}, expected some of {list(FEATURES)}")
        return calibration


@dataclass(frozen=True, slots=True)
class Calibrations:
    """`fallback` is for the retrievers that none was fitted for; all are of one reader."""

    fallback: Calibration
    by_retriever: Mapping[str, Calibration] = field(default_factory=dict)

    def of(self, retriever: str) -> Calibration:
        """The calibration to be used behind the retriever of this name, `Retriever.name`."""
        return self.by_retriever.get(retriever, self.fallback)

    def fitted(self, calibration: Calibration, retriever: str, is_fallback: bool) -> Calibrations:
        """These with one more: as the fallback, or for its retriever alone.

        What was fitted for other weights of the reader is dropped; then the new one is the fallback, too.
        """
        fits = calibration.reader == self.fallback.reader
        others = {name: one for name, one in self.by_retriever.items() if fits and name != retriever}
        if is_fallback:
            return Calibrations(calibration, others)
        return Calibrations(self.fallback if fits else calibration, {**others, retriever: calibration})

    def save(self, path: Path) -> None:
        """Writes the file."""
        others = {name: asdict(one) for name, one in sorted(self.by_retriever.items())}
        record = {"format": FORMAT, **asdict(self.fallback)} | ({RETRIEVERS: others} if others else {})
        path.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Calibrations:
        """What was saved, also by `Calibration.save`; ModelRejected when the file is of something else."""
        fallback = Calibration.load(path)
        others = json.loads(path.read_text(encoding="utf-8")).get(RETRIEVERS, {})
        if not isinstance(others, dict):
            raise ModelRejected(f"{path} has {RETRIEVERS} = {others!r:.80}; expected an object")
        found = {name: Calibration.parse(stored, f"{path}, {name}") for name, stored in others.items()}
        if strangers := [name for name, one in found.items() if one.reader != fallback.reader]:
            raise ModelRejected(f"{path}: the calibration for {strangers[0]} is of another reader")
        return cls(fallback, found)


def _is_required(one: Any) -> bool:
    return one.default is MISSING and one.default_factory is MISSING


def plain_evidence(features: Features) -> float:
    """The evidence without a calibration: the reader's margin alone."""
    return features.margin


def leads(evidence: Sequence[float], said: Sequence[Hashable]) -> list[float]:
    """For each candidate its evidence less that of the best rival, cut to -10..10; 10 without a rival.

    A rival says something else: `said` are the normalised words. Of candidates in any order, the best has a
    lead of 0 or more, and those that say the same as the best may have one, too.

    >>> leads([3.0, 2.5, 1.0], ["ada rook", "ada rook", "ute falk"])
    [2.0, 1.5, -2.0]
    """
    best: dict[Hashable, float] = {}
    for one, words in zip(evidence, said, strict=True):
        best[words] = max(one, best.get(words, one))
    ordered = sorted(best.items(), key=lambda item: -item[1])[:2]
    found = []
    for one, words in zip(evidence, said, strict=True):
        rival = next((value for other, value in ordered if other != words), None)
        found.append(MAX_LEAD if rival is None else max(-MAX_LEAD, min(MAX_LEAD, one - rival)))
    return found


def log_normaliser(readings: Sequence[Sequence[ScoredSpan]]) -> float:
    """ln Z of everything read for one question, a sequence a passage; -inf where nothing was read."""
    scores = [span.score for spans in readings for span in spans]
    scores += [spans[0].null_score for spans in readings if spans and not math.isnan(spans[0].null_score)]
    return log_sum_exp(scores)


def log_sum_exp(values: Sequence[float]) -> float:
    """ln of the sum of exp(value), without overflow; -inf for none.

    >>> round(log_sum_exp([1000.0, 1000.0]), 6)
    1000.693147
    """
    top = max(values, default=-math.inf)
    return top + math.log(math.fsum(math.exp(value - top) for value in values)) if values else top
