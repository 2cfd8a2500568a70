"""What can be asked for."""

from __future__ import annotations


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
