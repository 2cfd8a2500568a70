"""Questions that were asked of a passage, and the negatives that retrievers find for them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from spanwise.types import Hit, RankingExample

from ...corpora.shingles import jaccard
from ...eval.text import match_text, match_tokens
from ...retrieval.protocol import Retriever
from ...retrieval.training.mining import Mining, negatives

QUESTIONS_AT_ONCE = 256
TEXTS_KEPT = 100_000


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the paragraph that it was asked of, its answers, and what `also` answers it."""

    question: str
    paragraph: str
    answers: tuple[str, ...] = ()
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Miner:
    """Asks the retrievers and keeps what is no answer.

    `texts` are paragraphs by document id; the `allowed` ones may be negatives, easy ones are drawn
    from `others`.
    """

    retrievers: Sequence[Retriever]
    texts: dict[str, str]
    allowed: frozenset[str]
    others: Sequence[str]
    mining: Mining

    def examples(self, asked: Sequence[Asked], tell: Callable[[int], None]) -> Iterator[RankingExample]:
        """An example for each question, in order; `tell` hears how many are done."""
        form = lru_cache(TEXTS_KEPT)(match_text)
        for at in range(0, len(asked), QUESTIONS_AT_ONCE):
            batch = asked[at : at + QUESTIONS_AT_ONCE]
            questions = [one.question for one in batch]
            found = [each.search(questions, self.mining.depth) for each in self.retrievers]
            for i, one in enumerate(batch):
                mined = negatives(
                    one.paragraph,
                    [self._paragraphs(hits[i]) for hits in found],
                    self.others,
                    partial(self._answers, one, _answer_forms(one, form), form),
                    jaccard,
                    self.mining,
                    random.Random(f"{self.mining.seed} {one.question}"),
                )
                yield RankingExample(one.question, (one.paragraph, *one.also, *mined), 1 + len(one.also))
            tell(at + len(batch))

    def _paragraphs(self, hits: Sequence[Hit]) -> list[str]:
        found = dict.fromkeys(self.texts.get(hit.passage.document_id, "") for hit in hits)
        return [text for text in found if text in self.allowed]

    def _answers(self, one: Asked, answers: Sequence[str], form: Callable[[str], str], passage: str) -> bool:
        """Whether a passage holds an answer, in the form of `eval.answer_match`, or repeats what does."""
        words = form(passage) if answers else ""
        return any(answer in words for answer in answers) or any(
            passage == other or jaccard(other, passage) >= self.mining.alike for other in one.also
        )


def _answer_forms(one: Asked, form: Callable[[str], str]) -> list[str]:
    return [form(answer) for answer in one.answers if match_tokens(answer)]
