"""Unanswerable examples of several kinds, so many for each answerable one, reproducible by a seed.

article     the question on a passage of its article that does not hold the answer
retrieved   the question on a passage that retrievers rank high and that does not hold the answer
figures, names, opposites, negation   a changed question on its own passage (`changed_questions`)
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ..examples import ReaderExample
from .article import Article
from .changed_questions import CHANGES

KINDS = ("article", "retrieved", *CHANGES)
HARDEST = 3  # passages of an article from which one is drawn


def unanswerable(
    examples: Sequence[ReaderExample],
    shares: Mapping[str, float],
    seed: int,
    retrieved: Mapping[str, Sequence[str]] | None = None,
) -> list[ReaderExample]:
    """Of each kind at most `shares[kind] * len(examples)` questions without an answer, in a fixed order.

    `retrieved` holds passages by question, as `train negatives` mines them; those that contain the answer's
    text in any case are never used. A question that a kind cannot change is passed over. ValueError for an
    unknown kind, a share outside 0 to 1, and for "retrieved" without passages.
    """
    for kind, share in shares.items():
        if kind not in KINDS or not 0 <= share <= 1:
            raise ValueError(f"{kind} {share}: expected one of {', '.join(KINDS)} and a share from 0 to 1")
    if shares.get("retrieved") and not retrieved:
        raise ValueError("unanswerable questions on retrieved passages need lists of such passages")
    maker = _Maker(examples, retrieved or {})
    return [made for kind, share in shares.items() for made in maker.made(kind, share, seed)]


class _Maker:
    def __init__(self, examples: Sequence[ReaderExample], retrieved: Mapping[str, Sequence[str]]) -> None:
        self._examples, self._retrieved = examples, retrieved
        passages: dict[str, dict[str, None]] = {}
        for example in examples:
            passages.setdefault(example.group, {})[example.passage] = None
        self._articles = {group: Article(held) for group, held in passages.items()}

    def made(self, kind: str, share: float, seed: int) -> Iterator[ReaderExample]:
        """The examples of one kind; each question serves once."""
        rng = random.Random(f"{seed} {kind}")
        left = round(share * len(self._examples))
        for example in rng.sample(self._examples, len(self._examples)):
            if not left:
                return
            if (one := self._one(kind, example, rng)) is not None:
                left -= 1
                yield replace(one, id=f"{example.id}-{kind}", start=None, end=None)

    def _one(self, kind: str, example: ReaderExample, rng: random.Random) -> ReaderExample | None:
        article = self._articles[example.group]
        if kind in CHANGES:
            question = CHANGES[kind](example, article, rng)
            return replace(example, question=question) if question and question != example.question else None
        if kind == "article":
            rivals = article.rivals(example, HARDEST)
        else:
            answer = example.answer.lower()
            found = self._retrieved.get(example.question, ())
            rivals = [passage for passage in found if answer not in passage.lower()]
        return replace(example, passage=rng.choice(rivals)) if rivals else None
