"""Questions that are looked up in a table."""

from __future__ import annotations

import pytest

from spanwise.corpora.tables import find_tables
from spanwise.index.analysis import Analyzer
from spanwise.pipelines.answering.lookup import look_up
from spanwise.pipelines.answering.table_text import TableText
from spanwise.types import Document

PLANS = """Plan | Price per month | Price per year | Users | Storage | Phone support
Basic | 4.50 EUR | 45 EUR | 1 | 5 GB | no
Team | 21 EUR | 210 EUR | 10 | 100 GB | yes
Pro | 45 EUR | 450 EUR | 50 | 1 TB | yes
Campus | 90 EUR | 900 EUR | 400 | 8 TB | yes"""
RACES = """Year | Winner | Country | Laps | Distance
2001 | Ada Rook | Norway | 12 | 40 km
2002 | Milo Brandt | Sweden | 14 | 44 km
2003 | Ada Rook | Norway | 14 | 45 km
2004 | Jo Falk | Denmark | 9 | 31 km
2005 | Ines Kane | Norway | 15 | 50 km"""


def asked(question: str, text: str = PLANS):
    document = Document("a", "text/html", "", "", text)
    [table] = find_tables(document)
    return look_up(question, TableText(text, table, Analyzer()))


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("What is the price of the Pro plan per year?", "450 EUR"),
        ("How much does the Team plan cost per month?", "21 EUR"),
        ("How many users does the Campus plan allow?", "400"),
        ("Which plan has 8 TB of storage?", "Campus"),
        ("Which plan is the cheapest?", "Basic"),
        ("Does the Basic plan include phone support?", "no"),
        ("Which plan does not include phone support?", "Basic"),
        ("Which plan has the most users?", "Campus"),
    ],
)
def test_a_cell_answers(question, value):
    result = asked(question)
    assert result.values == (value,)
    assert not result.is_computed
    assert not result.unexplained


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("Who won in 2004?", "Jo Falk"),
        ("Who won after Milo Brandt?", "Ada Rook"),
        ("Which country won the most?", "Norway"),
        ("Who was the last winner?", "Ines Kane"),
        ("Who had more laps, Jo Falk or Ines Kane?", "Ines Kane"),
    ],
)
def test_rows_are_compared(question, value):
    assert asked(question, RACES).values == (value,)


@pytest.mark.parametrize(
    ("question", "value", "operation"),
    [
        ("How many winners were from Norway?", "3", "count"),
        ("How many races had more than 12 laps?", "3", "count"),
        ("What is the total number of laps of Ada Rook?", "26", "sum"),
        ("What is the average distance of Norway?", "45 km", "mean"),
        ("How many more laps did Ines Kane have than Jo Falk?", "6", "difference"),
        ("Did Ines Kane have more laps than Jo Falk?", "yes", "compare"),
    ],
)
def test_an_answer_is_computed_from_its_cells(question, value, operation):
    result = asked(question, RACES)
    assert (result.values, result.operation) == ((value,), operation)
    assert result.is_computed


@pytest.mark.parametrize(
    "question",
    [
        "What colour is the logo of the Pro plan?",
        "Who is the founder of the company behind the Pro plan?",
        "Which plan has the same storage as the Team plan?",
    ],
)
def test_words_that_nothing_explains_lower_the_score(question):
    result = asked(question)
    assert result is None or result.score < -1


def test_different_currencies_are_not_compared():
    text = "Plan | Price\nPro | 450 EUR\nTeam | 300 USD\nFree | 10 GBP"
    assert asked("Which plan is the cheapest?", text) is None


def test_a_count_of_no_rows_is_no_result_because_it_has_no_cells():
    result = asked("How many winners are listed below Ines Kane?", RACES)
    assert result is None or result.cells
