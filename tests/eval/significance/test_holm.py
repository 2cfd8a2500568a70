"""Holm's correction on worked examples, and what it promises."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.eval.significance.holm import holm

P_VALUES = st.lists(st.floats(0, 1), max_size=30)


def test_the_worked_example():
    # sorted: 0.005 * 4, 0.01 * 3, 0.03 * 2, then 0.04 * 1 is lifted to what came before it
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_r_s_p_adjust_is_met():
    # p.adjust(c(0.0001, 0.02, 0.03, 0.5, 0.9), "holm")
    assert holm([0.0001, 0.02, 0.03, 0.5, 0.9]) == pytest.approx([0.0005, 0.08, 0.09, 1.0, 1.0])


def test_one_test_needs_no_correction():
    assert holm([0.2]) == [0.2]
    assert holm([]) == []


@given(P_VALUES)
def test_it_is_monotone_capped_and_never_below_the_p_value(p_values):
    adjusted = holm(p_values)
    assert all(p <= a <= 1 for p, a in zip(p_values, adjusted, strict=True))
    ordered = [a for _, a in sorted(zip(p_values, adjusted, strict=True))]
    assert ordered == sorted(ordered)


@given(P_VALUES, st.floats(0.001, 0.5))
def test_it_rejects_what_the_step_down_procedure_rejects(p_values, alpha):
    ordered, rejected = sorted(p_values), 0
    while rejected < len(ordered) and ordered[rejected] * (len(ordered) - rejected) <= alpha:
        rejected += 1
    assert sum(a <= alpha for a in holm(p_values)) == rejected


@pytest.mark.parametrize("wrong", [-0.1, 1.1, float("nan")])
def test_what_is_no_p_value_is_refused(wrong):
    with pytest.raises(ValueError, match=r"expected 0\.\.1"):
        holm([0.5, wrong])
