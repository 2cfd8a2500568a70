"""Unanswerable training questions made from answerable ones, reproducible by a seed.

    article   the question on a passage of its article that does not hold the answer
    figures   the question with another number, on its own passage
    names     the question with another name, on its own passage
    ranks     the question about another rank, as the third or the smallest for the first or the largest,
              on its own passage

The other number, name or rank is not in the passage, so the passage cannot answer the question. SQuAD 2.0 has
such questions among others (Rajpurkar et al., "Know What You Don't Know", 2018, table 2: entity swap).
"""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from .training import ReaderExample

MAX_RIVALS = 3  # passages of an article, one of which is drawn
MAX_DRAWS = 20  # of random numbers
ORDINALS = ("first", "second", "third", "fourth", "fifth", "last")
OPPOSITES = {
    "best": "worst",
    "biggest": "smallest",
    "earliest": "latest",
    "fastest": "slowest",
    "greatest": "smallest",
    "highest": "lowest",
    "largest": "smallest",
    "latest": "earliest",
    "longest": "shortest",
    "lowest": "highest",
    "newest": "oldest",
    "oldest": "newest",
    "shortest": "longest",
    "smallest": "largest",
    "tallest": "shortest",
    "worst": "best",
    "youngest": "oldest",
}
_WORD = re.compile(r"\w+")
_FIGURE = re.compile(r"\b\d+(?:[.,]\d+)*\b")
_NAME = re.compile(r"(?<=[^\s.!?:\"'“] )[A-Z]\w+(?:[ -][A-Z]\w+)*")  # not at the start of a sentence


def unanswerable(
    examples: Sequence[ReaderExample], shares: Mapping[str, float], seed: int
) -> list[ReaderExample]:
    """At most `shares[kind] * len(examples)` unanswerable examples of each kind, in a fixed order.

    Skips a question that a kind cannot change. ValueError for an unknown kind or a share outside 0 to 1.
    """
    for kind, share in shares.items():
        if kind not in KINDS or not 0 <= share <= 1:
            raise ValueError(f"{kind} {share}: expected one of {', '.join(KINDS)} and a share from 0 to 1")
    passages: dict[str, dict[str, None]] = {}
    for example in examples:
        passages.setdefault(example.group, {})[example.passage] = None
    articles = {group: Article(list(texts)) for group, texts in passages.items()}
    changed: list[ReaderExample] = []
    for kind, share in shares.items():
        rng = random.Random(f"{seed} {kind}")
        limit = len(changed) + round(share * len(examples))
        for example in rng.sample(examples, len(examples)):
            if len(changed) == limit:
                break
            other = CHANGES[kind](example, articles[example.group], rng)
            if other is not None:
                changed.append(replace(other, id=f"{example.id}-{kind}", start=None, end=None))
    return changed


class Article:
    """The passages of one article, with their words, numbers and names."""

    def __init__(self, passages: Sequence[str]) -> None:
        self.words = {text: frozenset(_WORD.findall(text.lower())) for text in passages}
        self.figures = sorted({figure for text in passages for figure in _FIGURE.findall(text)})
        self.names = sorted({name for text in passages for name in _NAME.findall(text)})


def other_passage(example: ReaderExample, article: Article, rng: random.Random) -> ReaderExample | None:
    """The question on another passage of its article, which lacks the answer and shares many words."""
    question = set(_WORD.findall(example.question.lower()))
    answer = example.answer.lower()
    without = [text for text in article.words if answer not in text.lower()]
    without.sort(key=lambda text: (-len(question & article.words[text]), text))
    return replace(example, passage=rng.choice(without[:MAX_RIVALS])) if without else None


def other_figure(example: ReaderExample, article: Article, rng: random.Random) -> ReaderExample | None:
    """The question with another number; None if it has no number that is in the passage."""
    held = [figure for figure in _FIGURE.findall(example.question) if figure in example.passage]
    if not held:
        return None
    old = rng.choice(held)
    others = [figure for figure in article.figures if len(figure) == len(old) and figure[0] == old[0]]
    others += ["".join(rng.choice("123456789") if c.isdigit() else c for c in old) for _ in range(MAX_DRAWS)]
    return _replaced(example, old, [figure for figure in others if figure not in example.passage], rng)


def other_name(example: ReaderExample, article: Article, rng: random.Random) -> ReaderExample | None:
    """The question with another name of its article; None if it has no name that is in the passage."""
    held = [name for name in _NAME.findall(example.question) if name in example.passage]
    if not held:
        return None
    old = rng.choice(held)
    title = set(example.group.lower().split("_"))
    text = example.passage + example.question
    others = [name for name in article.names if name.count(" ") == old.count(" ") and name not in text]
    return _replaced(example, old, [name for name in others if not title & set(name.lower().split())], rng)


def other_rank(example: ReaderExample, article: Article, rng: random.Random) -> ReaderExample | None:
    """The question about another rank; None if it has no ordinal or superlative that is in the passage."""
    asked = _WORD.findall(example.question)
    held = [word for word in asked if word in article.words[example.passage]]
    ordinals = [word for word in held if word in ORDINALS]
    if ordinals:
        old = rng.choice(ordinals)
        others = [word for word in ORDINALS if word not in asked]
    elif superlatives := [word for word in held if word in OPPOSITES]:
        old = rng.choice(superlatives)
        others = [OPPOSITES[old], f"second {old}", f"third {old}"]
    else:
        return None
    return _replaced(example, old, [other for other in others if other not in example.passage.lower()], rng)


CHANGES = {"article": other_passage, "figures": other_figure, "names": other_name, "ranks": other_rank}
KINDS = tuple(CHANGES)


def _replaced(
    example: ReaderExample, old: str, others: Sequence[str], rng: random.Random
) -> ReaderExample | None:
    if not others:
        return None
    new = rng.choice(others)
    question = re.sub(rf"\b{re.escape(old)}\b", lambda _: new, example.question, count=1)
    return replace(example, question=question)
