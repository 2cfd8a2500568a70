"""Trimmed spans and cuts never part a character from its marks."""

from __future__ import annotations

import pytest

from spanwise.corpora.trimming import cut_before, trimmed


@pytest.mark.parametrize(
    ("text", "expected"),
    [("  a b\n", (2, 5)), ("", (0, 0)), (" \t\n", (0, 0)), ("\u2028x\x85", (1, 2)), ("\u200bx", (0, 2))],
)
def test_white_space_of_every_kind_is_trimmed(text: str, expected: tuple[int, int]) -> None:
    assert trimmed(text, 0, len(text)) == expected


def test_a_space_under_an_accent_stays() -> None:
    assert trimmed("a  \u0301b", 1, 5) == (2, 5)


def test_a_line_end_carries_no_accent() -> None:
    assert trimmed("a\n\u0301b", 1, 4) == (2, 4)


def test_a_cut_moves_before_the_base() -> None:
    assert cut_before("abe\u0301\u0327d", 0, 4) == 2


def test_joined_emoji_stay_joined() -> None:
    assert cut_before("ab\U0001f468\u200d\U0001f469", 0, 4) == 2


def test_marks_without_end_are_cut_anyway() -> None:
    assert cut_before("\u0301" * 99, 0, 4) == 34
    assert cut_before("a" + "\u0301" * 9 + "b", 0, 4) == 10
