"""Results come in the order of the files, never too many at once, whatever the parsers' pace."""

from __future__ import annotations

import time
from dataclasses import dataclass

import pytest

from spanwise.index.analysis import Analyzer
from spanwise.pipelines.parsing import pool
from spanwise.pipelines.parsing.pool import ParserPool


@dataclass
class Item:
    number: int
    size: int = 1


def test_results_keep_the_order_of_the_files():
    def uneven(parser, item):
        time.sleep(0.002 * (item.number % 5))
        return item.number

    with ParserPool(3, Analyzer().settings()) as parsers:
        assert list(parsers.map(uneven, [Item(n) for n in range(40)])) == list(range(40))


@pytest.mark.parametrize(("limit", "value", "size"), [("AHEAD_FILES", 4, 1), ("AHEAD_BYTES", 40, 10)])
def test_only_so_much_is_read_ahead(monkeypatch, limit, value, size):
    monkeypatch.setattr(pool, limit, value)
    taken, most = [], 0
    with ParserPool(2, Analyzer().settings()) as parsers:
        items = (taken.append(n) or Item(n, size) for n in range(30))
        for done, _ in enumerate(parsers.map(lambda parser, item: item, items)):
            most = max(most, len(taken) - done)
    assert most <= 5


def test_what_the_work_raises_comes_out_in_its_turn():
    def fails_at_three(parser, item):
        if item.number == 3:
            raise ZeroDivisionError
        return item.number

    with ParserPool(2, Analyzer().settings()) as parsers:
        results = parsers.map(fails_at_three, [Item(n) for n in range(9)])
        assert [next(results) for _ in range(3)] == [0, 1, 2]
        with pytest.raises(ZeroDivisionError):
            next(results)


def test_leaving_does_not_wait_for_the_files_ahead():
    started = []

    def works_until_stopped(parser, item):
        started.append(item.number)
        while item.number and not parser._stopped:
            time.sleep(0.005)
        return item.number

    with ParserPool(1, Analyzer().settings()) as parsers:
        assert next(parsers.map(works_until_stopped, [Item(n) for n in range(50)])) == 0
    assert len(started) <= 2


def test_no_workers_are_refused():
    with pytest.raises(ValueError, match="workers is 0"):
        ParserPool(0, Analyzer().settings())
