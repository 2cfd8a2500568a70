from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.eval.squad import best_over_golds, exact_match, f1_v1, f1_v2, score_v1, score_v2, unanswered


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
def test_e7_two_empty_texts_differ_between_the_versions(gold: str, prediction: str) -> None:
    assert (exact_match(gold, prediction), f1_v1(gold, prediction), f1_v2(gold, prediction)) == (1, 0, 1)


def test_repeated_words_count_as_often_as_both_have_them() -> None:
    assert f1_v1("cat cat", "cat dog") == 0.5


def test_e7_several_golds_give_the_maximum() -> None:
    assert best_over_golds(f1_v1, ["Paris", "Honolulu, Hawaii"], "Hawaii") == pytest.approx(2 / 3)


def test_no_golds_have_no_maximum() -> None:
    with pytest.raises(ValueError, match="no gold answers"):
        best_over_golds(f1_v1, [], "Hawaii")


def test_v1_counts_an_unanswered_question_as_zero() -> None:
    golds = {"q1": ["Hawaii"], "q2": ["1887"]}
    assert score_v1(golds, {"q1": "Hawaii", "stray": "x"}) == {"exact_match": 50.0, "f1": 50.0}
    assert unanswered(golds, {"q1": "Hawaii"}) == ["q2"]


def test_v1_refuses_a_question_without_golds() -> None:
    with pytest.raises(ValueError, match="'q2' has no gold answer"):
        score_v1({"q1": ["Hawaii"], "q2": []}, {})


def test_v2_leaves_an_unanswered_question_out() -> None:
    result = score_v2({"q1": ["Hawaii"], "q2": ["1887"], "q3": []}, {"q1": "in Hawaii", "q3": ""})
    assert result == pytest.approx(
        {
            "exact": 50, "f1": 250 / 3, "total": 2,
            "HasAns_exact": 0, "HasAns_f1": 200 / 3, "HasAns_total": 1,
            "NoAns_exact": 100, "NoAns_f1": 100, "NoAns_total": 1,
        }
    )  # fmt: skip


def test_v2_keys_stand_in_the_official_order() -> None:
    result = score_v2({"q1": ["Hawaii"], "q2": []}, {"q1": "", "q2": ""})
    assert [key for key in result if key.endswith("total")] == ["total", "HasAns_total", "NoAns_total"]
    assert list(result)[:3] == ["exact", "f1", "total"]


def test_v2_gives_no_group_that_has_no_questions() -> None:
    assert list(score_v2({"q": []}, {"q": ""})) == [
        "exact", "f1", "total", "NoAns_exact", "NoAns_f1", "NoAns_total"
    ]  # fmt: skip


def test_v2_gold_of_articles_only_is_an_empty_answer_yet_has_an_answer() -> None:
    result = score_v2({"q": ["the"]}, {"q": ""})
    assert (result["HasAns_exact"], result["HasAns_f1"]) == (100, 100)


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
