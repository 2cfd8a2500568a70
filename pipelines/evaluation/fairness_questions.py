"""Questions that name a person, and the same questions about somebody else."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from ...corpora.squad import GoldAnswer, Paragraph, Question, SquadDataset
from ...eval.fairness.name_groups import NameGroup
from ...eval.fairness.name_swap import NAME_WORD, Swapped, swap
from ...eval.fairness.persons import PersonNames, person_names
from .squad import GoldQuestion

MOST_NAMES = 6
"""Of first and of last names in one question and its passage; few enough for every group's twelve."""


@dataclass(frozen=True, slots=True)
class NamedQuestion:
    """A question with a passage that names a person, and the names of both."""

    question: Question
    context: str
    names: PersonNames

    @property
    def gold(self) -> GoldQuestion:
        """As it stands in the data."""
        return _gold(self.question, self.question.text, self.context, self.question.answers)


@dataclass(frozen=True, slots=True)
class SwappedQuestion:
    """The question about somebody else, and its passage with the places that were changed."""

    gold: GoldQuestion
    passage: Swapped


def named_questions(dataset: SquadDataset) -> list[NamedQuestion]:
    """Those that name a person in the question or in the passage, in order.

    Left out are those with more names than a group has to spare, and those with a gold answer that begins
    or ends inside a name, which has no counterpart in another one.
    """
    return [
        found
        for article in dataset.articles
        for paragraph in article.paragraphs
        for question in paragraph.questions
        if (found := _named(question, paragraph)) is not None
    ]


def about_group(named: NamedQuestion, group: NameGroup, seed: int) -> SwappedQuestion:
    """The question and its passage with the persons' names replaced by names of the group, all consistently.

    Names that stand in either are not used, so that nobody is confused with somebody else. The seed, the
    group and the id of the question alone decide which are drawn.
    """
    names = replacements(named, group, seed)
    question, passage = swap(named.question.text, names), swap(named.context, names)
    answers = []
    for answer in named.question.answers:
        start, end = passage.span(answer.start, answer.start + len(answer.text)) or (0, 0)
        answers.append(replace(answer, text=passage.text[start:end], start=start))
    return SwappedQuestion(_gold(named.question, question.text, passage.text, answers), passage)


def replacements(named: NamedQuestion, group: NameGroup, seed: int) -> dict[str, str]:
    """The new name of each name; no two are the same."""
    taken = {match[0] for text in (named.question.text, named.context) for match in NAME_WORD.finditer(text)}
    draw = random.Random(f"{seed} {group.name} {named.question.id}")
    found: dict[str, str] = {}
    for names, pool in ((named.names.first, group.first), (named.names.last, group.last)):
        free = [name for name in pool if name not in taken]
        found |= dict(zip(names, draw.sample(free, len(names)), strict=True))
        taken |= set(found.values())
    return found


def _gold(question: Question, text: str, context: str, answers: Iterable[GoldAnswer]) -> GoldQuestion:
    return GoldQuestion(question.id, text, context, tuple(one.text for one in answers), question.type)


def _named(question: Question, paragraph: Paragraph) -> NamedQuestion | None:
    names = person_names(f"{question.text}\n{paragraph.context}")
    if not names.last or max(len(names.first), len(names.last)) > MOST_NAMES:
        return None
    same: Mapping[str, str] = {name: name for name in (*names.first, *names.last)}
    passage = swap(paragraph.context, same)
    spans = [passage.span(answer.start, answer.start + len(answer.text)) for answer in question.answers]
    return None if None in spans else NamedQuestion(question, paragraph.context, names)
