"""Reads SQuAD 1.1 and 2.0, plain or gzipped, and predictions in the format of the official scripts.

Source: Rajpurkar et al. 2016 and 2018. Any other layout is an error that names its place. An `answer_start`
that misses its text, a common slip, is moved to the nearest occurrence in the context; `relocated` names the
question.
"""

import json
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spanwise.errors import DataMalformed

from ..json_lines import DAMAGE, JsonObject, has_surrogate, json_object, unpacked

MAX_BYTES = 2_000_000_000  # of JSON, after unpacking


@dataclass(frozen=True, slots=True)
class GoldAnswer:
    """An answer by a person: `context[start : start + len(text)] == text`.

    text: the answer, a part of the context.
    start: its offset in code points.
    """

    text: str
    start: int


@dataclass(frozen=True, slots=True)
class SquadQuestion:
    """A question about a paragraph.

    id: unique in its data set.
    text: the question.
    answers: the answers; none if the paragraph does not answer it.
    type: factoid, how, why or list, or the empty string; a key that SQuAD does not have.
    """

    id: str
    text: str
    answers: tuple[GoldAnswer, ...]
    type: str = ""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A text and its questions.

    context: the text.
    questions: the questions about it.
    """

    context: str
    questions: tuple[SquadQuestion, ...]


@dataclass(frozen=True, slots=True)
class SquadArticle:
    """An article.

    title: its title.
    paragraphs: its texts with their questions.
    """

    title: str
    paragraphs: tuple[Paragraph, ...]


@dataclass(frozen=True, slots=True)
class SquadDataset:
    """The content of a file.

    version: "2.0" when a question has the key `is_impossible`, else "1.1".
    articles: the articles, in order.
    relocated: the ids of questions with an answer that was moved to its text, in order.
    """

    version: str
    articles: tuple[SquadArticle, ...]
    relocated: tuple[str, ...] = ()


def read_squad(path: Path) -> SquadDataset:
    """The data set in a file; `DataMalformed` names the file, the place and the expected value."""
    reader = _Reader()
    top = json_object(str(path), _load(path))
    articles = tuple(map(reader.article, top.objects("data", "article")))
    return SquadDataset(reader.version, articles, tuple(reader.relocated))


def read_predictions(path: Path) -> dict[str, str]:
    """The answer of each question id, in the order of the file; "" means "no answer".

    `DataMalformed` if the file is not an object of strings, or has an id twice.
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

    `DataMalformed` if the file is not an object of numbers, has an id twice, or lacks a required id.
    """
    values = _entries(path, "no-answer probability")
    missing = [name for name in required_ids if name not in values]
    if missing:
        count = f"{len(missing)} of {len(required_ids)} missing"
        raise DataMalformed(f"{path}: no no-answer probability for {missing[0]!r:.60} ({count})")
    for name, value in values.items():
        if not isinstance(value, float) or not math.isfinite(value):
            raise DataMalformed(f"{path}: the value of {name!r:.60} is not a finite number")
    return values


def _entries(path: Path, noun: str) -> dict[str, Any]:
    """The values by question id, with all numbers as floats; `noun` names a value."""
    entries = _load(path, float)
    if not isinstance(entries, dict):
        raise DataMalformed(f"{path}: expected an object from question id to {noun}, found {entries!r:.60}")
    for name in filter(has_surrogate, entries):
        raise DataMalformed(f"{path}: half of a surrogate pair in the id {name!r:.60}")
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
    """The pairs as a dict; `ValueError` for a duplicate key, where JSON would keep the last value."""
    result = dict(pairs)
    if len(result) < len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise ValueError(f"an object has the key {twice!r:.60} twice")
    return result


class _Reader:
    """Checks and copies the objects of one file."""

    def __init__(self) -> None:
        self.ids: set[str] = set()
        self.relocated: list[str] = []
        self.version = "1.1"

    def article(self, item: JsonObject) -> SquadArticle:
        title = item.text("title")
        paragraphs = item.named(title).objects("paragraphs", "paragraph")
        return SquadArticle(title, tuple(map(self.paragraph, paragraphs)))

    def paragraph(self, item: JsonObject) -> Paragraph:
        context = item.text("context")
        questions = (self.question(question, context) for question in item.objects("qas", "question"))
        return Paragraph(context, tuple(questions))

    def question(self, item: JsonObject, context: str) -> SquadQuestion:
        name = item.text("id")
        item = item.named(name)
        if name in self.ids:
            raise item.error("expected every id once, found this one again")
        self.ids.add(name)
        is_impossible = False
        if "is_impossible" in item.values:
            self.version = "2.0"
            is_impossible = item.value("is_impossible", bool)
        answers = tuple(self.answers(item, context))
        if is_impossible == bool(answers):
            expected = "no answers to an impossible question" if is_impossible else "at least one answer"
            raise item.error(f"expected {expected}, found {len(answers)}")
        kind = item.text("type") if "type" in item.values else ""
        return SquadQuestion(name, item.text("question"), answers, kind)

    def answers(self, question: JsonObject, context: str) -> Iterator[GoldAnswer]:
        name = question.values["id"]
        for answer in question.objects("answers", "answer"):
            text = answer.text("text")
            declared = answer.value("answer_start", int)
            start = _nearest(context, text, declared)
            if start is None:
                raise answer.error(f"expected the context to hold the answer {text!r:.80}, at {declared}")
            if start != declared and self.relocated[-1:] != [name]:
                self.relocated.append(name)
            yield GoldAnswer(text, start)


def _nearest(context: str, text: str, start: int) -> int | None:
    """The offset of the text in the context nearest to `start`, the earlier of two, or None.

    >>> _nearest("to be or not to be", "be", 15)
    16
    """
    if start >= 0 and context.startswith(text, start):
        return start
    before = context.rfind(text, 0, max(0, start) + len(text))
    after = context.find(text, max(0, start))
    offsets = [offset for offset in (before, after) if offset >= 0]
    return min(offsets, key=lambda offset: abs(offset - start), default=None)
