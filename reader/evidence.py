"""How much speaks for a candidate answer: reading and retrieval weighed by a fitted linear model.

evidence = sum of weight * feature; it ranks the candidates of a question. Then
confidence = sigmoid(slope * evidence + sum of confidence weight * feature + offset) of the best candidate.
Both are fitted on held-back questions (Platt 1999 for the second step: 1 / slope is the temperature of the
evidence) and stored beside the reader's weights, with the threshold below which a question is declined.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from spanwise.errors import ModelRejected
from spanwise.types import ScoredSpan

FORMAT = 4
SHARED_PASSAGES = 8  # the best ones, over which a span's probability is normalised: they are read together


@dataclass(frozen=True, slots=True)
class Features:
    """The features of a candidate.

    Of the reader (logits): `margin`, span score minus the null score of its passage; `relevance`, the passage
    answers; `support`, the sentences around the span do. The last two are 0 for a reader without evidence.

    Of the passage: `log_rank`, ln of its rank, from 1. `coverage`, the share of the question's idf mass found
    in it and its headings; `sentence_coverage`, the same for the sentences of the span under their heading.

    `agreeing`: ln(1 + the number of candidates with the same words in other sentences). `length`: ln(1 + the
    words of the span).

    `log_probability`: that of the span among all tokens of the best SHARED_PASSAGES passages, see
    `spans.log_normalizer`; 0 for a reader that does not give it.
    """

    margin: float
    log_rank: float
    coverage: float
    sentence_coverage: float
    relevance: float = 0.0
    support: float = 0.0
    agreeing: float = 0.0
    length: float = 0.0
    log_probability: float = 0.0


FEATURES = tuple(one.name for one in fields(Features))
STOPPING, RETRIEVERS = "stopping", "retrievers"  # keys of the file


@dataclass(frozen=True, slots=True)
class EarlyExit:
    """Reads the best `first` of at most `of` passages; they are enough when a span has this `margin`.

    The margin is that of `plain_evidence`. On the questions that it
    was fitted on, with `of` passages each, the share `unread` of all passages stays unread, and for the share
    `changed` of the questions the best candidate differs from that of all passages.
    """

    first: int
    of: int
    margin: float
    unread: float = 0.0
    changed: float = 0.0

    def part(self, n_passages: int) -> int:
        """The number of passages of a question to read first: all, where they are more than `of`.

        >>> rule = EarlyExit(first=8, of=20, margin=6.0)
        >>> rule.part(20), rule.part(5), rule.part(50)
        (8, 5, 50)
        """
        return n_passages if n_passages > self.of else min(self.first, n_passages)

    def is_enough(self, spans: Iterable[ScoredSpan]) -> bool:
        """True when one of the spans has the margin; never without a null score."""
        return any(plain_evidence(one) >= self.margin for one in spans)

    @classmethod
    def parse(cls, stored: Any) -> EarlyExit:
        """The rule of a JSON object; TypeError or ValueError for anything else."""
        found = cls(**stored)
        if not (isinstance(found.first, int) and isinstance(found.of, int) and 0 < found.first < found.of):
            raise ValueError(f"first is {found.first!r} of {found.of!r}, expected 0 < first < of")
        if not all(map(math.isfinite, (found.margin, found.unread, found.changed))):
            raise ValueError(f"the margin is {found.margin!r}, expected finite numbers")
        return found


@dataclass(frozen=True, slots=True)
class Calibration:
    """Fitted weights of evidence; `threshold` is the minimum confidence of an answer.

    A feature without a weight counts nothing. `reader` is the digest of the reader's weights. Without
    `stopping` all passages are read.
    """

    weights: Mapping[str, float]
    slope: float
    offset: float
    threshold: float
    reader: str
    fitted_on: str
    confidence_weights: Mapping[str, float] = field(default_factory=dict)
    stopping: EarlyExit | None = None

    def evidence(self, features: Features) -> float:
        """The linear score that ranks candidates; higher is better."""
        return math.fsum(weight * getattr(features, name) for name, weight in self.weights.items())

    def confidence(self, evidence: float, features: Features | None = None) -> float:
        """The fitted probability that a candidate with this evidence is right.

        >>> Calibration({}, 1.0, 0.0, 0.5, "", "").confidence(0.0)
        0.5
        """
        z = self.slope * evidence + self.other_terms(features) + self.offset
        return 1 / (1 + math.exp(-z)) if z >= 0 else math.exp(z) / (1 + math.exp(z))

    def other_terms(self, features: Features | None) -> float:
        """The sum of the terms of the confidence besides the evidence."""
        return math.fsum(
            weight * getattr(features, name, 0.0) for name, weight in self.confidence_weights.items()
        )

    @classmethod
    def parse(cls, stored: Any, where: str) -> Calibration:
        """The calibration of a JSON value; ModelRejected names the place `where` of anything else."""
        try:
            required = [one.name for one in fields(cls) if one.default is one.default_factory is MISSING]
            names = [one.name for one in fields(cls) if one.name in required or one.name in stored]
            known = {name: stored[name] for name in names}
            if known.get(STOPPING) is not None:
                known[STOPPING] = EarlyExit.parse(known[STOPPING])
            found = cls(**known)
            unknown = {*found.weights, *found.confidence_weights} - {*FEATURES}
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ModelRejected(f"{where} is not a calibration: {error!r}") from error
        if unknown:
            raise ModelRejected(f"{where} weighs {sorted(unknown)}, expected some of {list(FEATURES)}")
        is_shared = "log_probability" in {*found.weights, *found.confidence_weights}
        if is_shared and found.stopping and found.stopping.first < SHARED_PASSAGES:
            raise ModelRejected(
                f"{where} reads {found.stopping.first} passages first and weighs log_probability, which is "
                f"over {SHARED_PASSAGES}"
            )
        return found


@dataclass(frozen=True, slots=True)
class Calibrations:
    """The calibrations of one reader: those fitted for one retriever each, and `fallback` for all others.

    The rank of a passage means more behind a better retriever, so evidence has other weights. In the file
    "retrievers" holds the calibrations by the retriever's name, besides the fields of the fallback.
    """

    fallback: Calibration
    by_retriever: Mapping[str, Calibration] = field(default_factory=dict)

    def of(self, retriever: str) -> Calibration:
        """The calibration for the retriever of this name, `Retriever.name`."""
        return self.by_retriever.get(retriever, self.fallback)

    def fitted(self, calibration: Calibration, retriever: str, is_fallback: bool) -> Calibrations:
        """These with one more: as the fallback, or for its retriever alone.

        Calibrations of other weights of the reader are dropped; then the new one is the fallback, too.
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
        """The calibrations of a file; ModelRejected when the file holds something else."""
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ModelRejected(f"{path} is not a calibration: {error!r}") from error
        if isinstance(stored, dict) and stored.get("format") != FORMAT:
            raise ModelRejected(f"{path} has format {stored.get('format')!r}, expected {FORMAT}")
        fallback = Calibration.parse(stored, str(path))
        others = stored.get(RETRIEVERS, {})
        if not isinstance(others, dict):
            raise ModelRejected(f"{path} has {RETRIEVERS} = {others!r:.80}, expected an object")
        found = {name: Calibration.parse(one, f"{path}, {name}") for name, one in others.items()}
        if wrong := [name for name, one in found.items() if one.reader != fallback.reader]:
            raise ModelRejected(f"{path}: the calibration for {wrong[0]} is of another reader")
        return cls(fallback, found)


def plain_evidence(scored: ScoredSpan) -> float:
    """The evidence without a calibration: the margin over no answer and the relevance, where there are such.

    Above 0 it speaks for an answer. NaN for a reader without a null answer.
    """
    margin = scored.score - scored.null_score
    return margin if math.isnan(scored.relevance) else margin + scored.relevance
