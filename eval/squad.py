"""Exact match and F1 of SQuAD 1.1 and 2.0, equal to the official scripts.

Golds and predictions are plain mappings from question id to text. The two versions differ in three places:

                           1.1                      2.0
F1 of two empty texts      0                        1
question not predicted     scores 0                 left out of every average
question without golds     an error                 its only gold is the empty answer
"""

import math
import re
import string
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby

Golds = Mapping[str, Sequence[str]]
Predictions = Mapping[str, str]
Scores = Mapping[str, float]
Figures = dict[str, float]

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")


def normalize_answer(text: str) -> str:
    """The normal form for comparing answers: lower case, no punctuation, no articles.

    Steps and order are the official ones. Only ASCII punctuation goes (an en dash stays). Removing a hyphen
    joins its neighbours (`twenty-five` becomes `twentyfive`): scores are comparable only with these rules.
    Source: Rajpurkar et al. 2016, "SQuAD: 100,000+ Questions for Machine Comprehension of Text", section 6.1.

    >>> normalize_answer("The  Eiffel Tower!")
    'eiffel tower'
    """
    bare = text.lower().translate(_PUNCTUATION)
    return " ".join(_ARTICLE.sub(" ", bare).split())


def answer_tokens(text: str) -> list[str]:
    """The words of the normal form, in order; empty for a text of articles and punctuation only.

    >>> answer_tokens("the cat's mat")
    ['cats', 'mat']
    """
    return normalize_answer(text).split()


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
    gold_tokens = answer_tokens(gold)
    predicted_tokens = answer_tokens(prediction)
    same = sum((Counter(predicted_tokens) & Counter(gold_tokens)).values())
    if same == 0:
        return 0.0
    precision = same / len(predicted_tokens)
    recall = same / len(gold_tokens)
    return 2 * precision * recall / (precision + recall)


def f1_v2(gold: str, prediction: str) -> float:
    """As `f1_v1`, but 1.0 for two texts that are empty in normal form.

    Source: evaluate-v2.0.py, compute_f1.

    >>> f1_v1("the", "a"), f1_v2("the", "a")
    (0.0, 1.0)
    """
    if not normalize_answer(gold) and not normalize_answer(prediction):
        return 1.0
    return f1_v1(gold, prediction)


def best_over_golds(metric: Callable[[str, str], float], golds: Sequence[str], prediction: str) -> float:
    """The highest value of the metric over the golds of one question; ValueError when there is none."""
    return max(metric(gold, prediction) for gold in golds)


def question_scores_v1(golds: Golds, predictions: Predictions) -> tuple[Figures, Figures]:
    """Exact match and F1 of every question by id, both 0..1, in the order of the golds; unanswered ones 0.

    ValueError: no questions, or a question without golds.
    """
    if not golds:
        raise ValueError("no questions to score; expected at least one")
    without = [qid for qid, answers in golds.items() if not answers]
    if without:
        raise ValueError(f"question {without[0]!r} has no gold answer; score_v1 needs one, use score_v2")
    exact = dict.fromkeys(golds, 0.0)
    f1 = dict.fromkeys(golds, 0.0)
    for qid, answers in golds.items():
        if qid in predictions:
            exact[qid] = best_over_golds(exact_match, answers, predictions[qid])
            f1[qid] = best_over_golds(f1_v1, answers, predictions[qid])
    return exact, f1


def score_v1(golds: Golds, predictions: Predictions) -> Figures:
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


def question_scores_v2(golds: Golds, predictions: Predictions) -> tuple[Figures, Figures]:
    """Exact match and F1 of each predicted question by id, both 0..1, in the order of the golds.

    Golds that are empty in normal form are dropped; a question left with none has the empty answer as gold.
    Source: evaluate-v2.0.py, get_raw_scores.
    """
    exact: Figures = {}
    f1: Figures = {}
    for qid, texts in golds.items():
        if qid not in predictions:
            continue
        answers = [text for text in texts if normalize_answer(text)] or [""]
        exact[qid] = best_over_golds(exact_match, answers, predictions[qid])
        f1[qid] = best_over_golds(f1_v2, answers, predictions[qid])
    return exact, f1


def score_v2(
    golds: Golds,
    predictions: Predictions,
    na_probabilities: Scores | None = None,
    threshold: float = 1.0,
) -> Figures:
    """The figures of the 2.0 script in percent, over the predicted questions; keys stand in its order.

    `exact`, `f1` and `total`, then the same with `HasAns_` and `NoAns_` where there are such questions. The
    empty prediction means "no answer". Questions without a prediction are left out; the official script
    fails on its `HasAns` average then. ValueError when no question was scored.

    With probabilities, as with `--na-prob-file`: a question is declined above the threshold, and
    `best_exact`, `best_f1`, their `…_thresh` and `pr_…_ap` are added. The `best_` figures choose their
    threshold on the same questions: upper bounds. ValueError when a predicted question has no probability.

    >>> score_v2({"q1": ["Hawaii"], "q2": []}, {"q1": "Hawaii", "q2": "1887"})["NoAns_exact"]
    0.0
    """
    exact, f1 = question_scores_v2(golds, predictions)
    if not exact:
        raise ValueError("no predicted question to score; expected at least one")
    if na_probabilities is None:
        return _averages(golds, exact, f1)
    missing = [qid for qid in exact if qid not in na_probabilities]
    if missing:
        raise ValueError(f"question {missing[0]!r} has no no-answer probability ({len(missing)} such)")
    declined = {qid: float(not golds[qid]) for qid in exact if na_probabilities[qid] > threshold}
    result = _averages(golds, exact | declined, f1 | declined)
    for name, scores in (("exact", exact), ("f1", f1)):
        best = best_threshold(golds, predictions, scores, na_probabilities)
        result[f"best_{name}"], result[f"best_{name}_thresh"] = best
    if any(golds[qid] for qid in exact):  # else the official script prints no precision-recall figures
        oracle = {qid: float(bool(golds[qid])) for qid in exact}
        for name, scores in (("exact", exact), ("f1", f1), ("oracle", oracle)):
            result[f"pr_{name}_ap"] = average_precision(golds, scores, na_probabilities)
    return result


def _averages(golds: Golds, exact: Scores, f1: Scores) -> Figures:
    """Source: evaluate-v2.0.py, make_eval_dict, apply_no_ans_threshold and merge_eval."""
    groups = {
        "": list(exact),
        "HasAns_": [qid for qid in exact if golds[qid]],
        "NoAns_": [qid for qid in exact if not golds[qid]],
    }
    result: Figures = {}
    for prefix, ids in groups.items():
        if ids:
            result[prefix + "exact"] = 100.0 * sum(exact[qid] for qid in ids) / len(ids)
            result[prefix + "f1"] = 100.0 * sum(f1[qid] for qid in ids) / len(ids)
            result[prefix + "total"] = len(ids)
    return result


def na_probability(margin: float) -> float:
    """The no-answer probability of a reader whose best span scores `margin` above its null answer.

    p = 1 / (1 + e^margin), the sigmoid of null score minus best score: 0.5 where both are equal. It orders
    questions as the null odds do; it is not a calibrated probability.

    >>> na_probability(0.0), na_probability(-1000.0)
    (0.5, 1.0)
    """
    odds = math.exp(-abs(margin))
    return (odds if margin > 0 else 1.0) / (1.0 + odds)


def best_threshold(
    golds: Golds, predictions: Predictions, scores: Scores, na_probabilities: Scores
) -> tuple[float, float]:
    """The best average in percent over all thresholds, and the smallest threshold that reaches it.

    Source: find_best_thresh. As there, questions enter one by one in order of probability, equal ones in the
    order of the mapping, so the best may lie inside a run of equal probabilities. Questions without a
    prediction, on which the official script fails, do not count.
    """
    current = best = float(sum(not golds[qid] for qid in scores))
    threshold = 0.0
    for qid in sorted(na_probabilities, key=na_probabilities.__getitem__):
        if qid not in scores:
            continue
        gained_or_lost = -1.0 if predictions[qid] else 0.0
        current += scores[qid] if golds[qid] else gained_or_lost
        if current > best:
            best = current
            threshold = na_probabilities[qid]
    return 100.0 * best / len(scores), threshold


def average_precision(golds: Golds, scores: Scores, na_probabilities: Scores) -> float:
    """The area under precision and recall over all thresholds on the probability, in percent.

    AP = Σ_t P_t (R_t - R_t'), over the distinct probabilities t in ascending order, t' the one before (R = 0
    before the first). At t the questions with a probability of at most t are answered: P_t is the sum of
    their scores over their number, R_t the same sum over the number of questions with golds; a question
    without golds adds nothing to the sum. Equal probabilities enter together. ValueError when no scored
    question has golds. Source: evaluate-v2.0.py, make_precision_recall_eval.

    >>> average_precision({"q1": ["Hawaii"], "q2": []}, {"q1": 1.0, "q2": 0.0}, {"q1": 0.9, "q2": 0.1})
    50.0
    """
    answerable = sum(bool(golds[qid]) for qid in scores)
    if not answerable:
        raise ValueError("no scored question has a gold answer; expected at least one")
    area = before = right = 0.0
    answered = 0
    ordered = sorted(scores, key=na_probabilities.__getitem__)
    for _, tied in groupby(ordered, key=na_probabilities.__getitem__):
        for qid in tied:
            answered += 1
            right += scores[qid] if golds[qid] else 0.0
        area += right / answered * (right / answerable - before)
        before = right / answerable
    return 100.0 * area
