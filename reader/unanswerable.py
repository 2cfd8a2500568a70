"""Unanswerable training questions made from answerable ones, reproducible by a seed.

    article   the question on a passage of its article that does not hold the answer
    figures   the question with another number, on its own passage
    names     the question with another name, on its own passage

The other number or name is not in the passage, so the passage cannot answer the question. SQuAD 2.0 has
such questions among others (Rajpurkar et al., "Know What You Don't Know", 2018, table 2: entity swap).
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from .training import ReaderExample

KINDS = ("article", "figures", "names")
MAX_RIVALS = 3  # passages of an article from which one is drawn
MAX_DRAWS = 20  # of a number that the passage does not hold
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
    articles: dict[str, dict[str, None]] = {}
    for example in examples:
        articles.setdefault(example.group, {})[example.passage] = None
    return [
        one
        for kind, share in shares.items()
        for one in _made(kind, examples, round(share * len(examples)), articles, seed)
    ]


def other_figure(example: ReaderExample, article: Sequence[str], rng: random.Random) -> str | None:
    """The question with another number; None unless it has one that the passage holds."""
    held = [figure for figure in _FIGURE.findall(example.question) if figure in example.passage]
    if not held:
        return None
    old = rng.choice(held)
    others = sorted({one for text in article for one in _FIGURE.findall(text) if _is_like(one, old)})
    others += ["".join(rng.choice("123456789") if c.isdigit() else c for c in old) for _ in range(MAX_DRAWS)]
    new = [one for one in others if one not in example.passage]
    return _replaced(example.question, old, rng.choice(new)) if new else None


def other_name(example: ReaderExample, article: Sequence[str], rng: random.Random) -> str | None:
    """The question with another name of its article; None unless it has one that the passage holds."""
    held = [name for name in _NAME.findall(example.question) if name in example.passage]
    if not held:
        return None
    old, title = rng.choice(held), set(example.group.lower().split("_"))
    new = [
        name
        for name in sorted({name for text in article for name in _NAME.findall(text)})
        if name.count(" ") == old.count(" ") and name not in example.passage + example.question
        if not title & set(name.lower().split())
    ]
    return _replaced(example.question, old, rng.choice(new)) if new else None


def _made(
    kind: str,
    examples: Sequence[ReaderExample],
    n: int,
    articles: Mapping[str, Mapping[str, None]],
    seed: int,
) -> Iterator[ReaderExample]:
    """At most n examples of one kind; each question serves once."""
    rng = random.Random(f"{seed} {kind}")
    for example in rng.sample(examples, len(examples)):
        if n < 1:
            return
        article = list(articles[example.group])
        made = replace(example, id=f"{example.id}-{kind}", start=None, end=None)
        if kind == "article":
            rivals = _rivals(example, article)
            changed = replace(made, passage=rng.choice(rivals)) if rivals else None
        else:
            question = (other_figure if kind == "figures" else other_name)(example, article, rng)
            changed = replace(made, question=question) if question else None
        if changed is not None:
            n -= 1
            yield changed


def _rivals(example: ReaderExample, article: Sequence[str]) -> list[str]:
    """The passages without the answer that share most words with the question."""
    asked, answer = set(_WORD.findall(example.question.lower())), example.answer.lower()
    without = [text for text in article if answer not in text.lower()]
    without.sort(key=lambda text: (-len(asked & set(_WORD.findall(text.lower()))), text))
    return without[:MAX_RIVALS]


def _is_like(one: str, other: str) -> bool:
    """Whether two numbers look alike, so that a year replaces a year."""
    return len(one) == len(other) and one.isdigit() == other.isdigit() and one[0] == other[0]


def _replaced(text: str, old: str, new: str) -> str:
    return re.sub(rf"\b{re.escape(old)}\b", lambda _: new, text, count=1)
