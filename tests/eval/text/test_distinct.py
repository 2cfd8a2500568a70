from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.eval.text.distinct import distinct_n, repetition_n, words

CITY = (
    "The city of New York is a major city in the United States. The city is known for its diverse culture "
    "and the city has many tourist attractions. The city is also home to the city's financial district..."
)
THINK = "I think that I think that I think"
texts = st.lists(st.lists(st.sampled_from("abcd"), max_size=9), max_size=4)


@pytest.mark.parametrize(("n", "expected"), [(1, 27 / 38), (2, 33 / 37), (3, 35 / 36)])
def test_e18_city(n: int, expected: float) -> None:
    assert len(words(CITY)) == 38
    assert distinct_n([words(CITY)], n) == expected
    assert repetition_n([words(CITY)], n) == pytest.approx(1 - expected)


@pytest.mark.parametrize(("n", "expected"), [(1, 3 / 8), (2, 3 / 7), (3, 3 / 6)])
def test_e19_think(n: int, expected: float) -> None:
    assert distinct_n([words(THINK)], n) == expected


@pytest.mark.parametrize("tokens", [[], ["a"], ["a", "b"]])
def test_e19_fewer_tokens_than_n_are_no_ngrams(tokens: list[str]) -> None:
    assert distinct_n([tokens], 3) == repetition_n([tokens], 3) == 0
    assert distinct_n([], 3) == repetition_n([], 3) == 0


def test_what_two_texts_share_is_not_distinct_but_no_repetition() -> None:
    assert distinct_n([["a", "b"], ["a", "b"]], 1) == 0.5
    assert repetition_n([["a", "b"], ["a", "b"]], 1) == 0


@given(texts, st.integers(1, 4))
def test_both_are_shares_and_neither_looks_across_texts(found: list[list[str]], n: int) -> None:
    grams = [tuple(tokens[i : i + n]) for tokens in found for i in range(len(tokens) - n + 1)]
    assert distinct_n(found, n) == len(set(grams)) / max(1, len(grams))
    assert 0 <= repetition_n(found, n) <= 1 - distinct_n(found, n) + 1e-12 or not grams


@pytest.mark.parametrize("n", [0, -1])
def test_an_n_below_one_is_refused(n: int) -> None:
    for measure in (distinct_n, repetition_n):
        with pytest.raises(ValueError, match=f"n is {n}"):
            measure([["a"]], n)
