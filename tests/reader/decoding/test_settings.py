"""Presets are what they say, and what is given goes before them."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from spanwise.reader.decoding.settings import PRESETS, Decoding, given_decoding, preset

USED = {
    "factual": {"method": "greedy"},
    "summary": {"method": "beam", "beams": 4, "length_exponent": 0.6, "blocked_ngrams": 3},
    "summary-sampled": {"method": "sample", "temperature": 0.3, "top_p": 0.9, "repetition_penalty": 1.1},
    "summary-strict": {"method": "greedy"},
    "long": {"method": "contrastive", "degeneration": 0.6, "candidates": 5, "top_p": 0.9},
    "general": {"method": "sample", "temperature": 0.7, "top_p": 0.9},
}


@pytest.mark.parametrize("name", PRESETS)
def test_each_preset_resolves_to_exactly_these_values(name):
    assert asdict(preset(name)) == {**asdict(Decoding()), **USED[name]}


def test_what_is_given_goes_before_the_preset():
    assert preset("summary", beams=2) == Decoding("beam", beams=2, length_exponent=0.6, blocked_ngrams=3)


def test_an_unknown_preset_is_named():
    with pytest.raises(ValueError, match="'poem' is no preset of decoding; there are factual, summary"):
        preset("poem")


@pytest.mark.parametrize(
    "given",
    [
        {"temperature": -0.1},
        {"top_k": -1},
        {"top_p": 0.0},
        {"beams": 0},
        {"length_exponent": -1},
        {"degeneration": 2.0},
        {"candidates": 0},
        {"repetition_penalty": 0.0},
        {"blocked_ngrams": -1},
    ],
)
def test_a_number_out_of_range_is_refused_by_name(given):
    with pytest.raises(ValueError, match=next(iter(given))):
        preset("general", **given)


def test_text_replaces_numbers_of_a_preset():
    found = given_decoding("general", ["temperature=0.5", "seed=3", "seed=4", "penalty_form=logit"])
    assert found == preset("general", temperature=0.5, seed=4, penalty_form="logit")
    assert given_decoding("summary", ["method=greedy"]) == preset("summary", method="greedy")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("heat=1", "'heat=1' is no NAME=VALUE of decoding; there are method, temperature, top_k"),
        ("temperature", "'temperature' is no NAME=VALUE"),
        ("temperature=warm", "temperature is a number, not 'warm'"),
        ("temperature=nan", "temperature is nan, which decoding cannot use"),
        ("beams=2.5", "beams is a number without a fraction, not '2.5'"),
        ("beams=0", "beams is 0, which decoding cannot use"),
        ("method=guess", "method is one of greedy, beam, sample, contrastive, not 'guess'"),
    ],
)
def test_text_that_is_no_number_of_decoding_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        given_decoding("general", [given])
