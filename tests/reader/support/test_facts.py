"""Numbers, days, names and denials by themselves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.reader.support.days import days
from spanwise.reader.support.denial import contradicts, denied, denies
from spanwise.reader.support.names import names
from spanwise.reader.support.numbers import covers, numbers


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("2,000 and 2000 and 2 000", ["2000", "2000", "2", "0"]),
        ("1.50 or 1.5", ["1.5", "1.5"]),
        ("12% and 12 per cent, twelve percent", ["12%", "12%", "12%"]),
        ("2.5 million, two million, 3 hundred", ["2500000", "2000000", "300"]),
        ("twenty-five, two hundred and five thousand", ["25", "205000"]),
        ("the 1930s, 3rd, third, twelfth", ["1930s", "3th", "3th", "12th"]),
        ("one of them, a second", []),
        ("v1.2.3, x86, 12:30", ["12", "30"]),
        ("on 3 May 1911", ["1911"]),
    ],
)
def test_numbers_compare_by_value(text, values):
    assert [number.value for number in numbers(text)] == values


@given(st.integers(0, 10**12))
def test_a_number_is_the_same_with_separators(number):
    [plain], [separated] = numbers(f"{number}"), numbers(f"{number:,}")
    assert plain.value == separated.value == str(number)


@given(st.text(max_size=80))
def test_facts_stand_where_they_say(text):
    for fact in (*numbers(text), *names(text, lambda word: False)):
        assert text[fact.start : fact.end] == fact.text
    assert all(1 <= day.month <= 12 for day in days(text))
    denied(text, str.split)


def test_a_decade_holds_its_years():
    assert covers("1960s", "1964")
    assert not covers("1960s", "1974")
    assert not covers("100", "1000")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("You may march in May.", [(5, None)]),
        ("3 March and March 3, 1920", [(3, 3), (3, 3)]),
        ("the 4th of July", [(7, 4)]),
        ("in Sept. 1920", [(9, None)]),
        ("a novel of augusta", []),
    ],
)
def test_days_with_their_months(text, found):
    assert [(day.month, day.day) for day in days(text)] == found


def test_names_are_capitalised_by_no_rule():
    common = {"the", "and", "in", "i"}.__contains__
    text = "Pumps ran. Later Ada Rook's FDA-approved pump ran in New York, and I saw it."
    assert [name.text for name in names(text, common)] == [
        "Later",
        "Ada",
        "Rook's",
        "FDA-approved",
        "New",
        "York",
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The mill did not burn, it sank.", {"burn"}),
        ("It isn't red but blue", {"red"}),
        ("not only red", set()),
        ("It was red and not red", set()),
        ("without water and steam", {"water", "and", "steam"}),
    ],
)
def test_what_is_denied(text, found):
    assert denied(text, str.split) == found


def test_contradictions_are_denied_on_one_side():
    def terms(text):
        return [
            word.strip(".") for word in text.lower().split() if word not in ("the", "did", "not", "never")
        ]

    assert contradicts("The mill did not burn.", "The mill burn.", terms) == ("burn",)
    assert contradicts("The mill burn.", "The mill did not burn.", terms) == ("burn",)
    assert contradicts("The mill never burn.", "The mill did not burn.", terms) == ()
    assert denies("It never fails") == "never"
    assert denies("It runs") == ""
