"""The precision-recall averages of SQuAD 2.0: how well no-answer probabilities order the questions.

It follows evaluate-v2.0.py with `--na-prob-file` and `--out-image-dir`; the pictures are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby

from .squad import Golds


def average_precision(
    golds: Golds, scores: Mapping[str, float], na_probabilities: Mapping[str, float]
) -> float:
    """The area under the precision-recall steps that thresholds on the probability give, in percent.

    AP = Σ_t P_t (R_t - R_t'), over the distinct probabilities t in ascending order, t' the one before (R = 0
    before the first). At t the questions with a probability of at most t are answered: P_t is the sum of
    their scores over their number, R_t the same sum over the number of questions with golds; a question
    without golds adds nothing to the sum. All counts are over the questions in `scores`, and equal
    probabilities enter together. ValueError when no scored question has golds.
    Source: evaluate-v2.0.py, make_precision_recall_eval.

    >>> average_precision({"q1": ["Hawaii"], "q2": []}, {"q1": 1.0, "q2": 0.0}, {"q1": 0.9, "q2": 0.1})
    50.0
    """
    area = before = 0.0
    for recall, precision in precision_recall_points(golds, scores, na_probabilities):
        area += precision * (recall - before)
        before = recall
    return 100.0 * area


def precision_recall_points(
    golds: Golds, scores: Mapping[str, float], na_probabilities: Mapping[str, float]
) -> list[tuple[float, float]]:
    """(R_t, P_t) for each distinct probability t in ascending order; see `average_precision`.

    >>> precision_recall_points({"q1": ["Hawaii"], "q2": []}, {"q1": 1.0, "q2": 0.0}, {"q1": 0.9, "q2": 0.1})
    [(0.0, 0.0), (1.0, 0.5)]
    """
    answerable = sum(bool(golds[qid]) for qid in scores)
    if not answerable:
        raise ValueError("no scored question has a gold answer; expected at least one")
    points = []
    answered, right = 0, 0.0
    ordered = sorted(scores, key=na_probabilities.__getitem__)
    for _, tied in groupby(ordered, key=na_probabilities.__getitem__):
        for qid in tied:
            answered += 1
            right += scores[qid] if golds[qid] else 0.0
        points.append((right / answerable, right / answered))
    return points


def precision_recall_v2(
    golds: Golds, exact: Mapping[str, float], f1: Mapping[str, float], na_probabilities: Mapping[str, float]
) -> dict[str, float]:
    """`pr_exact_ap`, `pr_f1_ap` and `pr_oracle_ap`; no keys at all when no scored question has golds.

    The oracle answers every answerable question rightly, so that its average judges the probabilities alone.
    Source: evaluate-v2.0.py, run_precision_recall_analysis.
    """
    if not any(golds[qid] for qid in exact):
        return {}
    oracle = {qid: float(bool(golds[qid])) for qid in exact}
    curves = {"exact": exact, "f1": f1, "oracle": oracle}
    return {
        f"pr_{name}_ap": average_precision(golds, scores, na_probabilities) for name, scores in curves.items()
    }
