"""Work spread over simulated devices."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanwise.models.dispatch import spread


@settings(max_examples=20)
@given(st.lists(st.integers(), max_size=40), st.integers(1, 4))
def test_every_item_is_worked_on_once(items, n_workers):
    done = list(spread(items, [lambda item: -item] * n_workers))
    assert sorted(done) == sorted((item, -item) for item in items)


def test_a_slow_worker_leaves_the_rest_to_the_others():
    others_are_done = threading.Event()

    def slow(item):
        assert others_are_done.wait(10)
        return "slow"

    done = []
    for item, worker in spread(range(9), [slow, lambda _: "fast"]):
        done.append((item, worker))
        if len(done) == 8:
            others_are_done.set()
    assert sorted(worker for _, worker in done) == ["fast"] * 8 + ["slow"]


def test_an_error_of_a_worker_comes_out_and_nothing_hangs():
    def broken(item):
        raise RuntimeError("the device fell off the bus")

    with pytest.raises(RuntimeError, match="fell off the bus"):
        list(spread(range(100), [broken, lambda item: item]))
    assert not [t for t in threading.enumerate() if t.name == "spanwise-worker"]


def test_a_caller_that_stops_listening_ends_the_work():
    results = spread(range(10**9), [lambda item: item] * 2)
    next(results)
    results.close()
    assert not [t for t in threading.enumerate() if t.name == "spanwise-worker"]


def test_no_workers_are_refused():
    with pytest.raises(ValueError, match="no workers"):
        list(spread([1], []))
