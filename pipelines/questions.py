"""What can be asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice


def checked_question(question: str) -> str:
    """The question without white space around it; ValueError when nothing is left."""
    if not question.strip():
        raise ValueError('the question is empty: ask something, such as "who founded the mill?"')
    return question.strip()


def checked_k(k: int) -> int:
    """k itself; ValueError when it is below 1."""
    if k < 1:
        raise ValueError(f"k is {k}, expected at least 1")
    return k


def batches(questions: Iterable[str], size: int) -> Iterator[list[str]]:
    """The questions in lists of `size`, the last perhaps shorter; takes no question before its list is asked.

    ValueError for a size below 1, and for a single text in the place of several.

    >>> list(batches(["a", "b", "c"], 2))
    [['a', 'b'], ['c']]
    """
    if isinstance(questions, str):
        raise ValueError(f"several questions are expected, such as [{questions!r}], not {questions!r}")
    if size < 1:
        raise ValueError(f"{size} questions at once, expected at least 1")
    waiting = iter(questions)
    while some := list(islice(waiting, size)):
        yield some
