"""SQuAD's measures by hand and by property."""

import string

import pytest
from hypothesis import given, strategies as st

from spanwise.eval.squad import (
    answer_tokens,
    average_precision,
    best_threshold,
    exact_match,
    f1_v1,
    f1_v2,
    normalize_answer,
    score_v1,
    score_v2,
)


@pytest.mark.parametrize(
    ("gold", "prediction", "exact", "f1"),
    [
        pytest.param("the black cat sat on the mat", "the cat sat on the mat", 0, 0.888889, id="E1"),
        pytest.param("Hawaii", "Hawaii.", 1, 1, id="E2-full-stop"),
        pytest.param("eiffel tower", "The Eiffel Tower", 1, 1, id="E2-article"),
        pytest.param("Hawaii", "in Hawaii", 0, 0.666667, id="E3-preposition"),
        pytest.param("Obama", "Barack Obama", 0, 0.666667, id="E3-name"),
        pytest.param("1000 participants", "100 participants", 0, 0.5, id="E4"),
        pytest.param("1887-1889", "1887–1889", 0, 0, id="E5"),
        pytest.param("twenty five", "twenty-five", 0, 0, id="E6"),
        pytest.param("Hawaii", "", 0, 0, id="E7-empty-against-Hawaii"),
        pytest.param("", "Hawaii", 0, 0, id="E7-Hawaii-against-empty"),
    ],
)
def test_golden_pairs_agree_in_both_versions(gold: str, prediction: str, exact: float, f1: float) -> None:
    assert exact_match(gold, prediction) == exact
    assert f1_v1(gold, prediction) == pytest.approx(f1, abs=1e-6)
    assert f1_v2(gold, prediction) == pytest.approx(f1, abs=1e-6)


@pytest.mark.parametrize(("gold", "prediction"), [("", ""), ("the", "a")])
def test_two_empty_texts_score_f1_0_in_version_1_and_1_in_version_2(gold: str, prediction: str) -> None:
    assert exact_match(gold, prediction) == 1
    assert f1_v1(gold, prediction) == 0
    assert f1_v2(gold, prediction) == 1


def test_v1_counts_an_unanswered_question_as_zero() -> None:
    golds = {"q1": ["Hawaii"], "q2": ["1887"]}
    assert score_v1(golds, {"q1": "Hawaii", "stray": "x"}) == {"exact_match": 50.0, "f1": 50.0}


def test_v2_leaves_an_unanswered_question_out() -> None:
    result = score_v2({"q1": ["Hawaii"], "q2": ["1887"], "q3": []}, {"q1": "in Hawaii", "q3": ""})
    assert result == pytest.approx(
        {
            "exact": 50, "f1": 250 / 3, "total": 2,
            "HasAns_exact": 0, "HasAns_f1": 200 / 3, "HasAns_total": 1,
            "NoAns_exact": 100, "NoAns_f1": 100, "NoAns_total": 1,
        }
    )  # fmt: skip


def test_v2_gold_of_articles_only_is_an_empty_answer_yet_has_an_answer() -> None:
    result = score_v2({"q": ["the"]}, {"q": ""})
    assert result["HasAns_exact"] == 100
    assert result["HasAns_f1"] == 100


@pytest.mark.parametrize("score", [score_v1, score_v2])
def test_nothing_to_score_is_an_error(score: object) -> None:
    with pytest.raises(ValueError, match="expected at least one"):
        score({}, {})  # type: ignore[operator]


@given(st.text(max_size=30), st.text(max_size=30))
def test_f1_is_symmetric_between_zero_and_one_and_one_on_exact_match(gold: str, prediction: str) -> None:
    f1 = f1_v2(gold, prediction)
    assert 0 <= f1 <= 1
    assert f1 == f1_v2(prediction, gold)
    assert exact_match(gold, prediction) <= f1


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("The Eiffel Tower", "eiffel tower"),
        ("twenty-five", "twentyfive"),
        ("1887–1889", "1887–1889"),
        ("An apple a day, the   doctor's away!", "apple day doctors away"),
        ("another theory", "another theory"),
        ("the", ""),
        ("t.h.e end", "end"),  # punctuation goes before articles
    ],
)
def test_the_normal_form_of_answers(text: str, normal: str) -> None:
    assert normalize_answer(text) == normal


@given(st.text() | st.text("abthen .-", max_size=30))
def test_normal_form_has_no_ascii_punctuation_and_no_articles(text: str) -> None:
    words = answer_tokens(text)
    assert not set("".join(words)) & set(string.punctuation)
    assert not {"a", "an", "the"} & set(words)


GOLDS = {"has": ["Hawaii"], "none": [], "missed": ["1887"]}
PREDICTIONS = {"has": "Hawaii", "none": "Paris", "missed": "1990"}
NA = {"has": 0.1, "none": 0.8, "missed": 0.5}


def test_best_threshold_is_the_smallest_that_reaches_the_best() -> None:
    assert best_threshold(GOLDS, PREDICTIONS, {"has": 1, "none": 0, "missed": 0}, NA) == (200 / 3, 0.1)


@given(
    st.lists(
        st.tuples(
            st.booleans(), st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.sampled_from([0.1, 0.2, 0.3, 0.4])
        ),
        min_size=1,
        max_size=12,
    ).filter(lambda rows: any(has for has, _, _ in rows))
)
def test_average_precision_is_the_sum_over_every_threshold(rows: list[tuple[bool, float, float]]) -> None:
    """From the definition: precision and recall are counted anew at each threshold."""
    area = 0.0
    before = 0.0
    for threshold in sorted({p for _, _, p in rows}):
        answered = [(has, score) for has, score, p in rows if p <= threshold]
        right = sum(score for has, score in answered if has)
        recall = right / sum(has for has, _, _ in rows)
        area += right / len(answered) * (recall - before)
        before = recall
    golds = {str(i): ["x"] if has else [] for i, (has, _, _) in enumerate(rows)}
    scores = {str(i): score for i, (_, score, _) in enumerate(rows)}
    na = {str(i): p for i, (_, _, p) in enumerate(rows)}
    assert average_precision(golds, scores, na) == pytest.approx(100 * area)
