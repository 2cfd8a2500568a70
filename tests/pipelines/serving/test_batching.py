"""Questions that wait are computed together; each fails, and is given up, alone."""

from __future__ import annotations

import asyncio
from threading import Event

import pytest

from spanwise.pipelines.serving import batching
from spanwise.pipelines.serving.batching import Batcher
from spanwise.pipelines.serving.computing import ComputingThread


class Computed:
    """Says questions in capitals, the first batch after `go`; refuses "bad". `batches` is what came."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.go = Event()

    def many(self, questions):
        self.batches.append(list(questions))
        assert self.go.wait(20)
        if "bad" in questions:
            raise ValueError("bad")
        return [question.upper() for question in questions]


def asked(computed: Computed, *questions: tuple[str, str], cancelled: int | None = None, most: int = 32):
    """What comes of questions with their keys, of which the first is being computed as the others come."""

    async def run():
        thread = ComputingThread()
        batcher = Batcher(thread, most, lambda n, seconds: None)
        tasks = []
        for key, question in questions:
            tasks.append(asyncio.ensure_future(batcher.result(key, computed.many, question)))
            await asyncio.sleep(0)
        if cancelled is not None:
            tasks[cancelled].cancel()
        computed.go.set()
        found = await asyncio.gather(*tasks, return_exceptions=True)
        assert thread.stop(5)
        return found

    return asyncio.run(run())


def test_those_that_wait_are_taken_together():
    computed = Computed()
    found = asked(computed, ("k", "a"), ("k", "b"), ("k", "c"))
    assert found == ["A", "B", "C"]
    assert computed.batches == [["a"], ["b", "c"]]


def test_other_options_are_another_batch_and_the_oldest_goes_first():
    computed = Computed()
    assert asked(computed, ("k", "a"), ("k", "b"), ("other", "c"), ("k", "d")) == ["A", "B", "C", "D"]
    assert computed.batches == [["a"], ["b", "d"], ["c"]]


def test_the_same_question_is_computed_once():
    computed = Computed()
    assert asked(computed, ("k", "a"), ("k", "b"), ("k", "b")) == ["A", "B", "B"]
    assert computed.batches == [["a"], ["b"]]


def test_a_failing_question_fails_alone():
    first, b, bad, c = asked(Computed(), ("k", "a"), ("k", "b"), ("k", "bad"), ("k", "c"))
    assert (first, b, c) == ("A", "B", "C")
    assert isinstance(bad, ValueError)


def test_a_question_whose_asker_is_gone_is_not_computed():
    computed = Computed()
    _, gone, _ = asked(computed, ("k", "a"), ("k", "b"), ("k", "c"), cancelled=1)
    assert isinstance(gone, asyncio.CancelledError)
    assert computed.batches == [["a"], ["c"]]


def test_an_asker_who_leaves_while_it_is_computed_holds_nobody_up():
    computed = Computed()
    assert asked(computed, ("k", "a"), ("k", "b"), cancelled=0)[1] == "B"


def test_a_batch_has_no_more_than_the_most():
    computed = Computed()
    asked(computed, *[("k", letter) for letter in "abcde"], most=2)
    assert computed.batches == [["a"], ["b", "c"], ["d", "e"]]


def test_questions_that_take_long_are_not_kept_waiting_for_many_others(monkeypatch):
    computed = Computed()
    monkeypatch.setattr(batching, "TOGETHER_S", 0.0)
    asked(computed, *[("k", letter) for letter in "abc"])
    assert computed.batches == [["a"], ["b"], ["c"]]


def test_a_thread_that_does_not_end_is_told():
    thread, go = ComputingThread(), Event()
    thread.do(lambda: go.wait(20) and None)
    assert not thread.stop(0.01)
    go.set()


def test_a_batcher_without_work_waits_for_nothing():
    assert ComputingThread().stop(0)


@pytest.mark.parametrize("n", [1, 3])
def test_a_batch_that_gives_the_wrong_number_of_results_fails(n):
    computed = Computed()
    computed.go.set()

    async def run():
        batcher = Batcher(ComputingThread(), 4, lambda n, seconds: None)
        return await batcher.result("k", lambda questions: ["x"] * (n + 1), "a")

    with pytest.raises(ValueError, match="argument 2 is longer"):
        asyncio.run(run())
