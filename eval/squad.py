"""Exact match and F1 of SQuAD 1.1 and 2.0, equal to the official scripts.

Golds and predictions are plain mappings from question id to text; reading the data set's file is somebody
else's work. The two versions differ in three places, and each has its own functions here:

                           1.1                      2.0
F1 of two empty texts      0                        1
question not predicted     scores 0                 left out of every average
question without golds     refused                  its only gold is the empty answer
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from .squad_normalize import answer_tokens, normalize_answer

Golds = Mapping[str, Sequence[str]]
Predictions = Mapping[str, str]
Metric = Callable[[str, str], float]


def exact_match(gold: str, prediction: str) -> float:
    """1.0 when the normal forms are equal, else 0.0; in both versions.

    >>> exact_match("The Eiffel Tower", "eiffel tower")
    1.0
    """
    return float(normalize_answer(gold) == normalize_answer(prediction))


def f1_v1(gold: str, prediction: str) -> float:
    """The F1 of the two bags of normalised words, 0.0 when they share none.

    same = |gold bag ∩ predicted bag|; P = same / |predicted|; R = same / |gold|; F1 = 2PR / (P + R).
    Source: evaluate-v1.1.py, f1_score.

    >>> round(f1_v1("the black cat sat on the mat", "the cat sat on the mat"), 6)
    0.888889
    """
    gold_tokens, predicted_tokens = answer_tokens(gold), answer_tokens(prediction)
    same = sum((Counter(predicted_tokens) & Counter(gold_tokens)).values())
    if same == 0:
        return 0.0
    precision, recall = same / len(predicted_tokens), same / len(gold_tokens)
    return 2 * precision * recall / (precision + recall)


def f1_v2(gold: str, prediction: str) -> float:
    """As `f1_v1`, but two texts that are both empty in normal form agree: 1.0.

    Source: evaluate-v2.0.py, compute_f1.

    >>> f1_v1("the", "a"), f1_v2("the", "a")
    (0.0, 1.0)
    """
    if not normalize_answer(gold) and not normalize_answer(prediction):
        return 1.0
    return f1_v1(gold, prediction)


def best_over_golds(metric: Metric, golds: Sequence[str], prediction: str) -> float:
    """The highest value of the metric over the golds of one question; ValueError when there is none."""
    if not golds:
        raise ValueError("no gold answers; expected at least one")
    return max(metric(gold, prediction) for gold in golds)


def unanswered(golds: Golds, predictions: Predictions) -> list[str]:
    """The ids of the questions that have no prediction, in the order of the golds: what to warn about."""
    return [qid for qid in golds if qid not in predictions]


def question_scores_v1(golds: Golds, predictions: Predictions) -> tuple[dict[str, float], dict[str, float]]:
    """Exact match and F1 of every question by id, both 0..1, in the order of the golds; unanswered ones 0.

    ValueError: no questions, or a question without golds.
    """
    if not golds:
        raise ValueError("no questions to score; expected at least one")
    without = [qid for qid, answers in golds.items() if not answers]
    if without:
        raise ValueError(f"question {without[0]!r} has no gold answer; score_v1 needs one, use score_v2")
    exact, f1 = dict.fromkeys(golds, 0.0), dict.fromkeys(golds, 0.0)
    for qid, answers in golds.items():
        if qid in predictions:
            exact[qid] = best_over_golds(exact_match, answers, predictions[qid])
            f1[qid] = best_over_golds(f1_v1, answers, predictions[qid])
    return exact, f1


def score_v1(golds: Golds, predictions: Predictions) -> dict[str, float]:
    """`exact_match` and `f1` in percent over all questions of the golds; unanswered ones score 0.

    Predictions for unknown ids are ignored. ValueError: no questions, or a question without golds.
    Source: evaluate-v1.1.py, evaluate.

    >>> score_v1({"q1": ["Hawaii"], "q2": ["1887"]}, {"q1": "in Hawaii"})
    {'exact_match': 0.0, 'f1': 33.33333333333333}
    """
    exact, f1 = question_scores_v1(golds, predictions)
    return {
        "exact_match": 100.0 * sum(exact.values()) / len(golds),
        "f1": 100.0 * sum(f1.values()) / len(golds),
    }


def question_scores_v2(golds: Golds, predictions: Predictions) -> tuple[dict[str, float], dict[str, float]]:
    """Exact match and F1 of each predicted question by id, both 0..1, in the order of the golds.

    Golds that are empty in normal form are dropped; a question left with none has the empty answer as gold.
    Source: evaluate-v2.0.py, get_raw_scores.
    """
    exact: dict[str, float] = {}
    f1: dict[str, float] = {}
    for qid, texts in golds.items():
        if qid not in predictions:
            continue
        answers = [text for text in texts if normalize_answer(text)] or [""]
        exact[qid] = best_over_golds(exact_match, answers, predictions[qid])
        f1[qid] = best_over_golds(f1_v2, answers, predictions[qid])
    return exact, f1


def averages_v2(golds: Golds, exact: Mapping[str, float], f1: Mapping[str, float]) -> dict[str, float]:
    """The averages in percent over all scored questions, those with golds and those without.

    Keys are those of the official script: `exact`, `f1`, `total`, then the same with `HasAns_` and
    `NoAns_` where there are such questions. ValueError when no question was scored.
    Source: evaluate-v2.0.py, make_eval_dict and merge_eval.
    """
    if not exact:
        raise ValueError("no predicted question to score; expected at least one")
    groups = {
        "": list(exact),
        "HasAns_": [qid for qid in exact if golds[qid]],
        "NoAns_": [qid for qid in exact if not golds[qid]],
    }
    result: dict[str, float] = {}
    for prefix, ids in groups.items():
        if ids:
            result[prefix + "exact"] = 100.0 * sum(exact[qid] for qid in ids) / len(ids)
            result[prefix + "f1"] = 100.0 * sum(f1[qid] for qid in ids) / len(ids)
            result[prefix + "total"] = len(ids)
    return result


def score_v2(golds: Golds, predictions: Predictions) -> dict[str, float]:
    """The figures of the 2.0 script in percent, over the predicted questions; see `averages_v2` for keys.

    The empty prediction says "no answer". Questions that are not predicted are left out (`unanswered` lists
    them for a notice). The official script stops with an error on its `HasAns` average then; here that
    average too is over what was predicted.

    >>> score_v2({"q1": ["Hawaii"], "q2": []}, {"q1": "Hawaii", "q2": "1887"})["NoAns_exact"]
    0.0
    """
    return averages_v2(golds, *question_scores_v2(golds, predictions))
