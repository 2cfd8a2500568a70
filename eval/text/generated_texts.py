"""Generated texts with their references: one JSON object a line.

Required: "references" (acceptable texts, at least one that is not blank). Optional: "prediction" (the text
to judge; it may come from elsewhere), "id" (default: the line's number), "question" and "confidence" (0..1).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from spanwise.errors import DataMalformed


@dataclass(frozen=True, slots=True)
class GeneratedText:
    """A text and what it is compared with; `prediction` is None when there is none."""

    id: str
    references: tuple[str, ...]
    prediction: str | None = None
    question: str = ""
    confidence: float | None = None


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
    references = record.get("references")
    if not isinstance(references, list):
        raise ValueError(f"references is {references!r:.80}; expected an array of strings")
    for reference in references:
        _require_text("a reference", reference)
    if not any(reference.strip() for reference in references):
        raise ValueError(f"references is {references!r:.80}; expected at least one that is not blank")
    if "confidence" in record:
        _require_confidence(record["confidence"])
    return GeneratedText(**{"id": default_id, **record, "references": tuple(references)})


def _require_text(name: str, value: Any) -> None:
    if not isinstance(value, str):
        raise ValueError(f"{name} is {value!r:.80}; expected a string")
    value.encode("utf-8")  # a UnicodeEncodeError is a ValueError and names the surrogate


def _require_confidence(value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise ValueError(f"confidence is {value!r:.80}; expected a number in 0..1")
