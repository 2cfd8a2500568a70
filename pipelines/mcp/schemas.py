"""What each tool gives back: the shapes of `--json`, as far as a caller should rely on them."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
COUNT: Schema = {"type": "integer", "minimum": 0}
NUMBER: Schema = {"type": "number"}
PAGE: Schema = {"type": ["integer", "null"]}
LIST: Schema = {"type": "array"}
HEADING: Schema = {"type": "array", "items": TEXT}
NAMED: Schema = {"type": "object"}


def record(**properties: Schema) -> Schema:
    """An object that has all of these keys, and perhaps others.

    >>> record(a=TEXT)["required"]
    ['a']
    """
    return {"type": "object", "properties": properties, "required": list(properties)}


def listed(item: Schema) -> Schema:
    """A list of such values."""
    return {"type": "array", "items": item}


def either(one: Schema) -> Schema:
    """Such a value or null."""
    return {"anyOf": [one, {"type": "null"}]}


SPAN = {"document": TEXT, "start": COUNT, "end": COUNT}
PLACE = {"page": PAGE, "line": COUNT, "label": TEXT}

HIT = record(
    rank=COUNT, score=NUMBER, scores=NAMED, passage=COUNT, text=TEXT, **SPAN, **PLACE, heading=HEADING
)
ANSWER_SPAN = record(
    text=TEXT,
    sentence=TEXT,
    score=NUMBER,
    confidence={"type": ["number", "null"]},
    **SPAN,
    **PLACE,
    heading=HEADING,
    passage=record(id=COUNT, start=COUNT, end=COUNT, text=TEXT),
)
SEARCH = record(question=TEXT, retriever=TEXT, hits=listed(HIT))
ANSWER = record(
    question=TEXT,
    answer=either(ANSWER_SPAN),
    alternatives=listed(ANSWER_SPAN),
    searched=record(documents=COUNT, passages=COUNT, passages_read=COUNT, rejected=listed(ANSWER_SPAN)),
    nearest=listed(HIT),
    retriever=TEXT,
)
CITATION = record(number=COUNT, text=TEXT, **SPAN, **PLACE)
SENTENCE = record(text=TEXT, citations=listed(CITATION), support=NUMBER, verdict=TEXT, findings=LIST)
SUMMARY = record(
    question=TEXT, sentences=listed(SENTENCE), dropped=LIST, generator=TEXT, passages=COUNT, nearest=LIST
)
WINDOW = record(
    **SPAN,
    **PLACE,
    heading=HEADING,
    text=TEXT,
    title=TEXT,
    media_type=TEXT,
    characters=COUNT,
    passage={"type": ["integer", "null"]},
)
DOCUMENTS = record(
    documents=listed(record(document=TEXT, state=TEXT, format=TEXT, remark=TEXT)),
    total=COUNT,
    offset=COUNT,
)
STATUS = record(
    generation=COUNT, last_commit=TEXT, documents=COUNT, passages=COUNT, formats=NAMED, retriever=TEXT
)
