"""Values of cells and of sentences."""

from decimal import Decimal

import pytest
from hypothesis import given, strategies as st

from spanwise.eval.quantities import Value, common_unit, parse_value, values_in, with_days


@pytest.mark.parametrize(
    ("cell", "number", "unit"),
    [
        ("450 EUR", "450", "EUR"),
        ("€1,249.50", "1249.50", "EUR"),
        ("(1,250)", "-1250", ""),
        ("−14", "-14", ""),
        ("12 %", "12", "%"),
        ("5 GB", "5", "GB"),
        ("1.5 million", "1500000", ""),
        ("41[3]", "41", ""),
        ("1st", "1", ""),
        ("2004-05-01", "20040501", "date"),
        ("20 August 1955", "19550820", "date"),
        ("August 20, 1955", "19550820", "date"),
        ("Sat, 20 Aug. 1955", "19550820", "date"),
        ("Sept 1955", "19550900", "date"),
        ("1:02:03", "3723", "s"),
    ],
)
def test_a_cell_is_a_number_with_a_unit(cell, number, unit):
    value = parse_value(cell)
    assert value is not None
    assert (value.number, value.unit) == (Decimal(number), unit)


@pytest.mark.parametrize("cell", ["Basic", "May", "3-1", "1998–99", "No. 5", "A4", ""])
def test_words_scores_and_seasons_are_no_numbers(cell):
    assert parse_value(cell) is None


def test_units_are_never_mixed():
    assert common_unit([Value(Decimal(2), "EUR"), Value(Decimal(3), "USD")]) is None
    assert common_unit([Value(Decimal(2), "EUR"), Value(Decimal(3))]) is None
    assert common_unit([Value(Decimal(2), "km"), Value(Decimal(3))]) == "km"


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("2,000 and 2 000", ["2000", "2", "0"]),
        ("12% and 13 per cent, fourteen percent, 1.50", ["12%", "13%", "14%", "1.50"]),
        ("2.5 million, two million, 3 hundred", ["2500000.0", "2000000", "300"]),
        ("twenty-five, two hundred and five thousand", ["25", "205000"]),
        ("the 1930s, 3rd, fourth, twelfth", ["1930decade", "3th", "4th", "12th"]),
        ("one of them, a second, v1.2.3, x86", []),
        ("on 3 May 1911", ["503date", "1911"]),
        ("You may march in May.", ["500date"]),
        ("March 4, 1920 and the 4th of July, in Sept. 1920", ["304date", "1920", "704date", "900date"]),
    ],
)
def test_numbers_and_days_of_a_sentence(text, values):
    assert [f"{value.number}{value.unit}" for value in values_in(text)] == values


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("2,000", "2000"),
        ("12%", "twelve per cent"),
        ("1.50", "1.5"),
        ("3rd", "third"),
        ("3 March", "March 3"),
    ],
)
def test_forms_of_a_value_are_equal(text, same):
    assert [*values_in(text)] == [*values_in(same)]


@given(st.integers(0, 10**12))
def test_a_number_is_the_same_with_separators(number):
    assert values_in(f"{number}").keys() == values_in(f"{number:,}").keys() == {Value(Decimal(number))}


@given(st.text("0123456789.,%$ -:/ apr mayſıon", max_size=30))
def test_any_text_is_read(text):
    parse_value(text)
    with_days(text)
    assert all(words in text for words in values_in(text).values())
