"""A reader from elsewhere is held to its contract: spans of the passages that it was given."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from spanwise.errors import PluginFailed
from spanwise.reader.plugged import PluggedReader
from spanwise.reader.spans import TokenScores
from spanwise.types import Passage, ScoredSpan, Span

PASSAGE = Passage(7, "a.txt", 100, 131, "The mill was built by Ada Rook.")


def scored(first: int, last: int, score: float = 1.0, null: float = 0.0, **changed) -> ScoredSpan:
    """A span of the passage by places in its text, with what is to be wrong about it."""
    span = Span("a.txt", 100 + first, 100 + last, PASSAGE.text[first:last])
    return ScoredSpan(replace(span, **changed), PASSAGE, score, null)


def reader(*spans, give=None) -> PluggedReader:
    class Reading:
        def read(self, questions, passages, n_best=5):
            return give if give is not None else [[list(spans) for _ in group] for group in passages]

    return PluggedReader("the plug-in 'mine'", "digest", Reading())


def read(*spans, give=None, n_best=5):
    return reader(*spans, give=give).read(["Who?"], [[PASSAGE]], n_best)


def test_spans_come_best_first_and_no_more_than_asked():
    [[found]] = read(scored(0, 3, 1.0), scored(22, 30, 5.0), scored(4, 8, 2.0), n_best=2)
    assert [one.span.text for one in found] == ["Ada Rook", "mill"]


def test_the_passage_is_the_one_that_was_given():
    [[[one]]] = read(replace(scored(0, 3), passage=replace(PASSAGE, text="forged")))
    assert one.passage is PASSAGE


def test_a_reader_without_a_null_answer_may_say_nan():
    [[[one]]] = read(scored(0, 3, null=math.nan))
    assert math.isnan(one.null_score)


@pytest.mark.parametrize(
    "spans",
    [
        [scored(0, 3, text="the")],
        [scored(0, 3, document_id="b.txt")],
        [scored(0, 3, start=99)],
        [scored(0, 3, end=132)],
        [scored(0, 3, start=103)],
        [scored(0, 3, start=100.0)],
        [scored(0, 3, score=math.nan)],
        [scored(0, 3, score=math.inf)],
        [scored(0, 3, score="1")],
        [scored(0, 3, null=None)],
        ["Ada Rook"],
        [Span("a.txt", 100, 103, "The")],
    ],
    ids=repr,
)
def test_what_is_no_span_of_its_passage_is_refused(spans):
    with pytest.raises(PluginFailed, match=r"^the plug-in 'mine' gave "):
        read(*spans)


@pytest.mark.parametrize("give", [[], [[]], [[[], []]], 3, [None]], ids=repr)
def test_there_is_a_list_for_each_passage_of_each_question(give):
    with pytest.raises(PluginFailed, match=r"^the plug-in 'mine' (did not give|failed)"):
        read(give=give)


def test_a_reader_that_does_not_tell_of_tokens_says_so():
    with pytest.raises(PluginFailed, match="ask without explaining"):
        reader().token_scores("Who?", PASSAGE)


def test_token_scores_are_passed_on_and_checked():
    seen = TokenScores(np.zeros((1, 2), np.int32), np.ones(1), np.ones(1), 0.0, 0.0)
    given = reader()
    given.reading.token_scores = lambda question, passage: seen
    assert given.token_scores("Who?", PASSAGE) is seen
    given.reading.token_scores = lambda question, passage: [0.5]
    with pytest.raises(PluginFailed, match="TokenScores were expected"):
        given.token_scores("Who?", PASSAGE)
