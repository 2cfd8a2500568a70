"""The passages of one article, and what they are made of."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from functools import cached_property

from ..examples import ReaderExample

WORD = re.compile(r"\w+")
FIGURE = re.compile(r"\b\d+(?:[.,]\d+)*\b")
PROPER_NAME = re.compile(r"\b[A-Z]\w+(?:[ -][A-Z]\w+)*")


class Article:
    """Distinct passages in the order in which they came."""

    def __init__(self, passages: Iterable[str]) -> None:
        self.words = {passage: set(WORD.findall(passage.lower())) for passage in passages}
        self.df = Counter(word for words in self.words.values() for word in words)

    def rivals(self, example: ReaderExample, hardest: int) -> list[str]:
        """The passages without the answer's text that share most with the question, weighted by idf."""
        asked, answer, n = (
            set(WORD.findall(example.question.lower())),
            example.answer.lower(),
            len(self.words),
        )
        scored = [
            (sum(math.log(1 + n / self.df[word]) for word in asked & words), passage)
            for passage, words in self.words.items()
            if answer not in passage.lower()
        ]
        scored.sort(key=lambda pair: (-pair[0], pair[1]))
        return [passage for _, passage in scored[:hardest]]

    @cached_property
    def figures(self) -> list[str]:
        """The distinct numbers in its passages, sorted."""
        return sorted({figure for passage in self.words for figure in FIGURE.findall(passage)})

    @cached_property
    def names(self) -> list[str]:
        """The distinct runs of capitalised words in its passages, sorted."""
        return sorted({name for passage in self.words for name in proper_names(passage)})


def proper_names(text: str) -> list[str]:
    """Runs of capitalised words that do not begin a sentence.

    >>> proper_names("Who sold Ada Rook the mill in Lower Varrow?")
    ['Ada Rook', 'Lower Varrow']
    """
    found = []
    for match in PROPER_NAME.finditer(text):
        before = text[: match.start()].rstrip()
        if before and before[-1] not in ".!?:\"'“":
            found.append(match[0])
    return found
