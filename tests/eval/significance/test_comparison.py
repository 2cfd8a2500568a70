"""Systems compared question by question: who is compared, who won where, and the correction over all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.eval.significance.comparison import LOSS, Method, compare, shared_measures
from spanwise.eval.significance.holm import holm
from spanwise.eval.significance.pairing import Asked, Scored, pair
from spanwise.eval.significance.randomization import randomization_test

SCORE = st.sampled_from([0.0, 0.25, 0.5, 1.0])


def scored(system, questions=None, **measures):
    ids = {qid for scores in measures.values() for qid in scores}
    return Scored(system, measures, questions or {qid: Asked(f"text of {qid}") for qid in ids})


OLD = scored("old", f1={"q1": 0.5, "q2": 1.0, "q3": 0.0, "q4": 1.0}, exact={"q1": 0.0, "q2": 1.0})
NEW = scored("new", f1={"q1": 1.0, "q2": 0.0, "q3": 0.0, "q4": 0.5}, exact={"q1": 1.0, "q2": 1.0})


def test_wins_losses_and_ties_are_named_largest_first():
    [one] = compare([(pair(OLD, NEW), "f1")])
    assert [(c.id, c.difference) for c in one.losses] == [("q2", -1.0), ("q4", -0.5)]
    assert [(c.id, c.question) for c in one.wins] == [("q1", "text of q1")]
    assert [c.id for c in one.ties] == ["q3"]
    assert (one.baseline_mean, one.system_mean, one.difference) == (0.625, 0.375, -0.25)


def test_the_p_value_is_of_the_differences():
    [one] = compare([(pair(OLD, NEW), "f1")], LOSS)
    assert one.p == one.p_holm == randomization_test([0.5, -1.0, 0.0, -0.5], "less")
    assert one.interval[0] <= one.difference <= one.interval[1]


def test_the_correction_is_over_all_pairs_and_measures():
    tests = [(pair(OLD, NEW), "f1"), (pair(OLD, NEW), "exact"), (pair(NEW, OLD), "f1")]
    found = compare(tests)
    assert [one.p_holm for one in found] == holm([one.p for one in found])


def test_one_question_has_no_interval():
    [one] = compare([(pair(scored("a", f1={"q": 1.0}), scored("b", f1={"q": 0.0})), "f1")])
    assert one.interval is None
    assert one.p == 1.0


def test_questions_of_one_side_are_left_out_and_named():
    found = pair(scored("a", f1={"q1": 1.0, "q2": 0.0}), scored("b", f1={"q2": 1.0, "q3": 0.0}))
    assert (found.common, found.only_baseline, found.only_system) == (("q2",), ("q1",), ("q3",))


@pytest.mark.parametrize(
    ("other", "changed"),
    [
        (Asked("Who?", frozenset({"Ada"})), False),
        (Asked("Whom?", frozenset({"Ada"})), True),
        (Asked("Who?", frozenset({"Ute"})), True),
        (Asked("Who?"), False),
        (Asked(), False),
    ],
)
def test_an_id_with_another_question_is_not_compared(other, changed):
    before = scored("a", {"q": Asked("Who?", frozenset({"Ada"}))}, f1={"q": 1.0})
    found = pair(before, scored("b", {"q": other}, f1={"q": 1.0}))
    assert (found.changed == ("q",), found.common == ("q",)) == (changed, not changed)


def test_only_measures_with_a_common_question_are_shared():
    before = scored("a", right={"q1": 1.0}, declined={"n1": 1.0}, old={"q1": 1.0})
    after = scored("b", right={"q1": 1.0}, declined={"n2": 1.0}, new={"q1": 1.0})
    assert shared_measures(pair(before, after)) == ["right"]
    with pytest.raises(ValueError, match="share no question with declined"):
        compare([(pair(before, after), "declined")])


def test_rounding_is_no_win():
    [one] = compare([(pair(scored("a", f1={"q": 0.3}), scored("b", f1={"q": 0.1 + 0.2})), "f1")])
    assert [c.id for c in one.ties] == ["q"]


@given(st.dictionaries(st.text("abc", min_size=1), st.tuples(SCORE, SCORE), min_size=2), st.randoms())
def test_the_order_of_the_files_changes_nothing(scores, random):
    shuffled = random.sample(sorted(scores), len(scores))
    by_order = [
        compare(
            [(pair(*(scored(s, f1={q: scores[q][i] for q in ids}) for i, s in enumerate("ab"))), "f1")],
            Method(permutations=100),
        )[0]
        for ids in (list(scores), shuffled)
    ]
    assert by_order[0] == by_order[1]
