"""A custom retriever: passages under a heading that shares words with the question.

    python examples/custom_retriever.py FOLDER "when is the mill open?"

Any object with a name and a method `search` can be passed as `retriever`, to `search` and to `ask`.
"""

import re
import sys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

import spanwise
from spanwise.types import Hit, Passage

WORD = re.compile(r"\w{3,}")


class ByHeading:
    """Scores a passage by the number of its heading words that are in the question."""

    name = "by-heading"

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = [passage for passage in passages if passage.heading]

    def search(
        self, questions: Sequence[str], k: int, among: NDArray[np.int64] | None = None
    ) -> list[list[Hit]]:
        """The best k passages for each question; `among` are the ids that a filter selects."""
        allowed = None if among is None else set(among.tolist())
        passages = [passage for passage in self._passages if allowed is None or passage.id in allowed]
        return [best_hits(words_of(question), passages, k) for question in questions]


def best_hits(words: set[str], passages: Sequence[Passage], k: int) -> list[Hit]:
    """The k passages whose headings share most of the words, best first."""
    scores = [(len(words & words_of(" ".join(passage.heading))), passage) for passage in passages]
    best = sorted(scores, key=lambda pair: (-pair[0], pair[1].document_id, pair[1].start))[:k]
    return [Hit(passage, float(score), rank) for rank, (score, passage) in enumerate(best, start=1) if score]


def words_of(text: str) -> set[str]:
    """The lower-case words of a text, without short ones."""
    return {word.lower() for word in WORD.findall(text)}


def main(folder: str, question: str) -> None:
    """Print the best passages and the answer found in them."""
    with spanwise.open(folder) as library:
        library.sync(vectors=False)
        mine = ByHeading(library.passages())
        for hit in library.search(question, k=3, retriever=mine):
            place = f"{hit.passage.document_id}, line {hit.passage.line}"
            print(f"{hit.rank}. {place} ({mine.name} {hit.score:.3f})")
        print(library.ask(question, retriever=mine).text or "not in these documents")


if __name__ == "__main__":
    main(*sys.argv[1:])
