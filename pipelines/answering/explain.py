"""Explanation of an answer: evidence by feature, and the rank of its passage in each stage.

For a document of the user's choice, also the stage at which it dropped out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from spanwise.errors import DocumentNotFound
from spanwise.types import Answer, AnswerSpan, Filter, Passage

from ...index.protocol import Ids
from ...index.snapshot import Snapshot
from ...retrieval.protocol import Ranker
from ..folders import Root, files_named, resolve_document_id
from ..understanding.question import Question
from .ask import Answerer, AnswerTrace, placed_span
from .candidates import RankedCandidate, SpanCandidate, answer_span
from .cells import BIAS, fitted_weights
from .filters import conditions_of, select
from .mentions import answered

MAX_RANK = 100_000  # deeper ranks are not searched
DEPTH = 1_000  # hits of the whole retriever that are searched for a document


@dataclass(frozen=True, slots=True)
class FeatureContribution:
    """One feature of a candidate, which adds `weight * value` to the evidence."""

    feature: str
    value: float
    weight: float

    @property
    def contribution(self) -> float:
        """`weight * value`."""
        return self.weight * self.value


@dataclass(frozen=True, slots=True)
class ScoreBreakdown:
    """A span that was read, with its evidence by feature.

    Attributes:
        answer: the span.
        evidence: the sum of the contributions, by which candidates rank.
        contributions: one per feature.
    """

    answer: AnswerSpan
    evidence: float
    contributions: tuple[FeatureContribution, ...]


@dataclass(frozen=True, slots=True)
class StageRank:
    """The rank of the best of some passages in one stage.

    Attributes:
        stage: the name of the retriever.
        depth: the number of hits that were searched.
        rank: counts from 1; None below `depth`.
        score: the score; None if the stage finds none of the passages (no common word, or no vector).
        passage: the passage; None in the same case.
    """

    stage: str
    depth: int
    rank: int | None = None
    score: float | None = None
    passage: Passage | None = None


@dataclass(frozen=True, slots=True)
class Formula:
    """confidence = 1 / (1 + exp(-(slope * evidence + other_terms + offset))).

    Attributes:
        slope: fitted.
        offset: fitted.
        threshold: a question is declined below this confidence.
        other_terms: the weighted sum of other features that the confidence depends on.
    """

    slope: float
    offset: float
    threshold: float
    other_terms: float = 0.0

    def __str__(self) -> str:
        """The formula with its numbers."""
        others = f" {self.other_terms:+.3f} for other features" if self.other_terms else ""
        return (
            f"confidence = 1 / (1 + exp(-({self.slope:.3f} x evidence{others} {self.offset:+.3f}))); "
            f"a question is declined below {self.threshold:.0%}"
        )


@dataclass(frozen=True, slots=True)
class DocumentFate:
    """The last stage that a document reached for a question.

    Attributes:
        document: the document's id.
        stage: "not indexed", "rejected", "skipped", "filtered", "not retrieved", "duplicate", "unread",
            "not proposed", "outscored", "declined", "alternative" or "answer".
        reason: why it did not reach the next stage.
        advice: how to change that, or "".
        ranks: the ranks of its best passage, in each stage and in the whole retriever.
        best: its best candidate; None without one.
    """

    document: str
    stage: str
    reason: str
    advice: str = ""
    ranks: tuple[StageRank, ...] = ()
    best: ScoreBreakdown | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """An answer with the evidence for its best span, or for the nearest span of a declined question.

    If no span was read, only `answer` and `document` are set.

    Attributes:
        answer: the answer.
        best: the span with its evidence.
        rank: the rank of its passage among the hits.
        scores: the scores of its passage by stage.
        ranks: the ranks of its passage in each stage.
        formula: how evidence becomes confidence; None without a calibration.
        document: the fate of the document that was named; None without one.
    """

    answer: Answer
    best: ScoreBreakdown | None = None
    rank: int | None = None
    scores: tuple[tuple[str, float], ...] = ()
    ranks: tuple[StageRank, ...] = ()
    formula: Formula | None = None
    document: DocumentFate | None = None


def explained(
    answerer: Answerer,
    question: Question,
    stages: Sequence[Ranker],
    document: str | None = None,
    roots: Sequence[Root] = (),
    sync_command: str = "spanwise index",
) -> Explanation:
    """The answer and its explanation; `stages` are those of the retriever.

    `document` is an id, a path, or the end of exactly one id. DocumentNotFound if there is no such document
    or file.
    """
    [trace] = answered([question], answerer)
    fate = None
    if document is not None:
        fate = _fate(answerer, trace, stages, document, roots, sync_command)
    if not trace.ranked:
        return Explanation(trace.answer, document=fate)
    best = trace.ranked[0]
    passage_id = best.candidate.scored.passage.id
    hit = next(hit for hit in trace.hits if hit.passage.id == passage_id)
    ids = np.array([passage_id], np.int64)
    calibration = trace.calibration
    threshold = trace.answer.threshold
    formula = None
    if calibration is not None and threshold is not None:
        if isinstance(best.candidate, SpanCandidate):
            other_terms = calibration.other_terms(best.candidate.features)
            formula = Formula(calibration.slope, calibration.offset, threshold, other_terms)
        else:
            formula = Formula(1.0, fitted_weights()[BIAS], threshold)
    return Explanation(
        answer=trace.answer,
        best=_breakdown(best, trace, answerer.snapshot),
        rank=hit.rank,
        scores=tuple(hit.scores.items()),
        ranks=tuple(_stage_rank(trace.spelling.text, ids, stage, answerer.snapshot) for stage in stages),
        formula=formula,
        document=fate,
    )


def _breakdown(ranked: RankedCandidate, trace: AnswerTrace, snapshot: Snapshot) -> ScoreBreakdown:
    calibration = trace.calibration
    weights: Mapping[str, float] = calibration.weights if calibration else {"margin": 1.0, "relevance": 1.0}
    evidence = ranked.evidence
    if ranked.result:
        weights = fitted_weights()
        evidence -= weights[BIAS]
    features = asdict(ranked.candidate.features).items()
    return ScoreBreakdown(
        placed_span(snapshot.document, answer_span(ranked)),
        evidence,
        tuple(FeatureContribution(name, value, weights.get(name, 0.0)) for name, value in features),
    )


def _stage_rank(question: str, passage_ids: Ids, stage: Ranker, snapshot: Snapshot) -> StageRank:
    """The rank of the best of these passages among all passages of the index; no texts are read for it."""
    depth = min(MAX_RANK, snapshot.n_passages)
    [own] = stage.rank([question], 1, passage_ids)
    if not len(own.passage_ids):
        return StageRank(stage.name, depth)
    best = int(own.passage_ids[0])
    score = float(own.scores[0])
    [ranking] = stage.rank([question], depth)
    places = np.flatnonzero(ranking.passage_ids == best)
    rank = int(places[0]) + 1 if len(places) else None
    return StageRank(stage.name, depth, rank, score, snapshot.passages([best])[0])


# The fate of a document


def _fate(
    answerer: Answerer,
    trace: AnswerTrace,
    stages: Sequence[Ranker],
    document: str,
    roots: Sequence[Root],
    sync_command: str,
) -> DocumentFate:
    snapshot = answerer.snapshot
    where = answerer.options.where
    question = trace.spelling.text
    ids = set(snapshot.document_ids())
    refused = snapshot.unread_files()
    try:
        name = resolve_document_id(document, ids | refused.keys(), roots)
    except DocumentNotFound:
        for name, path in files_named(document, roots):
            if path.is_file():
                return DocumentFate(name, "not indexed", "the file is not indexed", f"run: {sync_command}")
        raise
    if name not in ids:
        refusal = refused[name]
        return DocumentFate(name, refusal.kind, refusal.reason, f"fix the file and run: {sync_command}")
    passage_ids = snapshot.passage_ids_of([name])
    unmet = [] if where is None else _unmet_conditions(snapshot, where, passage_ids)
    if unmet:
        reason = f"the filter excludes it: {'; '.join(unmet)}"
        return DocumentFate(name, "filtered", reason, "ask without this condition")
    listed = trace.answer.computed
    if listed and listed.is_list:
        if name in {each.document_id for each in listed.documents}:
            return DocumentFate(name, "answer", f"it mentions “{listed.words}”")
        return DocumentFate(name, "not retrieved", f"it does not mention “{listed.words}”")
    among = answerer.selection.passage_ids if answerer.selection else None
    [hits] = answerer.retriever.search([question], max(DEPTH, answerer.options.k), among)
    whole = StageRank(answerer.retriever.name, len(hits))
    if hit := next((hit for hit in hits if hit.passage.document_id == name), None):
        whole = replace(whole, rank=hit.rank, score=hit.score, passage=hit.passage)
    ranks = (*(_stage_rank(question, passage_ids, stage, snapshot) for stage in stages), whole)
    own = next((each for each in trace.ranked if each.candidate.scored.span.document_id == name), None)
    stage, reason, advice = _verdict(trace, name, own is not None, whole)
    best = _breakdown(own, trace, snapshot) if own else None
    return DocumentFate(name, stage, reason, advice, ranks, best)


def _unmet_conditions(snapshot: Snapshot, where: Filter, passage_ids: Ids) -> list[str]:
    """The conditions that a document with these passages does not meet."""
    conditions = conditions_of(where).items()
    return [
        name
        for name, alone in conditions
        if not np.isin(passage_ids, select(snapshot, alone).passage_ids).any()
    ]


def _verdict(
    trace: AnswerTrace, document_id: str, is_candidate: bool, whole: StageRank
) -> tuple[str, str, str]:
    """The stage, the reason and the advice for an indexed document that the filter includes."""
    answer = trace.answer
    for stage, reason, spans in (
        ("answer", "it has the answer", [answer.primary]),
        ("answer", "it has a part of the answer", answer.parts),
        ("alternative", "it has another version of the answer", answer.otherwise),
        ("alternative", "it has another answer", answer.alternatives),
    ):
        same_words = [each for span in spans if span for each in (span, *span.also_in)]
        if any(each.span.document_id == document_id for each in same_words):
            return stage, reason, ""
    if is_candidate:
        return _not_shown(trace, document_id)
    n_read = len(trace.readings)
    if any(hit.passage.document_id == document_id for hit in trace.hits[:n_read]):
        return "not proposed", "its passages were read, but none of their spans is a candidate", ""
    for hit in trace.hits[n_read:]:
        if document_id in (hit.passage.document_id, *(copy.document_id for copy in hit.duplicates)):
            reason = f"it has rank {hit.rank}, but reading stopped after {n_read} passages"
            return "unread", reason, "read all passages with the option read_all=True"
    for hit in trace.hits:
        if any(copy.document_id == document_id for copy in hit.duplicates):
            reason = f"it repeats {hit.passage.document_id} at rank {hit.rank}, which was read"
            return "duplicate", reason, "read each with: --no-dedupe"
    if whole.rank is None:
        return "not retrieved", f"none of its passages is among the first {whole.depth} hits", ""
    reason = f"its best passage has rank {whole.rank}, but only the best {len(trace.hits)} were read"
    return "not retrieved", reason, f"read down to this rank with: -k {whole.rank}"


def _not_shown(trace: AnswerTrace, document_id: str) -> tuple[str, str, str]:
    nearest = trace.answer.best_rejected
    threshold = trace.answer.threshold
    if nearest and nearest.span.document_id == document_id:
        confidence = nearest.confidence
        if confidence is not None and threshold is not None:
            why = f"confidence {confidence:.1%} is below the threshold {threshold:.1%}"
        else:
            why = f"its evidence is {-trace.ranked[0].evidence:.2f} below that of “no answer”"
        advice = f"show it with: --threshold {int(10_000 * (confidence or 0)) / 10_000:g}"
        return "declined", f"its span is the nearest, and the question was declined: {why}", advice
    names = [each.candidate.scored.span.document_id for each in trace.ranked]
    declined = "; the question was declined" if trace.answer.no_answer else ""
    place = f"candidate {names.index(document_id) + 1} of {len(names)}"
    return "outscored", f"its best span is {place}: one of {names[0]} ranks above it{declined}", ""
