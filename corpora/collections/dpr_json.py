"""The JSON of DPR: examples to train on, and what was retrieved for each question.

Training: `question`, `answers`, and passages (`title`, `text`, `passage_id`) under `positive_ctxs`,
`negative_ctxs` and `hard_negative_ctxs`. Results: `question`, `answers` and `ctxs`, each with `id`, `title`,
`text`, `score` and `has_answer`, best first. Both are one array, read whole.

Source: Karpukhin et al., "Dense Passage Retrieval for Open-Domain Question Answering", 2020, and the files
that its code reads and writes. Other programs leave `has_answer` away, and so may these files.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .collection import CollectionDocument
from .dpr_tables import DprQuestion
from .json_records import Record, json_array


@dataclass(frozen=True, slots=True)
class DprExample:
    """A question to train on: passages that answer it, some that do not, and some that nearly do."""

    question: DprQuestion
    positives: tuple[CollectionDocument, ...]
    negatives: tuple[CollectionDocument, ...]
    hard_negatives: tuple[CollectionDocument, ...]


@dataclass(frozen=True, slots=True)
class DprContext:
    """A passage that was retrieved. `has_answer`: an answer stands in its text; None: nobody looked."""

    passage: CollectionDocument
    score: float
    has_answer: bool | None


@dataclass(frozen=True, slots=True)
class DprResult:
    """What was retrieved for a question, best first."""

    question: DprQuestion
    contexts: tuple[DprContext, ...]


def read_training(path: Path) -> Iterator[DprExample]:
    """The examples of a training file; a passage has the id "" where the file gives it none."""
    for record in json_array(path):
        yield DprExample(
            _question(record),
            positives=_passages(record, "positive_ctxs"),
            negatives=_passages(record, "negative_ctxs"),
            hard_negatives=_passages(record, "hard_negative_ctxs"),
        )


def read_results(path: Path) -> Iterator[DprResult]:
    """What was retrieved for each question of a results file."""
    for record in json_array(path):
        yield DprResult(_question(record), tuple(map(_context, record.records("ctxs"))))


def write_results(path: Path, results: Iterable[DprResult]) -> None:
    """Write results, a question a line; the file is replaced only when all is written.

    `ValueError` for a score that is not finite.
    """
    write_array(path, map(_values, results))


def write_array(path: Path, items: Iterable[dict[str, Any]]) -> int:
    """Write objects as one array, one a line, and return how many; as `write_results` does."""
    part = path.with_name(f"{path.name}.part")
    written = 0
    with part.open("w", encoding="utf-8", newline="\n") as file:
        for written, item in enumerate(items, 1):
            line = json.dumps(item, ensure_ascii=False, allow_nan=False)
            file.write(f"{',' if written > 1 else '['}\n{line}")
        file.write("\n]\n" if written else "[]\n")
    part.replace(path)
    return written


def _question(record: Record) -> DprQuestion:
    return DprQuestion(record.text("question"), record.texts("answers"))


def _passages(record: Record, key: str) -> tuple[CollectionDocument, ...]:
    return tuple(_passage(each, "passage_id") for each in record.records(key))


def _passage(record: Record, key: str) -> CollectionDocument:
    name = record.name(key) if record.values.get(key) is not None else ""
    return CollectionDocument(name, record.text("title", default=""), record.text("text"))


def _context(record: Record) -> DprContext:
    has_answer = record.values.get("has_answer")
    if has_answer is not None and not isinstance(has_answer, bool):
        raise record.error(f"expected 'has_answer' to be true or false, found {has_answer!r:.60}")
    return DprContext(_passage(record, "id"), record.number("score"), has_answer)


def _values(result: DprResult) -> dict[str, Any]:
    contexts = [_context_values(context) for context in result.contexts]
    return {"question": result.question.text, "answers": list(result.question.answers), "ctxs": contexts}


def _context_values(context: DprContext) -> dict[str, Any]:
    passage = context.passage
    values = {"id": passage.id, "title": passage.title, "text": passage.text, "score": context.score}
    return values if context.has_answer is None else {**values, "has_answer": context.has_answer}
