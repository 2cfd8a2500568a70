"""How much speaks for a candidate answer: reading and retrieval weighed by a fitted linear model.

evidence = sum of weight * feature; confidence = sigmoid(slope * evidence + offset) of the best
candidate. Both are fitted on held-back questions (Platt 1999 for the second step) and stored beside
the reader's weights, with the threshold below which a question is declined.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from spanwise.errors import ModelRejected


@dataclass(frozen=True, slots=True)
class Features:
    """What is known of a candidate.

    `margin`: span score minus the null score of its passage (logits). `log_rank`: ln of the passage's
    rank, from 1. `coverage`: the share of the question's idf mass found in the passage and its headings.
    `sentence_coverage`: the same for the sentence under its heading. `similarity`: the cosine of the
    question and that sentence.
    """

    margin: float
    log_rank: float
    coverage: float
    sentence_coverage: float
    similarity: float


FEATURES = tuple(field.name for field in fields(Features))


@dataclass(frozen=True, slots=True)
class Calibration:
    """A fitted weighing of evidence; `threshold` is in units of confidence."""

    weights: Mapping[str, float]
    slope: float
    offset: float
    threshold: float
    reader: str
    fitted_on: str

    def evidence(self, features: Features) -> float:
        """The linear score that ranks candidates; higher is better."""
        return math.fsum(self.weights[name] * getattr(features, name) for name in FEATURES)

    def confidence(self, evidence: float) -> float:
        """The fitted probability that the best candidate, having this evidence, is right.

        >>> Calibration({}, 1.0, 0.0, 0.5, "", "").confidence(0.0)
        0.5
        """
        z = self.slope * evidence + self.offset
        return 1 / (1 + math.exp(-z)) if z >= 0 else math.exp(z) / (1 + math.exp(z))

    def save(self, path: Path) -> None:
        """Writes the calibration as JSON."""
        path.write_text(json.dumps({"format": 1, **asdict(self)}, indent=2) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Calibration:
        """The calibration that was saved; ModelRejected when the file is not one."""
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ModelRejected(f"{path} is not a calibration: {error!r}") from error
        return cls.parse(stored, str(path))

    @classmethod
    def parse(cls, stored: Any, where: str) -> Calibration:
        """The calibration of a JSON value; ModelRejected says that what is `where` is none."""
        try:
            calibration = cls(**{field.name: stored[field.name] for field in fields(cls)})
        except (KeyError, TypeError) as error:
            raise ModelRejected(f"{where} is not a calibration: {error!r}") from error
        if set(calibration.weights) != set(FEATURES):
            raise ModelRejected(f"{where} weighs {sorted(calibration.weights)}, expected {sorted(FEATURES)}")
        return calibration


def plain_evidence(features: Features) -> float:
    """The evidence without a calibration: the reader's margin alone."""
    return features.margin
