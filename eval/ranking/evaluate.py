"""The figures of a run: each measure for each query that has judgements, and the means over the queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from .judged_ranking import judge
from .measures import Measure

Qrels = Mapping[str, Mapping[str, int]]  # the relevance of documents, by query
Run = Mapping[str, Mapping[str, float]]  # the scores of documents, by query


@dataclass(frozen=True, slots=True)
class RankingScores:
    """Values by the name of the measure: of each query with judgements, and their plain means."""

    per_query: dict[str, dict[str, float]]
    mean: dict[str, float]


def evaluate(qrels: Qrels, run: Run, measures: Sequence[Measure]) -> RankingScores:
    """The value of each measure for each query of the judgements, in their order, and the means over all.

    A judged query that is not in the run counts as 0, as in ir_measures and `trec_eval -c`; a query of the
    run without judgements is passed over. The scores alone say the order of the documents.
    ValueError: no measures, no judgements, or a score that is not a number.

    >>> from .measures import parse_measures
    >>> qrels, run = {"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"a": 0.5, "b": 0.7}}
    >>> evaluate(qrels, run, parse_measures("RR P@1")).mean
    {'RR': 0.25, 'P@1': 0.0}
    """
    if not measures:
        raise ValueError("no measures; expected at least one")
    if not qrels:
        raise ValueError("no judged queries; their mean is undefined")
    per_query = {query: _scores(query, judged, run, measures) for query, judged in qrels.items()}
    mean = {m.name: fmean(scores[m.name] for scores in per_query.values()) for m in measures}
    return RankingScores(per_query, mean)


def _scores(query: str, judged: Mapping[str, int], run: Run, measures: Sequence[Measure]) -> dict[str, float]:
    scores = run.get(query, {})
    try:
        found = {order: judge(order(scores), judged) for order in {measure.order for measure in measures}}
    except ValueError as error:
        raise ValueError(f"query {query!r}: {error}") from error
    return {measure.name: measure(found[measure.order]) for measure in measures}
