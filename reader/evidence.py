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
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from spanwise.errors import ModelRejected

from .stopping import Stopping

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
CONFIDENCE_FEATURES = (LEAD, *FEATURES)
"""What may weigh in the confidence beside the evidence: the features, and the lead over the best rival."""


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


def _is_required(one: Any) -> bool:
    return one.default is MISSING and one.default_factory is MISSING


def plain_evidence(features: Features) -> float:
    """The evidence without a calibration: the reader's margin alone."""
    return features.margin
