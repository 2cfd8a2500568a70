"""Ctrl-C in the middle of a piece of work ends it when it is whole."""

from __future__ import annotations

import signal
import threading

import pytest

from spanwise.models.training import defer_keyboard_interrupt


def held(done: list[str], error: Exception | None = None) -> None:
    with defer_keyboard_interrupt():
        signal.raise_signal(signal.SIGINT)
        if error:
            raise error
        done.append("whole")


def test_an_interrupt_within_is_raised_at_the_end():
    done: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        held(done)
    assert done == ["whole"]


def test_afterwards_it_is_heard_at_once():
    handler = signal.getsignal(signal.SIGINT)
    with defer_keyboard_interrupt():
        assert signal.getsignal(signal.SIGINT) is not handler
    assert signal.getsignal(signal.SIGINT) is handler


def test_an_error_within_is_raised_as_it_is():
    with pytest.raises(ValueError, match="broken"):
        held([], ValueError("broken"))


def test_other_threads_are_left_alone():
    passed = []

    def work():
        with defer_keyboard_interrupt():
            passed.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert passed == [signal.getsignal(signal.SIGINT)]
