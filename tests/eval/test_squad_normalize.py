from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.eval.squad_normalize import answer_tokens, normalize_answer


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("The Eiffel Tower", "eiffel tower"),
        ("twenty-five", "twentyfive"),
        ("1887–1889", "1887–1889"),
        ("An apple a day, the   doctor's away!", "apple day doctors away"),
        ("another theory", "another theory"),
        ("the", ""),
    ],
)
def test_normal_form(text: str, normal: str) -> None:
    assert normalize_answer(text) == normal


def test_punctuation_goes_before_articles() -> None:
    assert normalize_answer("t.h.e end") == "end"


@given(st.text())
def test_normal_form_is_lower_case_without_ascii_punctuation(text: str) -> None:
    normal = normalize_answer(text)
    assert not set(normal) & set(string.punctuation)
    assert normal == " ".join(normal.split())


@given(st.text(alphabet="abthen .-", max_size=30))
def test_no_article_is_left_as_a_token(text: str) -> None:
    assert not {"a", "an", "the"} & set(answer_tokens(text))
