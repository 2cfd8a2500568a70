"""A retriever of your own: passages under a heading that shares words with the question.

python examples/custom_retriever.py FOLDER "when is the mill open?"
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

import spanwise
from spanwise.types import Hit, Passage

WORD = re.compile(r"\w{3,}")


class ByHeading:
    """Scores a passage by the share of its headings' words that the question holds."""

    name = "by-heading"

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = [one for one in passages if one.heading]

    def search(
        self, questions: Sequence[str], k: int, among: NDArray[np.int64] | None = None
    ) -> list[list[Hit]]:
        """For each question its best k passages."""
        allowed = None if among is None else set(among.tolist())
        kept = [one for one in self._passages if allowed is None or one.id in allowed]
        return [self._best(words_of(question), kept, k) for question in questions]

    def _best(self, asked: set[str], kept: Sequence[Passage], k: int) -> list[Hit]:
        scored = [(share(asked, one), one) for one in kept]
        scored.sort(key=lambda pair: (-pair[0], pair[1].document_id, pair[1].start))
        found = [pair for pair in scored if pair[0] > 0][:k]
        return [Hit(passage, score, rank) for rank, (score, passage) in enumerate(found, start=1)]


def words_of(text: str) -> set[str]:
    """The words of a text in small letters, without the short ones."""
    return {word.lower() for word in WORD.findall(text)}


def share(asked: set[str], passage: Passage) -> float:
    """Of the words of the headings above a passage, the share that the question holds."""
    headings = words_of(" ".join(passage.heading))
    return len(asked & headings) / len(headings) if headings else 0.0


def main(folder: str, question: str) -> None:
    """Print the best passages."""
    with spanwise.open(folder) as library:
        library.sync(vectors=False)
        for hit in library.search(question, k=3, retriever=ByHeading(library.passages())):
            print(f"{hit.rank}. {hit.passage.document_id}, line {hit.passage.line} ({hit.score:.3f})")


if __name__ == "__main__":
    main(*sys.argv[1:])
