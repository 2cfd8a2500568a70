"""Beam search by worked examples."""

from __future__ import annotations

import math

import pytest
from table_decoder import TableDecoder, finish

from spanwise.reader.decoding.beam import Beam, _expanded, beam_search, normalised
from spanwise.reader.decoding.one_path import greedy
from spanwise.reader.decoding.settings import Decoding
from spanwise.reader.decoding.stopping import Ended, Limits

END, A, B, X, Y, Z = range(6)
TWO_STEPS = TableDecoder(
    {(): {A: 0.6, B: 0.4}, (A,): {X: 0.4, Y: 0.35, Z: 0.25}, (B,): {Z: 0.9, X: 0.1}}, 6, [END]
)


def test_the_best_beginnings_are_kept():
    cat, dog, bird, fish, sat, ran, barked, flew, rest = range(9)
    first = {cat: 0.4, dog: 0.3, bird: 0.2, fish: 0.1}
    second = {
        (cat,): {sat: 0.5, ran: 0.3, rest: 0.2},
        (dog,): {barked: 0.6, ran: 0.3, rest: 0.1},
        (bird,): {flew: 0.7, rest: 0.3},
    }
    decoder, decoding = TableDecoder({(): first, **second}, 9), Decoding("beam", beams=3)
    kept = [beam for _, beam in _expanded([Beam()], [decoder.begin().logits[0]], decoding)[:3]]
    assert [beam.tokens for beam in kept] == [(cat,), (dog,), (bird,)]
    logits = [*decoder.step([0, 0, 0], [cat, dog, bird]).logits]
    best = _expanded(kept, logits, decoding)
    assert [beam.tokens for _, beam in best[:3]] == [(cat, sat), (dog, barked), (bird, flew)]
    assert [beam.logprob for _, beam in best[:3]] == pytest.approx(
        [-1.609438, -1.714798, -1.966113], abs=1e-6
    )
    assert [round(math.exp(beam.logprob), 6) for _, beam in best[3:5]] == [0.12, 0.09]


def test_two_beams_find_what_greedy_misses():
    limits = Limits(tokens=2)
    _, alone = finish(greedy(TWO_STEPS, Decoding(), limits))
    [one] = beam_search(TWO_STEPS, Decoding("beam", beams=1), limits)
    best, *_ = beam_search(TWO_STEPS, Decoding("beam", beams=2), limits)
    assert alone.tokens == one.tokens == (A, X)
    assert math.exp(one.logprob) == pytest.approx(0.24)
    assert best.tokens == (B, Z)
    assert math.exp(best.logprob) == pytest.approx(0.36)
    assert best.ended == Ended.MOST_TOKENS


@pytest.mark.parametrize(
    ("exponent", "four_halves", "two_halves", "six_nines", "two_eights"),
    [
        (0, -2.772589, -1.386294, -0.632163, -0.446287),
        (0.6, -1.206839, -0.914613, -0.215744, -0.294440),
        (0.7, -1.050615, -0.853364, None, None),
        (1, -0.693147, -0.693147, -0.105361, -0.223144),
    ],
)
def test_length_normalisation(exponent, four_halves, two_halves, six_nines, two_eights):
    for p, n, expected in (
        (0.5, 4, four_halves),
        (0.5, 2, two_halves),
        (0.9, 6, six_nines),
        (0.8, 2, two_eights),
    ):
        if expected is not None:
            assert normalised(n * math.log(p), n, exponent) == pytest.approx(expected, abs=1e-6)
    with pytest.raises(ValueError, match="without a token"):
        normalised(0.0, 0, exponent)


def test_the_exponent_decides_between_short_and_long():
    short, long = {(): {A: 0.5, B: 0.5}, (A,): {X: 1.0}, (A, X): {END: 0.5, Y: 0.5}}, {}
    for length in range(1, 6):
        long[(B, *[Z] * (length - 1))] = {Z: 0.8, Y: 0.2}
    long[(B, *[Z] * 5)] = {END: 1.0}
    decoder = TableDecoder({**short, **long}, 6, [END])
    found = {
        exponent: beam_search(decoder, Decoding("beam", beams=4, length_exponent=exponent), Limits(tokens=7))[
            0
        ]
        for exponent in (0.0, 1.0)
    }
    assert found[0.0].tokens == (A, X)
    assert found[1.0].tokens == (B, Z, Z, Z, Z, Z)
    assert found[1.0].ended == Ended.END


def test_finished_texts_are_kept_while_others_go_on():
    table = {(): {A: 0.6, B: 0.4}, (A,): {END: 0.9, X: 0.1}, (B,): {Z: 1.0}, (B, Z): {END: 1.0}}
    texts = beam_search(TableDecoder(table, 6, [END]), Decoding("beam", beams=2), Limits(tokens=5))
    assert {text.tokens for text in texts} >= {(A,), (B, Z)}
    assert all(text.ended == Ended.END for text in texts if text.tokens in {(A,), (B, Z)})
    probability = {text.tokens: math.exp(text.logprob) for text in texts}
    assert probability[(A,)] == pytest.approx(0.54)
    assert probability[(B, Z)] == pytest.approx(0.4)


def test_the_best_continuation_of_one_beginning_goes_on_from_its_row():
    table = {(): {A: 0.9, B: 0.1}, (A,): {X: 0.5, Y: 0.5}, (A, X): {Z: 1.0}, (A, Y): {X: 1.0}}
    texts = beam_search(TableDecoder(table, 6), Decoding("beam", beams=2), Limits(tokens=3))
    assert [text.tokens for text in texts] == [(A, X, Z), (A, Y, X)]


def test_more_ends_than_beams_leave_something_to_go_on_with():
    ends = {END: 0.21, X: 0.21, Y: 0.21, Z: 0.2}
    table = {(): {**ends, A: 0.17}, (A,): {END: 1.0}}
    decoding = Decoding("beam", beams=2, length_exponent=1.0)
    best, *_ = beam_search(TableDecoder(table, 6, [END, X, Y, Z]), decoding, Limits(tokens=4))
    assert (best.tokens, best.ended) == ((A,), Ended.END)
