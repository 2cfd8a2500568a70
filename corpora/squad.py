"""The SQuAD format, versions 1.1 and 2.0, plain or gzipped: articles, paragraphs, questions, answers.

Source: Rajpurkar et al. 2016 and 2018. Another layout than that of the official files is an error with its
place. An `answer_start` that misses its text, a common slip, moves to the nearest place where the context
holds the text; `relocated` names the question.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spanwise.errors import DataMalformed

from .records import DAMAGE, Record, record_of, unpacked

MAX_BYTES = 2_000_000_000  # of JSON, after unpacking


@dataclass(frozen=True, slots=True)
class GoldAnswer:
    """An answer by a person: `context[start : start + len(text)] == text`, in code points."""

    text: str
    start: int


@dataclass(frozen=True, slots=True)
class Question:
    """A question on a paragraph; an impossible one has no answers.

    `type` is an optional key of ours: factoid, how, why or list; the empty string without it.
    """

    id: str
    text: str
    answers: tuple[GoldAnswer, ...]
    is_impossible: bool = False
    type: str = ""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A text and its questions."""

    context: str
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Article:
    """The paragraphs of one article, by its title."""

    title: str
    paragraphs: tuple[Paragraph, ...]


@dataclass(frozen=True, slots=True)
class SquadDataset:
    """A file; `relocated` are the ids of questions with an answer whose start did not match its text."""

    articles: tuple[Article, ...]
    relocated: tuple[str, ...] = ()


def read_squad(path: Path) -> SquadDataset:
    """The data set in a file; `DataMalformed` names the file, the place and the expected value."""
    found = _Reader()
    top = record_of(str(path), _load(path))
    articles = tuple(found.article(record) for record in top.records("data", "article"))
    return SquadDataset(articles, tuple(found.relocated))


def _load(path: Path) -> object:
    try:
        with unpacked(path) as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise DataMalformed(f"{path}: more than {MAX_BYTES:,} bytes of JSON, the limit")
        return json.loads(data, object_pairs_hook=_without_duplicates)
    except DAMAGE as error:
        raise DataMalformed(f"{path}: cannot be read: {error}") from error
    except ValueError as error:  # not JSON, not UTF-8, or a duplicate key
        raise DataMalformed(f"{path}: not JSON: {error}") from error
    except RecursionError as error:
        raise DataMalformed(f"{path}: not SQuAD: its JSON is nested too deeply") from error


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The pairs as a dict; a duplicate key is an error, where plain JSON keeps the last value."""
    result = dict(pairs)
    if len(result) < len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise ValueError(f"an object has the key {twice!r:.60} twice")
    return result


class _Reader:
    """Checks and copies the records of one file, and notes what holds for all of it."""

    def __init__(self) -> None:
        self.ids: set[str] = set()
        self.relocated: list[str] = []

    def article(self, record: Record) -> Article:
        title = record.text("title")
        paragraphs = record.named(title).records("paragraphs", "paragraph")
        return Article(title, tuple(map(self.paragraph, paragraphs)))

    def paragraph(self, record: Record) -> Paragraph:
        context = record.text("context")
        return Paragraph(
            context, tuple(self.question(each, context) for each in record.records("qas", "question"))
        )

    def question(self, record: Record, context: str) -> Question:
        name = record.text("id")
        record = record.named(name)
        if name in self.ids:
            raise record.error("expected every id once, found this one again")
        self.ids.add(name)
        is_impossible = "is_impossible" in record.values and record.value("is_impossible", bool)
        answers = tuple(self.answers(record, context))
        if is_impossible == bool(answers):
            wanted = "no answers to an impossible question" if is_impossible else "at least one answer"
            raise record.error(f"expected {wanted}, found {len(answers)}")
        kind = record.text("type") if "type" in record.values else ""
        return Question(name, record.text("question"), answers, is_impossible, kind)

    def answers(self, question: Record, context: str) -> Iterator[GoldAnswer]:
        name = question.values["id"]
        for answer in question.records("answers", "answer"):
            text, given = answer.text("text"), answer.value("answer_start", int)
            start = _nearest(context, text, given)
            if start is None:
                raise answer.error(f"expected the context to hold the answer {text!r:.80}, at {given}")
            if start != given and self.relocated[-1:] != [name]:
                self.relocated.append(name)
            yield GoldAnswer(text, start)


def _nearest(context: str, text: str, start: int) -> int | None:
    """Where the context holds the text, nearest to `start`, the earlier of two; None when nowhere.

    >>> _nearest("to be or not to be", "be", 15)
    16
    """
    if start >= 0 and context.startswith(text, start):
        return start
    before = context.rfind(text, 0, max(0, start) + len(text))
    after = context.find(text, max(0, start))
    found = [place for place in (before, after) if place >= 0]
    return min(found, key=lambda place: abs(place - start), default=None)
