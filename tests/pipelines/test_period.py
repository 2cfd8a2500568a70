"""Dates become moments: local ones, and those that name their zone."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime

import pytest

from spanwise.pipelines.filters import document_moment_ns, moment_ns

HOUR = 3_600 * 10**9


@pytest.fixture(autouse=True)
def _two_hours_east(monkeypatch):
    monkeypatch.setenv("TZ", "EAST-2")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("value", "hours"),
    [
        ("1970-01-02", 22),
        (date(1970, 1, 2), 22),
        ("1970-01-02T01:00", 23),
        (datetime(1970, 1, 2, 1), 23),
        ("1970-01-02T00:00Z", 24),
        ("1970-01-02T00:00-01:00", 25),
        (datetime(1970, 1, 2, tzinfo=UTC), 24),
    ],
)
def test_a_date_is_its_first_moment_in_local_time(value, hours):
    assert moment_ns(value) == hours * HOUR


def test_microseconds_are_kept():
    assert moment_ns("2024-01-31T10:00:00.123457+00:00") == 1706695200_123457_000


@pytest.mark.parametrize("value", ["", "2024-13-01", "31.1.2024", "yesterday", "0001-01-01", 2024])
def test_what_is_no_date_is_named(value):
    with pytest.raises(ValueError, match="invalid date"):
        moment_ns(value)


def test_a_document_goes_by_its_own_date_then_by_its_file():
    assert document_moment_ns(5, {"date": "1970-01-02T00:00Z"}) == 24 * HOUR
    assert document_moment_ns(5, {"date": "last summer"}) == 5
    assert document_moment_ns(5, {}) == 5
    assert document_moment_ns(0, {}) is None
