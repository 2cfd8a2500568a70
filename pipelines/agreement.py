"""Answers that say the same in several places, listed together under the best of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from spanwise.types import AnswerSpan

from .candidates import said


def merged(answers: Sequence[AnswerSpan]) -> list[AnswerSpan]:
    """The answers in their order, best first, no two of which say the same.

    Where the words are the same but for case, punctuation and articles, the best one holds the others in
    `agreeing`, in their order: of each other passage the answer that the reader prefers there, by its score.
    What only repeats the words beside a better answer of its passage is left out.
    """
    preferred: dict[int, float] = {}
    by_words: dict[str, list[AnswerSpan]] = {}
    for answer in answers:
        passage_id = answer.passage.id
        preferred[passage_id] = max(answer.score, preferred.get(passage_id, answer.score))
        by_words.setdefault(said(answer.text), []).append(answer)
    found = []
    for best, *others in by_words.values():
        agreeing: dict[int, AnswerSpan] = {}
        for other in others:
            if other.score == preferred[other.passage.id] and other.passage.id != best.passage.id:
                agreeing.setdefault(other.passage.id, other)
        found.append(replace(best, agreeing=tuple(agreeing.values())))
    return found
