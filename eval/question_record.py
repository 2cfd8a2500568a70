"""What one system did with one question: the unit that every evaluation keeps, compares and reports.

One JSON object a line. Comparisons need `system`, `id` and `scores` alone; the rest is for people.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage that was looked at: `text` is its text, `start` and `end` its place in the document.

    `span` is where the proposed answer stands in `text`, None when none was proposed there.
    """

    document: str
    start: int
    end: int
    text: str
    score: float
    span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class QuestionRecord:
    """One question and one system, such as a retriever.

    `scores` are by the name of the measure (`exact`, `f1`, `nDCG@10`), finite, higher is better, and
    comparable between systems. `prediction` is "" for a declined question and None when nothing was to be
    predicted. `documents` are the right ones. `confidence` is in 0..1. Times are in milliseconds by stage.
    `passages_read` is how many passages were read for an answer.
    """

    system: str
    id: str
    question: str
    scores: Mapping[str, float]
    answerable: bool = True
    type: str = ""
    golds: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    prediction: str | None = None
    confidence: float | None = None
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()
    passages_read: int | None = None


def record_line(record: QuestionRecord) -> str:
    """The record as one line of JSON, without its end; ValueError for a score that is not finite."""
    return json.dumps(asdict(record), ensure_ascii=False, allow_nan=False)


def parse_record(line: str) -> QuestionRecord:
    """The record of a line; ValueError says what is wrong with it.

    >>> parse_record('{"system": "bm25", "id": "q1", "question": "Who?", "scores": {"exact": 1}}').scores
    {'exact': 1.0}
    """
    value = json.loads(line)
    if not isinstance(value, dict):
        raise ValueError(f"expected an object, found {type(value).__name__}")
    names = {one.name for one in fields(QuestionRecord)}
    if unknown := sorted(set(value) - names):
        raise ValueError(f"the field {unknown[0]!r} is unknown; expected {', '.join(sorted(names))}")
    for name in ("system", "id", "question"):
        if not isinstance(value.get(name), str):
            raise ValueError(f"{name} is {value.get(name)!r}; expected a string")
    numbers = {name: _numbers(name, value.get(name, {})) for name in ("scores", "timings_ms")}
    texts = {name: _texts(name, value.get(name, [])) for name in ("golds", "documents")}
    evidence = tuple(_evidence(one) for one in _list("evidence", value.get("evidence", [])))
    return QuestionRecord(**{**value, **numbers, **texts, "evidence": evidence})


def _numbers(name: str, value: Any) -> dict[str, float]:
    if not isinstance(value, dict):
        raise ValueError(f"{name} is {value!r:.80}; expected an object of numbers")
    for key, number in value.items():
        if isinstance(number, bool) or not isinstance(number, (int, float)) or not math.isfinite(number):
            raise ValueError(f"{name} has {key!r}: {number!r:.80}; expected a finite number")
    return {key: float(number) for key, number in value.items()}


def _list(name: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{name} is {value!r:.80}; expected an array")
    return value


def _texts(name: str, value: Any) -> tuple[str, ...]:
    texts = _list(name, value)
    if not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{name} is {value!r:.80}; expected an array of strings")
    return tuple(texts)


def _evidence(value: Any) -> Evidence:
    try:
        found = Evidence(**value)
    except TypeError as error:
        raise ValueError(f"evidence is {value!r:.80}; expected an object of its fields: {error}") from error
    if found.span is None:
        return found
    start, end = found.span
    return Evidence(**{**value, "span": (start, end)})
