"""Values of cells."""

from decimal import Decimal

import pytest

from spanwise.pipelines.answering.table_text import Value, common_unit, parse_value


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
        ("1:02:03", "3723", "s"),
    ],
)
def test_a_cell_is_a_number_with_a_unit(cell, number, unit):
    value = parse_value(cell)
    assert value is not None
    assert (value.number, value.unit) == (Decimal(number), unit)


@pytest.mark.parametrize("cell", ["Basic", "3-1", "1998–99", "No. 5", "A4", ""])
def test_words_scores_and_seasons_are_no_numbers(cell):
    assert parse_value(cell) is None


def test_units_are_never_mixed():
    assert common_unit([Value(Decimal(2), "EUR"), Value(Decimal(3), "USD")]) is None
    assert common_unit([Value(Decimal(2), "EUR"), Value(Decimal(3))]) is None
    assert common_unit([Value(Decimal(2), "km"), Value(Decimal(3))]) == "km"
