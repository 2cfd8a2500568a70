"""The penalty on what was written, and blocked n-grams, by worked examples."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from spanwise.reader.decoding.repetition import banned, penalised
from spanwise.reader.decoding.scoring import allowed
from spanwise.reader.decoding.settings import Decoding

WORDS = "the study research shows indicates reveals others".split()
P = torch.tensor([0.20, 0.15, 0.15, 0.12, 0.10, 0.08, 0.20], dtype=torch.float64)
WRITTEN = [1, 3, 99]  # study, shows, that: a word that is not among the next


@pytest.mark.parametrize(
    ("penalty", "expected"),
    [
        (1.3, [0.213290, 0.123052, 0.159967, 0.098441, 0.106645, 0.085316, 0.213290]),
        (1.1, [0.205033, 0.139795, 0.153774, 0.111836, 0.102516, 0.082013, 0.205033]),
    ],
)
def test_the_probability_of_what_was_written_is_divided(penalty, expected):
    logits = torch.cat([P.log(), torch.full((93,), -1e9)])
    found = torch.softmax(penalised(logits, WRITTEN, penalty, "probability"), -1)
    assert found[:7].tolist() == pytest.approx(expected, abs=1e-6)


def test_a_score_falls_whatever_its_sign():
    logits = torch.tensor([2.0, -1.0, 0.5], dtype=torch.float64)
    found = penalised(logits, [0, 1, 0], 1.3, "logit")
    assert found.tolist() == pytest.approx([1.538462, -1.3, 0.5], abs=1e-6)
    assert torch.softmax(found, -1).tolist() == pytest.approx([0.707957, 0.041427, 0.250616], abs=1e-6)


@pytest.mark.parametrize("form", ["probability", "logit"])
def test_one_is_neutral_and_more_makes_repetition_rarer(form):
    logits = torch.tensor([2.0, -1.0, 0.5])
    assert penalised(logits, [0, 1], 1, form) is logits
    before, after = (torch.softmax(one, -1) for one in (logits, penalised(logits, [0], 1.5, form)))
    assert after[0] < before[0]
    with pytest.raises(ValueError, match="penalty"):
        penalised(logits, [0], 0, form)


@pytest.mark.parametrize(
    ("text", "n", "expected"),
    [
        ("the city is a major city in the", 2, {"city"}),
        ("the city is a major city in the city", 2, {"in", "is"}),
        ("the city is a major city in the city", 3, {"is"}),
        ("a b c a b", 3, {"c"}),
        ("a b", 3, set()),
        ("a b a", 1, {"a", "b"}),
    ],
)
def test_no_ngram_is_written_twice(text, n, expected):
    words = text.split()
    ids = {word: number for number, word in enumerate(dict.fromkeys(words))}
    found = banned([ids[word] for word in words], n)
    assert {word for word, number in ids.items() if number in found} == expected


@given(st.lists(st.integers(0, 3), max_size=12), st.integers(1, 4))
def test_a_banned_token_is_one_that_repeats(written, n):
    def grams(tokens):
        return [tuple(tokens[at : at + n]) for at in range(len(tokens) - n + 1)]

    repeating = {
        token
        for token in range(4)
        if grams([*written, token])[-1:] and grams([*written, token])[-1] in grams(written)
    }
    assert banned(written, n) == repeating


def test_where_all_would_be_blocked_none_is():
    decoding = Decoding(blocked_ngrams=1)
    assert torch.isfinite(allowed(torch.zeros(3), [0, 1], decoding)).tolist() == [False, False, True]
    assert torch.isfinite(allowed(torch.zeros(3), [0, 1, 2], decoding)).all()
    with pytest.raises(ValueError, match="n is 0"):
        banned([1], 0)
