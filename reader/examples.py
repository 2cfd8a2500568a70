"""Training examples for the reader: answerable questions, and unanswerable ones made from them."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class ReaderExample:
    """A question on a passage; the answer is `passage[start:end]`, or start is None for no answer.

    `group` names the article, so that other passages of the same article can stand in for it.
    """

    id: str
    question: str
    passage: str
    start: int | None
    end: int | None
    group: str

    @property
    def answer(self) -> str:
        """The words of the answer, or the empty string."""
        return "" if self.start is None else self.passage[self.start : self.end]


def unanswerable(
    examples: Sequence[ReaderExample], share: float, seed: int, hardest: int = 3
) -> list[ReaderExample]:
    """Questions set on a passage of their article that does not hold the answer, `share` of the examples.

    The passage is drawn from the `hardest` that share the most words with the question (weighted by
    idf within the article), so that word overlap alone does not give the absence away. A passage that
    contains the answer's text anywhere, in any case, is never used. Reproducible by `seed`.
    """
    rng = random.Random(seed)
    chosen = sorted(rng.sample(range(len(examples)), round(share * len(examples))))
    articles: dict[str, _Article] = {}
    for example in examples:
        articles.setdefault(example.group, _Article()).add(example.passage)
    made = []
    for i in chosen:
        example = examples[i]
        rivals = articles[example.group].rivals(example, hardest)
        if rivals:
            made.append(
                ReaderExample(
                    f"{example.id}-absent", example.question, rng.choice(rivals), None, None, example.group
                )
            )
    return made


class _Article:
    """The distinct passages of an article with their words."""

    def __init__(self) -> None:
        self.words: dict[str, set[str]] = {}
        self.df: Counter[str] = Counter()

    def add(self, passage: str) -> None:
        if passage not in self.words:
            self.words[passage] = set(WORD.findall(passage.lower()))
            self.df.update(self.words[passage])

    def rivals(self, example: ReaderExample, hardest: int) -> list[str]:
        asked = set(WORD.findall(example.question.lower()))
        answer = example.answer.lower()
        n = len(self.words)
        scored = [
            (sum(math.log(1 + n / self.df[word]) for word in asked & words), passage)
            for passage, words in self.words.items()
            if answer not in passage.lower()
        ]
        scored.sort(key=lambda pair: (-pair[0], pair[1]))
        return [passage for _, passage in scored[:hardest]]
