from __future__ import annotations

import threading

import pytest

from spanwise.models.batching import prefetch


def test_the_next_item_is_made_while_the_caller_has_the_last():
    second_is_made = threading.Event()

    def make(item):
        if item == 1:
            second_is_made.set()
        return item

    results = prefetch(range(3), make)
    assert next(results) == 0
    assert second_is_made.wait(10)
    assert list(results) == [1, 2]


def test_one_item_starts_no_thread():
    assert list(prefetch([0], lambda _: threading.current_thread())) == [threading.current_thread()]


def test_an_error_comes_out_in_its_turn():
    results = prefetch([1, 0], lambda item: 1 // item)
    assert next(results) == 1
    with pytest.raises(ZeroDivisionError):
        next(results)
