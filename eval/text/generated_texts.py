"""Generated texts with what they are judged by: one JSON object a line.

Required: "references" (acceptable texts, at least one that is not blank), or else "sources" (passages: what
the text may say, and cites as [1], [2], …). Optional: "prediction" (the text to judge; it may come from
elsewhere), "id" (default: the line's number), "question", "confidence" (0..1), "canaries" (strings that a
text has only when it obeyed an order in a document), "seconds" and "tokens" (what it took, how much it is).
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from spanwise.errors import DataMalformed


@dataclass(frozen=True, slots=True)
class GeneratedText:
    """A text and what it is compared with; `prediction` is None when there is none.

    `sources` are the passages that it may rest on, numbered from 1 in its marks, `canaries` what it must not
    say. `seconds` and `tokens` tell how long it took to write, and its length for the generator.
    """

    id: str
    references: tuple[str, ...]
    prediction: str | None = None
    question: str = ""
    confidence: float | None = None
    sources: tuple[str, ...] = ()
    canaries: tuple[str, ...] = ()
    seconds: float | None = None
    tokens: int | None = None


def read_generated_texts(path: Path) -> tuple[GeneratedText, ...]:
    """The texts of a file, in its order; blank lines are passed over.

    DataMalformed, with the line: not JSON, a field that is missing, unknown or of the wrong type, half of a
    surrogate pair, or an id given twice; and for a file without texts.
    """
    texts: dict[str, GeneratedText] = {}
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise DataMalformed(f"{path}: cannot be read: {error.strerror or error}") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            text = _text(json.loads(line.decode("utf-8")), str(number))
        except (ValueError, RecursionError) as error:
            raise DataMalformed(f"{path}, line {number}: {error}") from error
        if text.id in texts:
            raise DataMalformed(f"{path}, line {number}: the id {text.id!r:.80} is given twice")
        texts[text.id] = text
    if not texts:
        raise DataMalformed(f"{path}: holds no texts; expected one JSON object a line")
    return tuple(texts.values())


def _text(record: Any, default_id: str) -> GeneratedText:
    """The record as a text; ValueError says what is wrong with it."""
    if not isinstance(record, dict):
        raise ValueError(f"expected an object, found {type(record).__name__}")
    names = {field.name for field in fields(GeneratedText)}
    if unknown := sorted(set(record) - names):
        raise ValueError(f"the field {unknown[0]!r:.80} is unknown; expected {', '.join(sorted(names))}")
    for name in ("id", "prediction", "question"):
        if name in record:
            _require_text(name, record[name])
    texts = {name: _texts(name, record.get(name, [])) for name in ("references", "sources", "canaries")}
    if not texts["sources"] and not any(reference.strip() for reference in texts["references"]):
        raise ValueError(
            f"references is {record.get('references')!r:.80}; expected at least one that is not blank"
        )
    if "confidence" in record:
        _require_number("confidence", record["confidence"], 1, "a number in 0..1")
    if "seconds" in record:
        _require_number("seconds", record["seconds"], math.inf, "a number of seconds")
    if "tokens" in record and (type(record["tokens"]) is not int or record["tokens"] < 0):
        raise ValueError(f"tokens is {record['tokens']!r:.80}; expected a count")
    return GeneratedText(**{"id": default_id, **record, **texts})


def _texts(name: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ValueError(f"{name} is {value!r:.80}; expected an array of strings")
    for text in value:
        _require_text(f"one of {name}", text)
    return tuple(value)


def _require_text(name: str, value: Any) -> None:
    if not isinstance(value, str):
        raise ValueError(f"{name} is {value!r:.80}; expected a string")
    value.encode("utf-8")  # a UnicodeEncodeError is a ValueError and names the surrogate


def _require_number(name: str, value: Any, most: float, expected: str) -> None:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not 0 <= value <= most or not math.isfinite(value):
        raise ValueError(f"{name} is {value!r:.80}; expected {expected}")
