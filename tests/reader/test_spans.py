"""Inputs by golden ids and labels, windows that cover everything, spans against an oracle of all pairs."""

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays

from spanwise.models.model_files import find_base
from spanwise.models.tokenizer import load_tokenizer, special_tokens
from spanwise.reader.spans import (
    TokenBlocks,
    Window,
    WindowLogits,
    assemble,
    distinct_spans,
    log_normalizer,
    log_sum_exp,
    passage_mass,
    tokenize,
    whole_span,
    windows,
)
from spanwise.reader.training import token_labels
from spanwise.types import PassageMass


@pytest.fixture(scope="module")
def tokenizer():
    return load_tokenizer(find_base())


def test_input_ids_and_segments_equal_a_worked_example(tokenizer):
    question, passage = tokenize(tokenizer, ["Where was Obama born?", "Barack Obama was born in Hawaii."])
    batch = assemble([(question.ids, question.ids[:0], passage.ids)], special_tokens(tokenizer), multiple=1)
    ids = "101 2073 2001 8112 2141 1029 102 13857 8112 2001 2141 1999 7359 1012 102"
    assert batch.input_ids[0].tolist() == [int(i) for i in ids.split()]
    assert batch.token_type_ids[0].tolist() == [0] * 7 + [1] * 8


@pytest.mark.parametrize(
    ("question", "passage", "characters", "tokens", "shift"),
    [
        ("Where was Obama born?", "Barack Obama was born in Hawaii.", (25, 31), (5, 5), 7),
        ("What was treated?", "His unhappiness was treated in Hawaii.", (4, 15), (1, 4), 6),
        (
            "When was the Eiffel Tower built?",
            "The Eiffel Tower was constructed in 1887–1889.",
            (36, 45),
            None,
            None,
        ),
    ],
)
def test_token_labels_cover_the_characters_of_the_answer(
    tokenizer, question, passage, characters, tokens, shift
):
    asked, read = tokenize(tokenizer, [question, passage])
    first, last = token_labels(read.offsets, *characters)
    batch = assemble([(asked.ids, asked.ids[:0], read.ids)], special_tokens(tokenizer))
    assert passage[read.offsets[first, 0] : read.offsets[last, 1]] == passage[slice(*characters)]
    if tokens is None:
        assert batch.shift[0] + first == 19
        assert batch.shift[0] + last == 21
    else:
        assert (first, last) == tokens
        assert batch.shift[0] == shift


@given(st.integers(1, 90), st.integers(0, 900), st.integers(0, 64))
def test_windows_cover_every_token_and_overlap_by_the_stride(n_question, n_passage, stride):
    planned = windows(0, n_question, n_passage, 3, 160, stride)
    assert sorted({i for w in planned for i in range(w.first, w.last)}) == list(range(n_passage))
    assert all(b.first <= a.last - min(stride, a.last) for a, b in pairwise(planned))


START = np.array([1, 5, 2, 0.0])
END = np.array([4, 1, 3, 2.0])
LOGITS = arrays.arrays(np.float32, 12, elements=st.integers(-4, 4).map(float))


def test_a_span_joins_whole_blocks_but_no_two_entries():
    text = "Event: Fair\nWhen: May\n\nFees\n\n- two"
    words = [match.span() for match in re.finditer(r"\w+", text)]
    blocks = TokenBlocks.of(text, np.array(words, np.int32))
    assert blocks.allow(np.array([0, 4]), np.array([3, 5])).tolist() == [False, True]


def test_the_best_span_never_ends_before_it_starts():
    [best, *_] = distinct_spans(START, END, 3)
    assert best.first == 1
    assert best.last == 2
    assert best.score == 8
    [best] = distinct_spans(START, END, 1, max_tokens=1)
    assert best.first == 1
    assert best.last == 1
    assert best.score == 6
    assert distinct_spans(np.zeros(0), np.zeros(0), 5) == []


@given(LOGITS, LOGITS, st.integers(1, 20), st.integers(1, 15))
def test_spans_are_the_greedy_choice_without_overlap_of_all_pairs(start, end, n_best, cap):
    pairs = [(i, j) for i in range(len(start)) for j in range(i, min(len(start), i + cap))]
    every = [(float(start[i]) + float(end[j]), i, j) for i, j in pairs]
    expected: list[tuple[float, int, int]] = []
    for score, first, last in sorted(every, key=lambda s: (-s[0], s[1], s[2])):
        if len(expected) < n_best and all(last < i or j < first for _, i, j in expected):
            expected.append((score, first, last))
    assert [(s.score, s.first, s.last) for s in distinct_spans(start, end, n_best, cap)] == expected


@pytest.mark.parametrize(("cap", "last", "score"), [(30, 32, 9), (31, 33, 10)])
def test_the_longest_span_counts_both_ends(cap, last, score):
    start = np.zeros(40)
    end = np.zeros(40)
    start[3] = 5
    end[33] = 5
    end[32] = 4
    [best] = distinct_spans(start, end, 1, cap)
    assert best.first == 3
    assert best.last == last
    assert best.score == score


def test_the_mass_of_a_passage_counts_each_token_once_whatever_its_windows():
    rng = np.random.default_rng(0)
    start, end = rng.normal(size=(2, 12)).astype(np.float32)

    def window(first, last, null):
        return WindowLogits(Window(0, first, last), start[first:last], end[first:last], (null, null + 1))

    whole = passage_mass([window(0, 12, 0.5)], 12)
    assert passage_mass([window(0, 8, 2.0), window(4, 12, 0.5)], 12) == whole
    assert whole.start == pytest.approx(float(np.log(np.exp(start).sum())), abs=1e-5)
    assert whole.null_start == 0.5
    assert whole.null_end == 1.5


def test_the_probabilities_of_all_first_tokens_and_none_add_up_to_one():
    rng = np.random.default_rng(1)
    logits = [rng.normal(size=n) for n in (3, 5)]
    masses = [
        PassageMass(log_sum_exp(some), 0.0, null, 0.0) for some, null in zip(logits, (0.3, 0.9), strict=True)
    ]
    ends = log_sum_exp([0.0, 0.0, 0.0])
    spans = [np.exp(float(value) - log_normalizer(masses) + ends) for some in logits for value in some]
    none = np.exp(0.6 - log_normalizer(masses) + ends)
    assert sum(spans) + none == pytest.approx(1)


@pytest.mark.parametrize(
    ("text", "cut", "whole"),
    [
        ("key: `quayside-guest`.", "guest`", "quayside-guest"),
        ("Run `git push -f` now", "push", "git push -f"),
        ("Run `git push -f` now", "Run `git", "Run `git push -f`"),
        ("See [the guide](https://x.org/a.html) first", "See [the", "See [the guide](https://x.org/a.html)"),
        ("See [the guide](a.html) first", "the guide", "the guide"),
        ("Go to <https://x.org/a?b=c>.", "x.org", "https://x.org/a?b=c"),
        ("Mail ada.rook+m@mill-town.org.", "rook", "ada.rook+m@mill-town.org"),
        ("It is $1,250.50 at most", "250", "$1,250.50"),
        ("a fee of 1,\n250 crowns", "250", "1,\n250"),
        ("From 10:30, 45% off", "45", "45%"),
        ("the key code is 4471#", "4471", "4471#"),
        ("Call +44 20 7946 0958 now", "7946", "+44 20 7946 0958"),
        ("He said “keep off” there", "keep off”", "keep off"),
        ("He said 'don't go' there", "said 'don", "said 'don't go'"),
        ("the mill (of (old) Ada) burned", "mill (of", "mill (of (old) Ada)"),
        ("is **very old** here", "old** here", "**very old** here"),
        ("Smith's max_retries", "Smith", "Smith"),
        ("a 28-yard, AS-258 thing", "28", "28"),
        ("a 28-yard, AS-258 thing", "258", "AS-258"),
        ("日本語の文章です。", "語の", "語の"),
    ],
)
def test_a_span_grows_to_whole_words_and_pairs(text, cut, whole):
    start = text.index(cut)
    first, after = whole_span(text, start, start + len(cut))
    assert text[first:after] == whole


@given(st.text("aab1 .-`*_[]()<>\"'“”\n", max_size=40), st.integers(0, 40), st.integers(0, 40))
def test_a_whole_span_has_nothing_left_to_grow_or_to_leave_out(text, start, end):
    start, end = sorted((min(start, len(text)), min(end, len(text))))
    first, after = whole_span(text, start, end)
    assert 0 <= first <= after <= len(text)
    assert whole_span(text, first, after) == (first, after)
