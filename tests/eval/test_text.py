"""Texts compared: answers in passages, and ROUGE-L."""

import pytest
from hypothesis import given, strategies as st

from spanwise.eval.text import contains_tokens, has_answer, match_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Paris, in 1887.", ["paris", ",", "in", "1887", "."]),
        ("caf\u00e9", ["cafe\u0301"]),
        ("twenty-five", ["twenty", "-", "five"]),
        ("snake_case", ["snake", "_", "case"]),
        ("don't", ["don", "'", "t"]),
        ("zero\u200bwidth\u00a0\x00space", ["zero", "width", "space"]),
        ("東京都 \U0001f642", ["東京都", "\U0001f642"]),
        ("", []),
    ],
)
def test_match_tokens_are_words_and_signs(text: str, tokens: list[str]) -> None:
    assert match_tokens(text) == tokens


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("hawaii", True),
        ("Born in", True),
        ("in Obama", False),
        ("Hawai", False),
        ("the Hawaii", False),
        ("", False),
        (" \u200b", False),
    ],
)
def test_has_answer_finds_whole_tokens(answer: str, expected: bool) -> None:
    assert has_answer("Barack Obama was born in Hawaii.", [answer]) is expected


@given(st.lists(st.sampled_from("abc"), max_size=8), st.lists(st.sampled_from("abc"), min_size=1, max_size=3))
def test_contains_tokens_equals_a_search_over_all_windows(passage: list[str], answer: list[str]) -> None:
    windows = [passage[start : start + len(answer)] for start in range(len(passage))]
    assert contains_tokens(passage, answer) == (answer in windows)


@given(st.text(max_size=60))
def test_every_text_with_a_token_contains_itself(text: str) -> None:
    assert has_answer(text, [text]) == bool(match_tokens(text))
    assert not any(" " in token for token in match_tokens(text))
