"""Events do not depend on how their bytes are cut."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.reader.generation.faults import Fault
from spanwise.reader.generation.server_events import ServerEvent, events

PARTS = st.sampled_from(
    [
        "data",
        "data:",
        "data: ",
        "event: error",
        ":",
        " ",
        "x",
        "größe",
        "😀",
        "\ufeff",
        "\u2028",
        "\x0b",
        "id: 1",
        "\0",
    ]
)
STREAMS = st.lists(PARTS | st.sampled_from(["\n", "\r", "\r\n", "\n\n"]), max_size=30).map("".join)
CUTS = st.lists(st.integers(0, 120), max_size=20)


def cut(data: bytes, at: list[int]) -> list[bytes]:
    places = [0, *sorted(at), len(data)]
    return [data[begin:end] for begin, end in pairwise(places)]


def simple_events(text: str) -> list[ServerEvent]:
    """The same on the whole text at once, line by line as the standard says it."""
    *lines, _ = text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff").split("\n")
    found, name, data = [], "", list[str]()
    for line in lines:
        if line == "":
            if data:
                found.append(ServerEvent(name, "\n".join(data)))
            name, data = "", []
        elif not line.startswith(":"):
            field, _, value = line.partition(":")
            value = value[1:] if value.startswith(" ") else value
            if field == "data":
                data.append(value)
            name = value if field == "event" else name
    return found


@given(STREAMS, CUTS)
def test_any_cutting_gives_the_events_of_the_standard(text: str, at: list[int]) -> None:
    assert list(events(cut(text.encode(), at))) == simple_events(text)


@given(st.binary(max_size=60), CUTS)
def test_any_bytes_give_events_or_one_fault(data: bytes, at: list[int]) -> None:
    outcomes = []
    for chunks in ([data], cut(data, at), [data[i : i + 1] for i in range(len(data))]):
        try:
            outcomes.append(list(events(chunks)))
        except Fault as fault:
            outcomes.append([ServerEvent("fault", fault.what)])
    assert outcomes[0] == outcomes[1] == outcomes[2]


@given(st.integers(1, 40), CUTS)
def test_a_line_may_be_as_long_as_the_limit(longest: int, at: list[int]) -> None:
    line = b"data:".ljust(longest, b"x")[:longest]
    assert len(list(events(cut(line + b"\n\n", at), longest))) == line.startswith(b"data")
    with pytest.raises(Fault, match="line of more than"):
        list(events(cut(line + b"x\n\n", at), longest))


def test_an_event_is_there_with_its_last_byte() -> None:
    def chunks() -> object:
        yield b"data: now\r\n\r"
        raise AssertionError("the event was complete")

    assert next(events(chunks())) == ServerEvent("", "now")  # type: ignore[arg-type]


def test_an_event_without_the_empty_line_is_none() -> None:
    assert list(events([b"data: whole\n\ndata: cut off\n"])) == [ServerEvent("", "whole")]
