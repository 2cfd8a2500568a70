"""Lists that a model can be trained on: the passage that answers a question, and what was found instead.

A question made of a passage's own words would be answered by matching them. So in most lists the sentence is
left out of its passage, and for a heading all passages are shown without the headings above them; in the
others they are as the index has them. Both are told by chance, from the question alone.

Source: Lee, Chang and Toutanova 2019, section 4: they remove the sentence in 90 % of the cases.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spanwise.types import Passage, RankingExample

from ...corpora.shingles import jaccard
from ...index.rows import indexed_text
from ...index.snapshot import Snapshot
from ...retrieval.protocol import Retriever
from ...retrieval.training.mining import Mining, negatives
from .made_question import MadeQuestion

HIDDEN = 0.9  # of the questions: their own words are taken out of the passage
LEAST_LEFT = 10  # words of a passage without its sentence: with fewer it is shown as it is
OTHERS = 2_000  # passages that easy negatives are drawn from
AT_ONCE = 64  # questions that are asked together
MINING = Mining(hard=6, easy=1, depth=30)


@dataclass(frozen=True, slots=True)
class ListMaker:
    """Asks the retrievers, among the passages `among` alone, ascending ids."""

    snapshot: Snapshot
    retrievers: Sequence[Retriever]
    among: NDArray[np.int64]
    mining: Mining = MINING

    def lists(
        self, questions: Sequence[MadeQuestion], told: Callable[[int], None] = lambda done: None
    ) -> Iterator[RankingExample]:
        """The list of each question that has a negative, the passage that answers it first."""
        others = self._others()
        for at in range(0, len(questions), AT_ONCE):
            batch = questions[at : at + AT_ONCE]
            texts = [one.text for one in batch]
            found = [each.search(texts, self.mining.depth, self.among) for each in self.retrievers]
            for i, question in enumerate(batch):
                rankings = [[hit.passage for hit in hits[i]] for hits in found]
                if (example := self._example(question, rankings, others)) is not None:
                    yield example
            told(at + len(batch))

    def _example(
        self, question: MadeQuestion, rankings: Sequence[Sequence[Passage]], others: dict[str, str]
    ) -> RankingExample | None:
        """`others` and what is found are passages as they are searched, each with its words alone."""
        answering = self.snapshot.passages(question.passage_ids)
        positive, *further = map(indexed_text, answering)
        rng = random.Random(f"{self.mining.seed} {question.text}")
        hidden = hidden_text(answering[0], question) if rng.random() < HIDDEN else None
        found = negatives(
            positive,
            [[indexed_text(one) for one in ranking] for ranking in rankings],
            list(others),
            further.__contains__,
            jaccard,
            self.mining,
            rng,
        )
        if not found:
            return None
        if hidden is not None and question.kind == "heading":
            bare = {indexed_text(one): one.text for ranking in rankings for one in ranking} | others
            found = tuple(bare[one] for one in found)
        return RankingExample(question.text, (positive if hidden is None else hidden, *found))

    def _others(self) -> dict[str, str]:
        ids = self.among.tolist()
        drawn = random.Random(self.mining.seed).sample(ids, min(OTHERS, len(ids)))
        return {indexed_text(one): one.text for one in self.snapshot.all_passages(drawn)}


def hidden_text(passage: Passage, question: MadeQuestion) -> str | None:
    """What is searched for a passage, without what the question was made of; None where that is to stay.

    A definition is the answer to its question. A passage of one sentence would have nothing left.
    """
    if question.kind == "definition":
        return None
    start, end = (min(max(0, at - passage.start), len(passage.text)) for at in (question.start, question.end))
    left = f"{passage.text[:start].rstrip()}\n{passage.text[end:].lstrip()}".strip()
    if len(left.split()) < LEAST_LEFT:
        return None
    return left if question.kind == "heading" else indexed_text(replace(passage, text=left))
