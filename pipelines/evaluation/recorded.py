"""Hits and readings that are stored once, so that other decisions about the same questions take minutes.

`RecordedRetriever` and `RecordedReader` stand in for the ones they wrap. What they were asked before comes
from a file of JSON lines; anything else is computed and added to it, so that an interrupted run resumes.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from spanwise.errors import DataMalformed
from spanwise.types import Hit, Passage, PassageMass, ScoredSpan

from ...index.protocol import Ids
from ...index.snapshot import Snapshot
from ...reader.protocol import Reader
from ...reader.reader_pair import ReaderPair
from ...reader.span_reader import context_of
from ...retrieval.protocol import Retriever
from .results import whole_lines

KEY_DIGITS = 24  # of a sha256
NUMBERS = ("score", "null_score", "relevance", "support", "yes")  # of a span, NaN as null


class Recording:
    """Values by key in a file of JSON lines; DataMalformed for a damaged file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            lines = map(json.loads, whole_lines(path))
            self._values: dict[str, Any] = {line["key"]: line["value"] for line in lines}
        except (ValueError, KeyError, TypeError) as error:
            raise DataMalformed(f"{path} cannot be read: {error!r}. Remove it to start anew") from error

    def __contains__(self, key: str) -> bool:
        """True for a key with a value."""
        return key in self._values

    def __getitem__(self, key: str) -> Any:
        """The value of a key."""
        return self._values[key]

    def add(self, values: Iterable[tuple[str, Any]]) -> None:
        """Adds values, which are written at once."""
        rows = list(values)
        self._values.update(rows)
        if not rows:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            for key, value in rows:
                file.write(json.dumps({"key": key, "value": value}, allow_nan=False) + "\n")


class RecordedRetriever:
    """Ranks as `retriever` does over one commit; see `retrieval.protocol.Retriever`."""

    def __init__(self, retriever: Retriever, recording: Recording, snapshot: Snapshot, commit: str) -> None:
        self.name = retriever.name
        self._retriever = retriever
        self._recording = recording
        self._snapshot = snapshot
        self._commit = commit

    def search(self, questions: Sequence[str], k: int, among: Ids | None = None) -> list[list[Hit]]:
        """The best k hits of each question; with `among` nothing is recorded."""
        if among is not None:
            return self._retriever.search(questions, k, among)
        keys = [_key(self.name, self._commit, str(k), question) for question in questions]
        unknown = [number for number, key in enumerate(keys) if key not in self._recording]
        if unknown:
            rankings = self._retriever.search([questions[number] for number in unknown], k)
            values = [[_hit_value(hit) for hit in hits] for hits in rankings]
            self._recording.add(zip([keys[number] for number in unknown], values, strict=True))
        return [self._hits(self._recording[key]) for key in keys]

    def _hits(self, rows: Sequence[Sequence[Any]]) -> list[Hit]:
        """The hits of a ranking, each of an id, a score, scores by stage and ids of near-duplicates."""
        ids = [number for number, _, _, duplicates in rows for number in (number, *duplicates)]
        by_id = {passage.id: passage for passage in self._snapshot.passages(ids)}
        return [
            Hit(by_id[number], score, rank, stages, tuple(by_id[other] for other in duplicates))
            for rank, (number, score, stages, duplicates) in enumerate(rows, start=1)
        ]


class RecordedReader:
    """Reads as `reader` does; see `reader.protocol.Reader`.

    A passage is recorded alone, or, for a reader that reads only some passages of a question, with all
    passages of the question.
    """

    def __init__(self, reader: Reader, recording: Recording) -> None:
        self.digest = reader.digest
        self.answers_null = getattr(reader, "answers_null", True)
        self._reader = reader
        self._recording = recording
        self._reads_alone = not isinstance(reader, ReaderPair)

    def read(
        self, questions: Sequence[str], passages: Sequence[Sequence[Passage]], n_best: int = 5
    ) -> list[list[list[ScoredSpan]]]:
        """The n best spans for each passage of each question."""
        keys = [
            [_key(self.digest, str(n_best), question, *_texts(passage)) for passage in group]
            for question, group in zip(questions, passages, strict=True)
        ]
        if not self._reads_alone:
            keys = [[_key(key, *group) for key in group] for group in keys]
        unknown = [
            number for number, group in enumerate(keys) if not all(key in self._recording for key in group)
        ]
        if unknown:
            read = self._reader.read(
                [questions[number] for number in unknown], [passages[number] for number in unknown], n_best
            )
            self._recording.add(
                (key, _spans_value(spans))
                for number, group in zip(unknown, read, strict=True)
                for key, spans in zip(keys[number], group, strict=True)
            )
        return [
            [_spans(self._recording[key], passage) for key, passage in zip(group, some, strict=True)]
            for group, some in zip(keys, passages, strict=True)
        ]


def _key(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:KEY_DIGITS]


def _texts(passage: Passage) -> tuple[str, str]:
    """What a reader sees of a passage."""
    return context_of(passage), passage.readable


def _hit_value(hit: Hit) -> list[Any]:
    return [hit.passage.id, hit.score, dict(hit.scores), [other.id for other in hit.duplicates]]


def _spans_value(spans: Sequence[ScoredSpan]) -> list[Any]:
    """The mass of the passage, then a list for each span, with places in the passage."""
    mass = spans[0].mass if spans else None
    return [
        mass and [mass.start, mass.end, mass.null_start, mass.null_end],
        *(
            [
                scored.span.start - scored.passage.start,
                scored.span.end - scored.passage.start,
                scored.verdict,
                scored.is_list_question,
                *(_or_none(getattr(scored, name)) for name in NUMBERS),
            ]
            for scored in spans
        ),
    ]


def _spans(value: Sequence[Any], passage: Passage) -> list[ScoredSpan]:
    numbers, *rows = value
    mass = numbers and PassageMass(*numbers)
    spans = []
    for start, end, verdict, is_list_question, *values in rows:
        score, null_score, relevance, support, yes = (math.nan if x is None else x for x in values)
        span = passage.span(start, end)
        spans.append(
            ScoredSpan(
                span,
                passage,
                score,
                null_score,
                relevance,
                support,
                verdict,
                is_list_question,
                mass,
                yes,
            )
        )
    return spans


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value
