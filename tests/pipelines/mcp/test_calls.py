"""Calls take turns, and nobody waits longer than was said."""

from __future__ import annotations

import asyncio
import threading

import pytest

from spanwise.pipelines.mcp.calls import Calls
from spanwise.pipelines.mcp.settings import Settings


@pytest.fixture
def go():
    """What ends a computation that would go on for ever."""
    event = threading.Event()
    yield event
    event.set()


async def late(calls, compute) -> bool:
    """Whether a call was given up."""
    try:
        await calls.result(compute)
    except TimeoutError:
        return True
    return False


def test_calls_are_computed_in_turn_in_one_thread() -> None:
    seen = []

    async def three():
        calls = Calls(60)
        for n in await asyncio.gather(*[calls.result(lambda n=n: n) for n in range(3)]):
            seen.append(n)
        return {await calls.result(threading.get_ident) for _ in range(3)}

    threads = asyncio.run(three())
    assert (seen, len(threads)) == ([0, 1, 2], 1)
    assert threading.get_ident() not in threads


def test_one_that_takes_too_long_is_given_up_and_those_behind_it_are_not_begun(go) -> None:
    begun = []

    def slow():
        begun.append("slow")
        go.wait()

    async def two():
        calls = Calls(0.2)
        given_up = await asyncio.gather(late(calls, slow), late(calls, lambda: begun.append("waiting")))
        go.set()
        return given_up, await calls.result(lambda: "the next")

    assert asyncio.run(two()) == ([True, True], "the next")
    assert begun == ["slow"]


def test_one_whose_caller_leaves_is_not_begun(go) -> None:
    begun = []

    async def left():
        calls = Calls(None)
        first = asyncio.ensure_future(calls.result(go.wait))
        second = asyncio.ensure_future(calls.result(lambda: begun.append("second")))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.sleep(0)
        go.set()
        return await first, await calls.result(lambda: "the next")

    assert asyncio.run(left()) == (True, "the next")
    assert begun == []


def test_what_ends_after_the_loop_is_no_error(go) -> None:
    done = threading.Event()
    calls = Calls(0.1)

    def slow():
        go.wait()
        threading.Timer(0.1, done.set).start()  # when what is done with the result is done

    assert asyncio.run(late(calls, slow))
    go.set()
    assert done.wait(10)
    assert calls._thread.stop(10)  # it lives on, and ends when it is told to


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_no_time_at_all_is_refused(seconds) -> None:
    with pytest.raises(ValueError, match="expected more than 0 seconds"):
        Settings(call_s=seconds)
