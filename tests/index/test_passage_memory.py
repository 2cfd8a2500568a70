"""Passages that were found lately are not read again, and not for ever."""

from __future__ import annotations

import pytest

from spanwise.index import passage_memory
from spanwise.index.passage_memory import PassageMemory
from spanwise.types import Passage


class Reader:
    """Reads passages 1 to 9, and remembers which."""

    def __init__(self) -> None:
        self.read: list[int] = []

    def __call__(self, ids):
        if any(number > 9 for number in ids):
            raise ValueError("no passage 10")
        self.read += ids
        return [Passage(number, "a.md", 0, 1, str(number)) for number in ids]


@pytest.fixture
def reader() -> Reader:
    return Reader()


def ids(passages) -> list[int]:
    return [passage.id for passage in passages]


def test_passages_come_in_the_order_asked_and_as_often(reader) -> None:
    memory = PassageMemory(reader)
    assert ids(memory.of([3, 1, 3])) == [3, 1, 3]
    assert ids(memory.of([1, 2, 3])) == [1, 2, 3]
    assert ids(memory.of([2, 2])) == [2, 2]
    assert ids(memory.of([])) == []
    assert reader.read == [3, 1, 2]


def test_what_is_remembered_is_not_read_again(reader) -> None:
    memory = PassageMemory(reader)
    first = memory.of([1, 2])
    assert memory.of([2, 3])[0] is first[1]
    assert reader.read == [1, 2, 3]


def test_what_was_not_asked_for_longest_is_forgotten(reader, monkeypatch) -> None:
    monkeypatch.setattr(passage_memory, "MOST", 3)
    memory = PassageMemory(reader)
    for asked in ([1, 2, 3], [1], [4], [1, 2]):
        memory.of(asked)
    assert reader.read == [1, 2, 3, 4, 2]


def test_more_than_it_remembers_are_given_whole(reader, monkeypatch) -> None:
    monkeypatch.setattr(passage_memory, "MOST", 3)
    assert ids(PassageMemory(reader).of([5, 4, 3, 2, 1])) == [5, 4, 3, 2, 1]


def test_an_id_that_there_is_not_is_an_error_each_time(reader) -> None:
    memory = PassageMemory(reader)
    for _ in range(2):
        with pytest.raises(ValueError, match="no passage 10"):
            memory.of([1, 10])
    assert ids(memory.of([1])) == [1]
