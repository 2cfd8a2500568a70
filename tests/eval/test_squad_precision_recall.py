from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.eval.squad_precision_recall import average_precision, precision_recall_v2

GOLDS = {"a": ["x"], "b": [], "c": ["x"], "d": ["x"]}


def test_hand_example() -> None:
    # answered in the order a, b, c, d: P = 1, 1/2, 1.5/3, 1.5/4 and R = 1/3, 1/3, 1.5/3, 1.5/3
    scores = {"a": 1.0, "b": 1.0, "c": 0.5, "d": 0.0}
    na = {"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.4}
    assert average_precision(GOLDS, scores, na) == pytest.approx(100 * (1 / 3 + 0.5 * (0.5 - 1 / 3)))


def test_equal_probabilities_enter_together() -> None:
    # a and b together: P = 1/2, R = 1/3; c and d together: P = 3/4, R = 1
    na = {"a": 0.1, "b": 0.1, "c": 0.7, "d": 0.7}
    area = average_precision(GOLDS, dict.fromkeys("abcd", 1.0), na)
    assert area == pytest.approx(100 * (1 / 2 * 1 / 3 + 3 / 4 * 2 / 3))


def test_a_question_without_a_score_counts_nowhere() -> None:
    na = {"a": 0.1, "b": 0.2, "c": 0.0, "d": 0.3, "stray": 0.0}
    assert average_precision(GOLDS, {"a": 1.0, "d": 0.0}, na) == 50.0


def test_the_oracle_judges_the_order_alone() -> None:
    wrong = dict.fromkeys("abcd", 0.0)
    na = {"a": 0.1, "b": 0.9, "c": 0.1, "d": 0.2}
    assert precision_recall_v2(GOLDS, wrong, wrong, na) == {
        "pr_exact_ap": 0.0, "pr_f1_ap": 0.0, "pr_oracle_ap": 100.0
    }  # fmt: skip


def test_without_answerable_questions_there_is_no_curve() -> None:
    assert precision_recall_v2({"b": []}, {"b": 1.0}, {"b": 1.0}, {"b": 0.5}) == {}
    with pytest.raises(ValueError, match="no scored question has a gold answer"):
        average_precision({"b": []}, {"b": 1.0}, {"b": 0.5})


@given(
    st.lists(
        st.tuples(
            st.booleans(), st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.sampled_from([0.1, 0.2, 0.3, 0.4])
        ),
        min_size=1,
        max_size=12,
    ).filter(lambda rows: any(has for has, _, _ in rows))
)
def test_it_is_the_sum_over_every_threshold(rows: list[tuple[bool, float, float]]) -> None:
    """From the definition: precision and recall are counted anew at each threshold."""
    area, before = 0.0, 0.0
    for threshold in sorted({p for _, _, p in rows}):
        answered = [(has, score) for has, score, p in rows if p <= threshold]
        right = sum(score for has, score in answered if has)
        recall = right / sum(has for has, _, _ in rows)
        area, before = area + right / len(answered) * (recall - before), recall
    golds = {str(i): ["x"] if has else [] for i, (has, _, _) in enumerate(rows)}
    scores = {str(i): score for i, (_, score, _) in enumerate(rows)}
    na = {str(i): p for i, (_, _, p) in enumerate(rows)}
    assert average_precision(golds, scores, na) == pytest.approx(100 * area)
