"""SQuAD 1.1 and 2.0, plain or gzipped: articles with questions, and predictions as the official scripts read.

Source: Rajpurkar et al. 2016 and 2018. Another layout than that of the official files is an error with its
place. An `answer_start` that misses its text, a common slip, moves to the nearest place where the context
holds the text; `relocated` names the question.
"""

from __future__ import annotations

import gzip
import json
import math
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from spanwise.errors import DataMalformed

MAX_BYTES = 2_000_000_000  # of JSON, after unpacking
GZIP = b"\x1f\x8b"
Kind = TypeVar("Kind")
NAMES = {str: "a string", int: "a whole number", bool: "true or false", list: "a list", dict: "an object"}


@dataclass(frozen=True, slots=True)
class GoldAnswer:
    """An answer by a person: `context[start : start + len(text)] == text`, in code points."""

    text: str
    start: int


@dataclass(frozen=True, slots=True)
class Question:
    """A question on a paragraph. An impossible one may have `plausible` answers, which are wrong.

    `type` is an optional key of ours: factoid, how, why or list; the empty string without it.
    """

    id: str
    text: str
    answers: tuple[GoldAnswer, ...]
    is_impossible: bool = False
    plausible: tuple[GoldAnswer, ...] = ()
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
    return _Parser(path).dataset(_load(path))


def read_predictions(path: Path, required_ids: Collection[str] = ()) -> dict[str, str]:
    """The answer text of each question id, in the order of the file; "" means "no answer".

    DataMalformed: not an object of strings, an id given twice, or a required id that is missing.
    """
    answers = _entries(path, required_ids, "prediction")
    for name, answer in answers.items():
        if not isinstance(answer, str):
            raise DataMalformed(f"{path}: the answer to {name!r:.60} is {_kind(answer)}; expected a string")
        if _has_surrogate(answer):
            raise DataMalformed(f"{path}: half of a surrogate pair in the answer to {name!r:.60}")
    return answers


def read_na_probabilities(path: Path, required_ids: Collection[str] = ()) -> dict[str, float]:
    """The no-answer probability of each question id, in the order of the file; all finite.

    DataMalformed: as for `read_predictions`, with finite numbers in place of strings.
    """
    values = _entries(path, required_ids, "no-answer probability")
    for name, value in values.items():
        if not isinstance(value, float) or not math.isfinite(value):
            raise DataMalformed(f"{path}: the value of {name!r:.60} is not a finite number")
    return values


def _entries(path: Path, required_ids: Collection[str], what: str) -> dict[str, Any]:
    """The values by question id; every number in them is a float."""
    entries = _load(path, float)
    if not isinstance(entries, dict):
        raise DataMalformed(f"{path}: expected an object from question id to {what}, found {_kind(entries)}")
    if broken := next(filter(_has_surrogate, entries), None):
        raise DataMalformed(f"{path}: half of a surrogate pair in the id {broken!r:.60}")
    if missing := [name for name in required_ids if name not in entries]:
        count = f"{len(missing)} of {len(required_ids)} missing"
        raise DataMalformed(f"{path}: no {what} for {missing[0]!r:.60} ({count})")
    return entries


def _load(path: Path, parse_int: Callable[[str], float] = int) -> object:
    try:
        return json.loads(_unpacked(path), object_pairs_hook=_without_duplicates, parse_int=parse_int)
    except (OSError, EOFError, zlib.error) as error:
        raise DataMalformed(f"{path}: cannot be read: {error}") from error
    except ValueError as error:  # not JSON, not UTF-8, or a duplicate key
        raise DataMalformed(f"{path}: not JSON: {error}") from error
    except RecursionError as error:
        raise DataMalformed(f"{path}: not JSON: nested too deeply") from error


def _unpacked(path: Path) -> bytes:
    with path.open("rb") as file:
        packed = file.read(2) == GZIP
    with gzip.open(path) if packed else path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise DataMalformed(f"{path}: more than {MAX_BYTES:,} bytes of JSON, the limit")
    return data


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The pairs as a dict; a duplicate key is an error, where plain JSON keeps the last value."""
    result = dict(pairs)
    if len(result) < len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise ValueError(f"an object has the key {twice!r:.60} twice")
    return result


class _Parser:
    """Checks and copies one file; `place` is the current place, for error messages."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.place = "top level"
        self.ids: set[str] = set()
        self.relocated: list[str] = []
        self.version = "1.1"

    def dataset(self, top: object) -> SquadDataset:
        articles = tuple(self.article(index, item) for index, item in self.items(self.object(top), "data"))
        return SquadDataset(self.version, articles, tuple(self.relocated))

    def article(self, index: int, item: object) -> Article:
        self.place = f"article {index}"
        article = self.object(item)
        title = self.text(article, "title")
        paragraphs = []
        for number, paragraph in self.items(article, "paragraphs"):
            self.place = f"article {index} ({title!r:.60}), paragraph {number}"
            paragraphs.append(self.paragraph(self.object(paragraph)))
        return Article(title, tuple(paragraphs))

    def paragraph(self, paragraph: dict[str, Any]) -> Paragraph:
        context, place = self.text(paragraph, "context"), self.place
        questions = []
        for number, item in self.items(paragraph, "qas"):
            self.place = f"{place}, question {number}"
            questions.append(self.question(self.object(item), context))
        return Paragraph(context, tuple(questions))

    def question(self, item: dict[str, Any], context: str) -> Question:
        name = self.text(item, "id")
        self.place += f" (id {name!r:.60})"
        if name in self.ids:
            raise self.error("expected every id once, found this one again")
        self.ids.add(name)
        is_impossible = False
        if "is_impossible" in item:
            self.version = "2.0"
            is_impossible = self.value(item, "is_impossible", bool)
        answers = tuple(self.answers(item, "answers", name, context))
        if is_impossible == bool(answers):
            wanted = "no answers to an impossible question" if is_impossible else "at least one answer"
            raise self.error(f"expected {wanted}, found {len(answers)}")
        plausible = tuple(self.answers(item, "plausible_answers", name, context)) if is_impossible else ()
        kind = self.text(item, "type") if "type" in item else ""
        return Question(name, self.text(item, "question"), answers, is_impossible, plausible, kind)

    def answers(self, item: dict[str, Any], key: str, question: str, context: str) -> Iterator[GoldAnswer]:
        if key == "plausible_answers" and key not in item:
            return
        for _, answer in self.items(item, key):
            text = self.text(self.object(answer), "text")
            given = self.value(self.object(answer), "answer_start", int)
            start = _nearest(context, text, given)
            if start is None:
                raise self.error(f"expected the context to hold the answer {text!r:.80}, at {given}")
            if start != given and self.relocated[-1:] != [question]:
                self.relocated.append(question)
            yield GoldAnswer(text, start)

    def items(self, owner: dict[str, Any], key: str) -> Iterator[tuple[int, object]]:
        return enumerate(self.value(owner, key, list))

    def object(self, value: object) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self.error(f"expected an object, found {_kind(value)}")
        return value

    def text(self, owner: dict[str, Any], key: str) -> str:
        text = self.value(owner, key, str)
        if _has_surrogate(text):
            raise self.error(f"expected {key!r} to be text, found half of a surrogate pair in it")
        return text

    def value(self, owner: dict[str, Any], key: str, kind: type[Kind]) -> Kind:
        """The value of a key; True is not a whole number here."""
        if key not in owner:
            raise self.error(f"expected the key {key!r}, found only {sorted(owner)!s:.200}")
        value = owner[key]
        if type(value) is not kind:
            raise self.error(f"expected {key!r} to be {NAMES[kind]}, found {_kind(value)}")
        return value

    def error(self, message: str) -> DataMalformed:
        return DataMalformed(f"{self.path}: {self.place}: {message}")


def _has_surrogate(text: str) -> bool:
    return not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)


def _kind(value: object) -> str:
    return "nothing (null)" if value is None else NAMES.get(type(value), "a number")


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
