"""What is tried again, and what is not."""

from __future__ import annotations

import pytest
from endpoint_asking import Asking
from endpoint_server import Running
from hypothesis import given
from hypothesis import strategies as st

from spanwise.errors import GenerationFailed
from spanwise.reader.decoding.stopping import Limits
from spanwise.reader.generation.retrying import BackOff, seconds_asked


def test_a_busy_server_is_asked_again_when_it_says(server: Running) -> None:
    asking = Asking(server, "busy_once")
    assert asking.written().text == "The library opens at nine."
    assert asking.waits == [7.0]


@pytest.mark.parametrize("scene", ["cut_once", "half_once"])
def test_a_lost_connection_is_made_again_before_the_first_piece(server: Running, scene: str) -> None:
    asking = Asking(server, scene)
    assert asking.written().text == "The library opens at nine."
    assert asking.waits == [0.5]


def test_no_more_tries_than_allowed(server: Running) -> None:
    asking = Asking(server, "busy")
    with pytest.raises(GenerationFailed, match=r"\(429\): slow down \(tried 4 times\)$"):
        asking.written()
    assert asking.waits == [0.5, 1.0, 2.0]
    assert asking.n_asked() == 4


def test_an_overloaded_server_is_asked_again(server: Running) -> None:
    asking = Asking(server, "overloaded", retries=1)
    with pytest.raises(GenerationFailed, match=r"\(503\): Loading model \(tried 2 times\)$"):
        asking.written()
    assert asking.n_asked() == 2


@pytest.mark.parametrize("scene", ["cut", "no_done", "error_event", "missing", "unauthorized", "bad_request"])
def test_neither_after_the_first_piece_nor_where_it_is_of_no_use(server: Running, scene: str) -> None:
    asking = Asking(server, scene)
    with pytest.raises(GenerationFailed):
        asking.written()
    assert asking.n_asked() == 1
    assert asking.waits == []


@pytest.mark.parametrize("limits", [Limits(), Limits(seconds=5)])
def test_a_wait_beyond_the_time_is_a_failure_at_once(server: Running, limits: Limits) -> None:
    asking = Asking(server, "busy_once", total_s=6)
    with pytest.raises(GenerationFailed, match="429"):
        asking.written(limits=limits)
    assert asking.waits == []


def test_what_a_server_asks_for_is_capped(server: Running) -> None:
    asking = Asking(server, "busy_once", longest_s=3.0)
    asking.written()
    assert asking.waits == [3.0]


@given(st.integers(0, 10**6), st.floats(0, 1), st.text() | st.none())
def test_a_wait_is_never_longer_than_the_longest(attempt: int, drawn: float, asked: str | None) -> None:
    back_off = BackOff(first_s=0.5, longest_s=8.0, draw=lambda: drawn)
    assert 0 <= back_off.wait_s(attempt, asked) <= 8.0


def test_waits_are_drawn_from_a_range_that_doubles() -> None:
    back_off = BackOff(first_s=1.0, longest_s=10.0, draw=lambda: 0.5)
    assert [back_off.wait_s(attempt) for attempt in range(6)] == [0.5, 1.0, 2.0, 4.0, 5.0, 5.0]


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("0", 0.0),
        (" 12 ", 12.0),
        ("9" * 400, float("inf")),
        ("Thu, 01 Jan 1970 00:01:00 GMT", 50.0),
        ("Thu, 01 Jan 1970 00:01:00 -0000", 50.0),
        ("Thu, 01 Jan 1970 00:00:01 GMT", 0.0),
        ("-5", None),
        ("1.5", None),
        ("²", None),
        ("Thu, 99 Jan 1970 00:01:00 GMT", None),
        ("Fri, 31 Dec 9999 23:59:59 -9999", None),
        ("soon", None),
    ],
)
def test_retry_after(header: str, seconds: float | None) -> None:
    assert seconds_asked(header, now=10.0) == seconds
