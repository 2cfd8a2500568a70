"""Question sets: hand-written questions about a folder, one JSON object a line.

Required: "question", "answers" (acceptable strings, as in the documents), "documents" (paths relative to
the folder) and "answerable"; an unanswerable question has no answers and no documents. Optional: "id"
(default: the line's number), "type" (factoid, how, why or list; default: factoid), "sentence" (the one that
answers, as in the document) and "no_shared_words" (question and sentence have no content word in common).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from spanwise.errors import DataMalformed

TYPES = ("factoid", "how", "why", "list")
OPTIONAL = {"type": "factoid", "sentence": "", "no_shared_words": False}


@dataclass(frozen=True, slots=True)
class FolderQuestion:
    """A question about a folder and what counts as its answer; see the module for the fields."""

    id: str
    question: str
    type: str
    answers: tuple[str, ...]
    sentence: str
    documents: tuple[str, ...]
    answerable: bool
    no_shared_words: bool


def read_question_set(path: Path) -> tuple[FolderQuestion, ...]:
    """The questions of a file, in its order; blank lines are passed over.

    DataMalformed, with the line: not JSON, a field that is missing, unknown or of the wrong type, an id
    given twice, or answers that contradict `answerable`.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise DataMalformed(f"{path}: cannot be read: {error}") from error
    questions: dict[str, FolderQuestion] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            question = _question(json.loads(line), str(number))
        except (ValueError, RecursionError) as error:
            raise DataMalformed(f"{path}, line {number}: {error}") from error
        if question.id in questions:
            raise DataMalformed(f"{path}, line {number}: the id {question.id!r} is given twice")
        questions[question.id] = question
    return tuple(questions.values())


def _question(record: Any, default_id: str) -> FolderQuestion:
    """The record as a question; ValueError says what is wrong with it."""
    names = {field.name for field in fields(FolderQuestion)}
    if not isinstance(record, dict):
        raise ValueError(f"expected an object, found {type(record).__name__}")
    record = {"id": default_id, **OPTIONAL, **record}
    if missing := sorted(names - set(record)):
        raise ValueError(f"the field {missing[0]} is missing")
    if unknown := sorted(set(record) - names):
        raise ValueError(f"the field {unknown[0]} is unknown; expected {', '.join(sorted(names))}")
    for name in ("id", "question", "sentence"):
        if not isinstance(record[name], str):
            raise ValueError(f"{name} is {record[name]!r}; expected a string")
    if not record["question"].strip():
        raise ValueError("the question is empty")
    for name in ("answerable", "no_shared_words"):
        if not isinstance(record[name], bool):
            raise ValueError(f"{name} is {record[name]!r}; expected true or false")
    for name in ("answers", "documents"):
        texts = record[name]
        if not isinstance(texts, list) or not all(isinstance(text, str) and text for text in texts):
            raise ValueError(f"{name} is {texts!r}; expected an array of non-empty strings")
        if bool(texts) != record["answerable"]:
            raise ValueError(f"{name} has {len(texts)} items, but answerable is {record['answerable']}")
    if record["sentence"] and not record["answerable"]:
        raise ValueError(f"sentence is {record['sentence']!r}, but answerable is {record['answerable']}")
    if record["type"] not in TYPES:
        raise ValueError(f"type is {record['type']!r}; expected one of {', '.join(TYPES)}")
    tuples = {name: tuple(record[name]) for name in ("answers", "documents")}
    return FolderQuestion(**{**record, **tuples})
