"""Never train on what is evaluated: examples that repeat evaluation data are found and left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from spanwise.types import RankingExample

from ...corpora.near_repeats import NearRepeats
from ...corpora.squad import read_squad
from ..evaluation.corpus import open_collection, read_questions

LEAST = 0.8


@dataclass(slots=True)
class Leaks:
    """What evaluation files hold, and how many examples were dropped because of it.

    `by_question` counts those whose question nearly repeats one of theirs (Jaccard similarity of the shingles
    of 0.8 or more), `by_passage` others of whose passages one is a paragraph of theirs, white space aside.
    """

    questions: NearRepeats
    paragraphs: frozenset[str]
    by_question: int = field(default=0, init=False)
    by_passage: int = field(default=0, init=False)

    @classmethod
    def of(cls, files: Iterable[Path]) -> Leaks:
        """What may not be trained on: see `evaluation_texts`."""
        questions: list[str] = []
        paragraphs: set[str] = set()
        for path in files:
            asked, read = evaluation_texts(path)
            questions += asked
            paragraphs.update(map(_form, read))
        return cls(NearRepeats(questions, LEAST), frozenset(paragraphs))

    def without(self, examples: Iterable[RankingExample]) -> Iterator[RankingExample]:
        """The examples that repeat nothing, in their order; the others are counted."""
        return (one for one in examples if not self.repeats(one.question, one.passages))

    def repeats(self, question: str, passages: Iterable[str]) -> bool:
        """Whether an example is to be dropped; counts it."""
        if self.questions.like(question):
            self.by_question += 1
        elif any(map(self.holds, passages)):
            self.by_passage += 1
        else:
            return False
        return True

    def holds(self, passage: str) -> bool:
        """Whether a passage is a paragraph of theirs."""
        return bool(self.paragraphs) and _form(passage) in self.paragraphs

    @property
    def dropped(self) -> dict[str, int]:
        """Both counts by their names."""
        return {"by_question": self.by_question, "by_passage": self.by_passage}


def evaluation_texts(path: Path) -> tuple[list[str], list[str]]:
    """The questions of an evaluation, and the paragraphs they are asked of.

    A folder is a test collection: its judged queries, and no paragraphs, since all its splits are asked over
    the same documents. `.json` and `.gz` are SQuAD's format; JSON lines are a question set, which has none.
    """
    if path.is_dir():
        return [query.text for query in open_collection(path).judged], []
    if path.suffix not in (".json", ".gz"):
        return [one.question for one in read_questions(path)], []
    paragraphs = [each for article in read_squad(path).articles for each in article.paragraphs]
    return [q.text for each in paragraphs for q in each.questions], [each.context for each in paragraphs]


def _form(text: str) -> str:
    return " ".join(text.split())
