"""SQuAD 1.1 and 2.0, plain or gzipped: articles with questions, and predictions as the official scripts read.

Source: Rajpurkar et al. 2016 and 2018. Another layout than that of the official files is an error with its
place. An `answer_start` that misses its text, a common slip, moves to the nearest place where the context
holds the text; `relocated` names the question.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spanwise.errors import DataMalformed

from ..json_lines import DAMAGE, Record, has_surrogate, record_of, unpacked

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
    """A file. `version` is "2.0" when a question has the key `is_impossible`, else "1.1".

    `relocated` are the ids of questions with an answer whose start did not match its text, in order.
    """

    version: str
    articles: tuple[Article, ...]
    relocated: tuple[str, ...] = ()


def read_squad(path: Path) -> SquadDataset:
    """The data set in a file; `DataMalformed` names the file, the place and the expected value."""
    found = _Reader()
    top = record_of(str(path), _load(path))
    articles = tuple(found.article(record) for record in top.records("data", "article"))
    return SquadDataset(found.version, articles, tuple(found.relocated))


def read_predictions(path: Path) -> dict[str, str]:
    """The answer text of each question id, in the order of the file; "" means "no answer".

    DataMalformed: not an object of strings, or an id given twice.
    """
    answers = _entries(path, "prediction")
    for name, answer in answers.items():
        if not isinstance(answer, str):
            raise DataMalformed(f"{path}: the answer to {name!r:.60} is {answer!r:.60}; expected a string")
        if has_surrogate(answer):
            raise DataMalformed(f"{path}: half of a surrogate pair in the answer to {name!r:.60}")
    return answers


def read_na_probabilities(path: Path, required_ids: Collection[str] = ()) -> dict[str, float]:
    """The no-answer probability of each question id, in the order of the file; all finite.

    DataMalformed: as for `read_predictions`, with numbers in place of strings; a required id is missing.
    """
    values = _entries(path, what := "no-answer probability")
    if missing := [name for name in required_ids if name not in values]:
        count = f"{len(missing)} of {len(required_ids)} missing"
        raise DataMalformed(f"{path}: no {what} for {missing[0]!r:.60} ({count})")
    for name, value in values.items():
        if not isinstance(value, float) or not math.isfinite(value):
            raise DataMalformed(f"{path}: the value of {name!r:.60} is not a finite number")
    return values


def _entries(path: Path, what: str) -> dict[str, Any]:
    """The values by question id; every number in them is a float."""
    entries = _load(path, float)
    if not isinstance(entries, dict):
        raise DataMalformed(f"{path}: expected an object from question id to {what}, found {entries!r:.60}")
    if broken := next(filter(has_surrogate, entries), None):
        raise DataMalformed(f"{path}: half of a surrogate pair in the id {broken!r:.60}")
    return entries


def _load(path: Path, parse_int: Callable[[str], float] = int) -> object:
    try:
        with unpacked(path) as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise DataMalformed(f"{path}: more than {MAX_BYTES:,} bytes of JSON, the limit")
        return json.loads(data, object_pairs_hook=_without_duplicates, parse_int=parse_int)
    except DAMAGE as error:
        raise DataMalformed(f"{path}: cannot be read: {error}") from error
    except ValueError as error:  # not JSON, not UTF-8, or a duplicate key
        raise DataMalformed(f"{path}: not JSON: {error}") from error
    except RecursionError as error:
        raise DataMalformed(f"{path}: not JSON: nested too deeply") from error


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
        self.version = "1.1"

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
        is_impossible = False
        if "is_impossible" in record.values:
            self.version = "2.0"
            is_impossible = record.value("is_impossible", bool)
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
