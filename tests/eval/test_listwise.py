from __future__ import annotations

import numpy as np
import pytest

from spanwise.eval.listwise import fit_listwise


def test_two_lists_by_hand() -> None:
    """The right row is 1 above the other in two lists and 1 below in one: w = ln 2 without ridge."""
    lists = [np.array([[1.0], [0.0]])] * 3
    right = [np.array([True, False]), np.array([True, False]), np.array([False, True])]
    assert fit_listwise(lists, right, l2=0.0) == pytest.approx([np.log(2)])


def test_what_all_rows_of_a_list_share_has_no_weight() -> None:
    rng = np.random.default_rng(0)
    lists = [np.column_stack([np.full(4, i), rng.normal(size=4)]) for i in range(20)]
    right = [rows[:, 1] == rows[:, 1].max() for rows in lists]
    weights = fit_listwise(lists, right)
    assert weights[0] == pytest.approx(0.0, abs=1e-9)
    assert weights[1] > 1


def test_lists_without_a_right_row_change_nothing() -> None:
    lists = [np.array([[1.0], [0.0]]), np.array([[0.0], [1.0]]), np.array([[5.0], [1.0]])]
    right = [np.array([True, False]), np.array([True, False]), np.array([False, False])]
    assert fit_listwise(lists, right) == pytest.approx(fit_listwise(lists[:2], right[:2]))


def test_no_right_row_at_all_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing to learn"):
        fit_listwise([np.zeros((2, 1))], [np.zeros(2, np.bool_)])
