"""SQuAD 2.0 with no-answer probabilities: averages at a threshold, and the best threshold in hindsight.

It follows evaluate-v2.0.py with `--na-prob-file`. The `best_` figures choose the threshold on the very
questions that they report, so they are upper bounds; `threshold.py` chooses one on held-back data.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from .squad import Golds, Predictions, averages_v2, question_scores_v2
from .squad_precision_recall import precision_recall_v2


def na_probability(margin: float) -> float:
    """The no-answer probability of a reader whose best span scores `margin` above its null answer.

    p = 1 / (1 + e^margin), the sigmoid of null score minus best score: 0.5 where both are equal. It orders
    questions as the null odds do and keeps them between 0 and 1; it is not fitted to be right that often.

    >>> na_probability(0.0), na_probability(-1000.0)
    (0.5, 1.0)
    """
    odds = math.exp(-abs(margin))
    return (odds if margin > 0 else 1.0) / (1.0 + odds)


def decline_above(
    golds: Golds, scores: Mapping[str, float], na_probabilities: Mapping[str, float], threshold: float
) -> dict[str, float]:
    """The scores after declining every question whose no-answer probability is above the threshold.

    A declined question scores 1 when it has no golds and 0 when it has. Source: apply_no_ans_threshold.
    """
    return {
        qid: float(not golds[qid]) if na_probabilities[qid] > threshold else score
        for qid, score in scores.items()
    }


def best_threshold(
    golds: Golds,
    predictions: Predictions,
    scores: Mapping[str, float],
    na_probabilities: Mapping[str, float],
) -> tuple[float, float]:
    """The best average in percent that any threshold gives, and the smallest threshold that gives it.

    Source: find_best_thresh. Its habit is kept that questions enter one by one in order of probability, equal
    ones in the order of the mapping, so that the best may lie inside a run of equal probabilities. It stops
    with an error when a question has no prediction; here such a question counts nowhere.
    """
    current = best = float(sum(not golds[qid] for qid in scores))
    threshold = 0.0
    for qid in sorted(na_probabilities, key=na_probabilities.__getitem__):
        if qid not in scores:
            continue
        gained_or_lost = -1.0 if predictions[qid] else 0.0
        current += scores[qid] if golds[qid] else gained_or_lost
        if current > best:
            best, threshold = current, na_probabilities[qid]
    return 100.0 * best / len(scores), threshold


def score_v2_with_na(
    golds: Golds, predictions: Predictions, na_probabilities: Mapping[str, float], threshold: float = 1.0
) -> dict[str, float]:
    """What `score_v2` gives at the threshold; `best_exact`, `best_f1`, their `…_thresh`, and the `pr_…_ap`.

    The default threshold declines nothing that the predictions do not decline; the added figures do not
    depend on it. Keys stand in the official order. ValueError when a predicted question has no probability.
    """
    exact, f1 = question_scores_v2(golds, predictions)
    missing = [qid for qid in exact if qid not in na_probabilities]
    if missing:
        raise ValueError(f"question {missing[0]!r} has no no-answer probability ({len(missing)} such)")
    result = averages_v2(
        golds,
        decline_above(golds, exact, na_probabilities, threshold),
        decline_above(golds, f1, na_probabilities, threshold),
    )
    for name, scores in (("exact", exact), ("f1", f1)):
        best = best_threshold(golds, predictions, scores, na_probabilities)
        result[f"best_{name}"], result[f"best_{name}_thresh"] = best
    return result | precision_recall_v2(golds, exact, f1, na_probabilities)
