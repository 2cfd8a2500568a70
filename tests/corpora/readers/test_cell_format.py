"""Values look as their number format shows them; the formats are those of real workbooks."""

from datetime import date, datetime, time, timedelta

import pytest
from hypothesis import given, strategies as st

from spanwise.corpora.readers.cell_format import show_number, show_time


@pytest.mark.parametrize(
    ("value", "code", "expected"),
    [
        (1249.5, "#,##0.00", "1,249.50"),
        (1249.5, '"€"#,##0.00', "€1,249.50"),
        (1249.5, "#,##0.00 [$€-407]", "1,249.50 €"),
        (1249.5, "[$-409]#,##0.00", "1,249.50"),
        (-1249.5, "[$$-409]#,##0.00", "-$1,249.50"),
        (80, "$#,##0_);[Red]($#,##0)", "$80"),
        (-80, "$#,##0_);[Red]($#,##0)", "($80)"),
        (-1_250_000, r"#,##0;\(#,##0\)", "(1,250,000)"),
        (-12, "0;-0", "-12"),
        (0, '_(* #,##0_);_(* (#,##0);_(* "-"??_);_(@_)', "-"),
        (1234, '_(* #,##0_);_(* (#,##0);_(* "-"??_);_(@_)', "1,234"),
        (-5, "0.0", "-5.0"),
        (-0.001, "0.00", "0.00"),
        (5, ";;;", ""),
        (1067, "00000", "01067"),
        (5, "0,000", "0,005"),
        (2.1, "0.00", "2.10"),
        (2.675, "0.00", "2.68"),
        (0.5, "#.00", ".50"),
        (12.5, ".00", "12.50"),
        (5, "#.##", "5"),
        (0.4567, "0.0%", "45.7%"),
        (0.19, "0 %", "19 %"),
        (493012345678, '"+"00 000 0000000', "+49 301 2345678"),
        (5551234, "[<=9999999]###-####;(###) ###-####", "555-1234"),
        (3125551234, "[<=9999999]###-####;(###) ###-####", "(312) 555-1234"),
        (78051120, "000-00-0000", "078-05-1120"),
        (12.5, '0.0" kg"', "12.5 kg"),
        (12.5, r"0.0\ \k\g", "12.5 kg"),
        (3, "0° C", "3° C"),
        (1_250_000, '0.0,,"M"', "1.3M"),
        (1_250_000, '[>=1000000]0.00,,"M";[>=1000]0.0,"K";0', "1.25M"),
        (-5, '[>=1000]0.0,"K";0', "-5"),
        (12_500, '[>=1000000]0.00,,"M";[>=1000]0.0,"K";0', "12.5K"),
        (0.0000012345, "0.00E+00", "1.23E-06"),
        (9.999, "0.00E+00", "1.00E+01"),
        (12345, "##0.0E+0", "1.2E+4"),
        (0, "0.00E+00", "0.00E+00"),
        (2.25, "# ?/?", "2 1/4"),
        (0.75, "# ??/??", "3/4"),
        (1.5, "# ?/8", "1 1/2"),
        (3, "# ?/?", "3"),
        (0, "# ?/?", "0"),
        (0.1 + 0.2, "General", "0.3"),
        (1 / 3, "General", "0.333333333"),
        (1234567.891234, "General", "1234567.891"),
        (4_006_381_333_931, "General", "4006381333931"),
        (0.00001234, "General", "1.234E-05"),
        (1e20, "General", "1E+20"),
        (-3, '[Red]General" pieces"', "-3 pieces"),
        (4711, "@", "4711"),
        (7, '0;-0;0;"Note "@', "7"),
        (10**15, "0", "1000000000000000"),
        (1.5, "", "1.5"),
        (1, '"yes";;"no"', "yes"),
        (0, '"yes";;"no"', "no"),
    ],
)
def test_a_number_is_shown_in_its_format(value: float, code: str, expected: str) -> None:
    assert show_number(value, code) == expected


@pytest.mark.parametrize(
    ("value", "code", "expected"),
    [
        (timedelta(hours=26, minutes=30), "[h]:mm", "26:30"),
        (timedelta(hours=26, minutes=30), "[hh]:mm:ss", "26:30:00"),
        (timedelta(hours=-2), "[h]:mm", "-2:00"),
        (timedelta(minutes=95, seconds=7), "[mm]:ss", "95:07"),
        (timedelta(seconds=75.25), "[s].00", "75.25"),
        (timedelta(hours=26, minutes=5), '[h]" h "mm" min"', "26 h 05 min"),
        (time(7, 8, 9), "hh:mm:ss", "07:08:09"),
        (time(7, 8), "h:mm", "7:08"),
        (time(0, 31, 5), "mm:ss", "31:05"),
        (time(0, 31, 5, 500_000), "mm:ss.0", "31:05.5"),
        (time(0, 5), "h:mm AM/PM", "12:05 AM"),
        (time(19, 30), "[$-409]h:mm AM/PM;@", "7:30 PM"),
        (datetime(1900, 1, 1, 19, 30), "h:mm", "19:30"),
        (datetime(2024, 6, 18, 7, 45), "dd/mm/yyyy hh:mm", "2024-06-18 07:45"),
        (datetime(2024, 6, 18, 7, 44, 59, 999_000), "d/m/yy h:mm", "2024-06-18 07:45"),
        (datetime(2024, 6, 18), "mmm yyyy", "2024-06"),
        (datetime(2024, 6, 18), "yyyy", "2024"),
        (datetime(2024, 6, 18), '[$-407]d. mmmm yyyy" (Tag)"', "2024-06-18"),
        (date(2024, 6, 18), "General", "2024-06-18"),
    ],
)
def test_a_time_is_shown_in_its_format_and_a_date_in_iso(
    value: date | time | timedelta, code: str, expected: str
) -> None:
    assert show_time(value, code) == expected


@given(
    value=st.floats(),
    code=st.text(st.sampled_from(list('0#?.,%E+-/ @;[]<>=$"\\_*hmsyd1A/PMGeneral')), max_size=300),
)
def test_any_format_shows_something(value: float, code: str) -> None:
    assert isinstance(show_number(value, code), str)
    assert isinstance(show_time(timedelta(days=1.3), code), str)
