"""SQuAD 2.0 at a threshold: all averages, and how often it was rightly seen whether there is an answer.

The official script prints the averages by kind of question for the threshold it is given alone; here they
stand for the best thresholds, too. Both are of the very questions that chose them: upper bounds.
"""

from __future__ import annotations

from collections.abc import Mapping

from .squad import Golds, Predictions, averages_v2, question_scores_v2
from .squad_na_probability import best_threshold, decline_above

Figures = dict[str, float]


def answer_vs_no_answer(golds: Golds, declined: Mapping[str, bool]) -> float:
    """AvNA: the percentage of the questions that are answered if and only if they have an answer.

    ValueError when there are no questions. Source: Stanford CS224N, the default project's AvNA metric.

    >>> answer_vs_no_answer({"q1": ["Hawaii"], "q2": []}, {"q1": False, "q2": False})
    50.0
    """
    if not declined:
        raise ValueError("no questions; expected at least one")
    return 100.0 * sum(bool(golds[qid]) != gone for qid, gone in declined.items()) / len(declined)


def operating_point(
    golds: Golds,
    spans: Predictions,
    na_probabilities: Mapping[str, float],
    threshold: float,
) -> Figures:
    """The threshold, the averages of `averages_v2` and `AvNA` when questions above it are declined.

    `spans` are the best answers, whether declined or not; an empty one declines at any threshold.
    """
    exact, f1 = question_scores_v2(golds, spans)
    averages = averages_v2(
        golds,
        decline_above(golds, exact, na_probabilities, threshold),
        decline_above(golds, f1, na_probabilities, threshold),
    )
    declined = {qid: not spans[qid] or na_probabilities[qid] > threshold for qid in exact}
    return {"threshold": threshold, **averages, "AvNA": answer_vs_no_answer(golds, declined)}


def best_operating_points(
    golds: Golds, spans: Predictions, na_probabilities: Mapping[str, float]
) -> dict[str, Figures]:
    """`at_best_exact` and `at_best_f1`: the operating point at the threshold that is best for each.

    ValueError when a question with a span has no probability.
    """
    if missing := [qid for qid in golds if qid in spans and qid not in na_probabilities]:
        raise ValueError(f"question {missing[0]!r} has no no-answer probability ({len(missing)} such)")
    scores = dict(zip(("exact", "f1"), question_scores_v2(golds, spans), strict=True))
    found: dict[str, Figures] = {}
    for name, values in scores.items():
        _, threshold = best_threshold(golds, spans, values, na_probabilities)
        found[f"at_best_{name}"] = operating_point(golds, spans, na_probabilities, threshold)
    return found
