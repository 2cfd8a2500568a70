"""Evidence for a candidate answer: a fitted linear model over features of reading and retrieval.

    evidence   = sum of weight * feature                 ranks the candidates of a question
    confidence = sigmoid(slope * evidence + sum of confidence weight * feature + offset)

Confidence is fitted for the best candidate of a question. Both are fitted on held-out questions. They are
stored beside the reader's weights, with the threshold below which a question is declined. 1 / slope is the
temperature of the evidence.

Source: Platt, "Probabilistic Outputs for Support Vector Machines", 1999 (the confidence).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from spanwise.errors import ModelRejected
from spanwise.types import ScoredSpan

FORMAT = 4
SHARED_PASSAGES = 8  # the best passages, over which `log_probability` is normalised
STOPPING = "stopping"  # keys of the calibration file
RETRIEVERS = "retrievers"
VERDICTS = "verdicts"
RULE = ("slope", "offset", "threshold")


@dataclass(frozen=True, slots=True)
class Features:
    """The features of a candidate; those that a reader does not give are 0.

    margin: the score of the span minus the null score of its passage (logits).
    log_rank: ln of the passage's rank, from 1.
    coverage: the share of the question's idf mass in the passage and its headings.
    sentence_coverage: the share in the sentences of the span and their heading.
    relevance: the logit that the passage answers.
    support: the logit that the sentences of the span answer.
    agreeing: ln(1 + the number of candidates with the same words in other sentences).
    length: ln(1 + the number of words of the span).
    log_probability: ln of the span's probability over all tokens of the best SHARED_PASSAGES passages, see
        `spans.log_normalizer`.
    missing_name: the idf of the rarest name, number or identifier of the question that neither passage,
        headings, path nor document have, as a share of the highest idf.
    other_document: where the question has all words of the name or title of another document, by how much
        more of the question's idf mass that name and title hold than those of this one; else 0.
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
    missing_name: float = 0.0
    other_document: float = 0.0


FEATURES = tuple(feature.name for feature in fields(Features))


@dataclass(frozen=True, slots=True)
class CellFeatures:
    """The features of a cell of a table, or of a value; those of a source that does not give it are 0.

    looked_up: it is the result of an operation.
    score: of that result.
    has_rival: another table has another result.
    unexplained: a word of the question means nothing in the table.
    n_unexplained: half of the number of such words, of which three count.
    computed: it is no text of the table.
    several: it has more than one value.
    in_quoted_table: it is looked up in the table that the reader quotes in a passage.
    in_read_table: it is looked up in the table with the row that is read best.
    read: the reader answers with it from its row.
    margin: score over "no answer", plus relevance (10 logits).
    lead: by which this margin is above that of the best other words, at most one unit; 0 without others.
    best_row: no row holds rarer words of the question.
    tied_row: another row holds as rare ones.
    asked: the share of its terms that the question has.
    read_in_quoted_table: it is only read, in the table that the reader quotes in a passage.
    quoted: the reader quotes it in a passage.
    two: two of the three sources give it.
    three: all three do.
    missing_name: as for a span; the document is that of the table.
    """

    looked_up: float = 0.0
    score: float = 0.0
    has_rival: float = 0.0
    unexplained: float = 0.0
    n_unexplained: float = 0.0
    computed: float = 0.0
    several: float = 0.0
    in_quoted_table: float = 0.0
    in_read_table: float = 0.0
    read: float = 0.0
    margin: float = 0.0
    lead: float = 0.0
    best_row: float = 0.0
    tied_row: float = 0.0
    asked: float = 0.0
    read_in_quoted_table: float = 0.0
    quoted: float = 0.0
    two: float = 0.0
    three: float = 0.0
    missing_name: float = 0.0


CELL_FEATURES = tuple(feature.name for feature in fields(CellFeatures))


@dataclass(frozen=True, slots=True)
class EarlyExit:
    """The rule for early exit: reading stops if a span of the first passages reaches the margin.

    first: the number of passages that are read first.
    of: the rule holds for questions with at most this number of passages.
    margin: the minimum `plain_evidence` of such a span.
    unread: the fraction of passages skipped, on the questions that the rule was fitted on.
    changed: the fraction of these questions whose best candidate changes.
    """

    first: int
    of: int
    margin: float
    unread: float = 0.0
    changed: float = 0.0

    def part(self, n_passages: int) -> int:
        """The number of passages of a question to read first; all if there are more than `of`.

        >>> rule = EarlyExit(first=8, of=20, margin=6.0)
        >>> rule.part(20), rule.part(5), rule.part(50)
        (8, 5, 50)
        """
        return n_passages if n_passages > self.of else min(self.first, n_passages)

    def is_enough(self, spans: Iterable[ScoredSpan]) -> bool:
        """True if one of the spans reaches the margin; False if none has a null score."""
        return any(plain_evidence(span) >= self.margin for span in spans)

    @classmethod
    def parse(cls, stored: Any) -> EarlyExit:
        """The rule in a JSON object; TypeError or ValueError for anything else."""
        rule = cls(**stored)
        if not (isinstance(rule.first, int) and isinstance(rule.of, int) and 0 < rule.first < rule.of):
            raise ValueError(f"first is {rule.first!r} of {rule.of!r}, expected 0 < first < of")
        if not all(map(math.isfinite, (rule.margin, rule.unread, rule.changed))):
            raise ValueError(f"the margin is {rule.margin!r}, expected finite numbers")
        return rule


@dataclass(frozen=True, slots=True)
class VerdictRule:
    """The rule for the verdict on a yes-no question: P(yes) = sigmoid(slope * yes + offset).

    slope, offset: fitted to the reader's logit of "yes".
    threshold: the minimum probability of a verdict that is shown.
    """

    slope: float
    offset: float
    threshold: float

    def verdict(self, yes: float) -> tuple[str, float] | None:
        """Yes or no and its probability, for a logit of "yes"; None below the threshold and for NaN.

        >>> VerdictRule(1.0, 0.0, 0.5).verdict(0.0)
        ('no', 0.5)
        """
        if math.isnan(yes):
            return None
        probability = 1 / (1 + math.exp(-(self.slope * yes + self.offset)))
        verdict, confidence = ("yes", probability) if probability > 0.5 else ("no", 1 - probability)
        return (verdict, confidence) if confidence >= self.threshold else None


@dataclass(frozen=True, slots=True)
class UnseenFolders:
    """How questions without an answer fare about folders that were left out of the fit, each in turn.

    folders: the number of folders.
    absent: the number of questions without an answer.
    answered: how many of them are answered.
    lowest, highest: the lowest and the highest share answered of a folder.
    """

    folders: int
    absent: int
    answered: int
    lowest: float
    highest: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """Fitted weights of evidence and confidence; a feature without a weight does not count.

    weights: of the evidence, by the name of the feature.
    slope, offset: of the confidence.
    threshold: the minimum confidence of an answer.
    reader: the digest of the reader's weights.
    fitted_on: a description of the questions.
    confidence_weights: weights of features that count only in the confidence.
    stopping: the rule for early exit; None reads all passages.
    verdicts: the rule for "yes" and "no"; None shows neither.
    unseen: what the threshold answers about folders that were left out.
    sure: the confidence of the small reader from which on its answer stands, for a pair of readers; None
        reads every question twice.
    hopeless: the confidence of the small reader up to which it declines for both.
    """

    weights: Mapping[str, float]
    slope: float
    offset: float
    threshold: float
    reader: str
    fitted_on: str
    confidence_weights: Mapping[str, float] = field(default_factory=dict)
    stopping: EarlyExit | None = None
    verdicts: VerdictRule | None = None
    unseen: UnseenFolders | None = None
    sure: float | None = None
    hopeless: float = 0.0

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
        """The sum of the weighted features that count only in the confidence."""
        return math.fsum(
            weight * getattr(features, name, 0.0) for name, weight in self.confidence_weights.items()
        )

    @classmethod
    def parse(cls, stored: Any, place: str) -> Calibration:
        """The calibration in a JSON value; for anything else ModelRejected, with `place` in the message."""
        try:
            required = {key.name for key in fields(cls) if key.default is key.default_factory is MISSING}
            values = {k.name: stored[k.name] for k in fields(cls) if k.name in required or k.name in stored}
            if values.get(STOPPING) is not None:
                values[STOPPING] = EarlyExit.parse(values[STOPPING])
            if values.get(VERDICTS) is not None:
                values[VERDICTS] = VerdictRule(**{key: float(values[VERDICTS][key]) for key in RULE})
            if values.get("unseen") is not None:
                values["unseen"] = UnseenFolders(**values["unseen"])
            calibration = cls(**values)
            weighed = {*calibration.weights, *calibration.confidence_weights}
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ModelRejected(f"{place} is not a calibration: {error!r}") from error
        if unknown := sorted(weighed - {*FEATURES}):
            raise ModelRejected(f"{place} has weights for {unknown}, expected some of {list(FEATURES)}")
        rule = calibration.stopping
        if "log_probability" in weighed and rule and rule.first < SHARED_PASSAGES:
            raise ModelRejected(
                f"{place} reads {rule.first} passages first, but its feature log_probability needs "
                f"{SHARED_PASSAGES}"
            )
        return calibration


@dataclass(frozen=True, slots=True)
class Calibrations:
    """The calibrations of one reader, as they are stored in a file.

    A good rank means more with a better retriever, so each retriever may have its own weights. In the file,
    the key "retrievers" holds these calibrations by name, beside the fields of the fallback.

    fallback: for retrievers without their own calibration.
    by_retriever: by `Retriever.name`.
    """

    fallback: Calibration
    by_retriever: Mapping[str, Calibration] = field(default_factory=dict)

    def of(self, retriever: str) -> Calibration:
        """The calibration for the retriever with this name."""
        return self.by_retriever.get(retriever, self.fallback)

    def fitted(self, calibration: Calibration, retriever: str, is_fallback: bool) -> Calibrations:
        """A copy with a new calibration, either as the fallback or only for its retriever.

        If the reader's weights have changed, the old calibrations are dropped and the new one is the
        fallback, too.
        """
        is_same_reader = calibration.reader == self.fallback.reader
        others = {
            name: replace(other, verdicts=calibration.verdicts)
            for name, other in self.by_retriever.items()
            if is_same_reader and name != retriever
        }
        if is_fallback:
            return Calibrations(calibration, others)
        fallback = replace(self.fallback, verdicts=calibration.verdicts) if is_same_reader else calibration
        return Calibrations(fallback, {**others, retriever: calibration})

    def save(self, path: Path) -> None:
        """Writes the file."""
        record = {"format": FORMAT, **asdict(self.fallback)}
        if self.by_retriever:
            record[RETRIEVERS] = {name: asdict(c) for name, c in sorted(self.by_retriever.items())}
        path.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Calibrations:
        """The calibrations in a file; ModelRejected if the file holds something else."""
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
        by_retriever = {name: Calibration.parse(each, f"{path}, {name}") for name, each in others.items()}
        for name, calibration in by_retriever.items():
            if calibration.reader != fallback.reader:
                raise ModelRejected(f"{path}: the calibration for {name} is of another reader")
        return cls(fallback, by_retriever)


def score_over_null(scored: ScoredSpan) -> float:
    """The span's score minus the null score of its passage; the bare score without a null score."""
    return scored.score if math.isnan(scored.null_score) else scored.score - scored.null_score


def plain_evidence(scored: ScoredSpan) -> float:
    """The evidence without a calibration: the margin over "no answer", plus the relevance if there is one.

    A value above 0 favours an answer. NaN for a reader without a null score.
    """
    margin = scored.score - scored.null_score
    return margin if math.isnan(scored.relevance) else margin + scored.relevance
