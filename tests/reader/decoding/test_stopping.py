"""Each of the four ends of a text."""

from __future__ import annotations

import itertools
import math

import pytest
from table_decoder import TableDecoder, finish

from spanwise.reader.decoding.beam import beam_search
from spanwise.reader.decoding.one_path import contrastive, greedy, sample
from spanwise.reader.decoding.settings import Decoding
from spanwise.reader.decoding.stopping import Ended, Limits

END, A, B = range(3)
STATES = {END: [1.0, 0.0], A: [0.0, 1.0], B: [1.0, 1.0]}
ENDLESS = TableDecoder({(A,) * n: {A: 0.7, B: 0.3} for n in range(50)}, 3, [END], STATES)


def greedy_beam(decoder, decoding, limits):
    best = beam_search(decoder, Decoding("beam", beams=1), limits)[0]
    yield from best.tokens
    return best


METHODS = pytest.mark.parametrize("decode", [greedy, sample, contrastive, greedy_beam])


@METHODS
def test_the_most_tokens_are_never_exceeded(decode):
    decoding = Decoding(degeneration=0.0, top_k=1)
    for most in (1, 2, 7):
        written, text = finish(decode(ENDLESS, decoding, Limits(tokens=most)))
        assert len(written) == most
        assert text.ended == Ended.MOST_TOKENS


@METHODS
def test_an_end_token_goes_before_the_most_tokens(decode):
    decoder = TableDecoder({(): {A: 1.0}, (A,): {END: 1.0}}, 3, [END], STATES)
    written, text = finish(decode(decoder, Decoding(), Limits(tokens=2)))
    assert (written, text.ended) == ([A], Ended.END)


@METHODS
def test_a_text_ends_when_it_becomes_unlikely(decode):
    low = TableDecoder({(): {A: 0.2, B: 0.15}, (A,): {A: 1.0}}, 9, [END], STATES)
    likely = Limits(tokens=9, score=math.log(0.9))
    written, text = finish(decode(low, Decoding(top_k=1, degeneration=0.0), likely))
    assert len(written) == 1
    assert text.ended == Ended.SCORE


@METHODS
def test_a_text_ends_with_its_time(decode):
    clock = itertools.count().__next__
    written, text = finish(
        decode(ENDLESS, Decoding(top_k=1, degeneration=0.0), Limits(tokens=40, seconds=3, clock=clock))
    )
    assert text.ended == Ended.TIME
    assert 1 <= len(written) <= 3


@pytest.mark.parametrize("limits", [{"tokens": 0}, {"seconds": 0}])
def test_limits_that_leave_nothing_are_refused(limits):
    with pytest.raises(ValueError, match="text"):
        Limits(**limits)
