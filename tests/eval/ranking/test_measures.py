"""Measures by name: spelled, printed back, and refused by name."""

from __future__ import annotations

import re

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.eval.ranking.measures import Measure, available_measures, parse_measure, parse_measures

NAMES = "AP AP@5 AP(rel=2) AP(rel=2)@5 Bpref Bpref(rel=2) Judged Judged@5 nDCG nDCG@10 P@5 P(rel=2)@5 R@5 \
R(rel=3)@100 RR RR@10 RR(rel=2) RR(rel=2)@10 Success@5 Success(rel=2)@5".split()


@pytest.mark.parametrize("name", NAMES)
def test_a_name_prints_back_as_ir_measures_prints_it(name: str) -> None:
    assert parse_measure(name).name == name == str(ir_measures.parse_measure(name))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("ndcg@10", "nDCG@10"),
        ("NDCG@010", "nDCG@10"),
        ("success@5", "Success@5"),
        ("bpref", "Bpref"),
        ("MAP", "AP"),
        ("MRR@10", "RR@10"),
        ("Precision@5", "P@5"),
        ("Recall@100", "R@100"),
        ("P(rel=1)@5", "P@5"),
    ],
)
def test_other_spellings_print_canonically(text: str, name: str) -> None:
    assert parse_measure(text).name == name


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("NDGC@10", "there is no measure 'NDGC@10'; expected one of AP"),
        ("nDCG@ten", "there is no measure"),
        ("nDCG@10@5", "there is no measure"),
        ("AP(judged_only=True)", "there is no measure"),
        ("", "there is no measure ''"),
        ("P", "P has no cutoff; expected one, such as P@10"),
        ("Bpref@5", "Bpref takes no cutoff; found @5"),
        ("R@0", "the cutoff of R is 0; expected at least 1"),
        ("P(rel=0)@5", "the rel of P is 0; expected at least 1"),
        ("nDCG(rel=2)@5", "nDCG takes no rel; found rel=2"),
    ],
)
def test_what_is_no_measure_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        parse_measure(text)


def test_the_refusal_lists_every_measure() -> None:
    listed = {form.split("@")[0].split("[")[0].split("(")[0] for form in available_measures().split(", ")}
    assert listed == {"AP", "Bpref", "Judged", "nDCG", "P", "R", "RR", "Success"}


def test_a_list_names_each_measure_once() -> None:
    assert [m.name for m in parse_measures(" nDCG@10\tR@100 MAP ndcg@10\nAP")] == ["nDCG@10", "R@100", "AP"]


def test_an_empty_list_is_refused() -> None:
    with pytest.raises(ValueError, match="no measure is named"):
        parse_measures(" ")


def test_a_kind_is_not_an_alias() -> None:
    with pytest.raises(ValueError, match="there is no measure 'MAP'"):
        Measure("MAP")


@given(st.builds(Measure, st.sampled_from(["AP", "RR"]), st.none() | st.integers(1, 9999), st.integers(1, 9)))
def test_parsing_its_name_gives_the_same_measure(measure: Measure) -> None:
    assert parse_measure(measure.name) == measure


@given(st.text())
def test_any_text_is_a_measure_or_a_named_error(text: str) -> None:
    outcome: object = None
    try:
        outcome = parse_measure(text)
    except ValueError as error:
        outcome = str(error)
    assert isinstance(outcome, Measure) or outcome
