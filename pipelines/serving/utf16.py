"""Offsets as browsers count them: in UTF-16 code units, where a character beyond the BMP counts twice."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from typing import Any

from ...index.snapshot import Snapshot

OF_THE_QUESTION = "lacks"  # words whose offsets count the characters of the question


def astral_positions(text: str) -> list[int]:
    """Where the characters stand that take two code units, in code points.

    >>> astral_positions("a𝄞b𝄞")
    [1, 3]
    """
    if text.isascii():
        return []
    return [at for at, character in enumerate(text) if character > "\uffff"]


def utf16_offset(astral: list[int], offset: int) -> int:
    """The offset in code units of an offset in code points.

    >>> utf16_offset([1, 3], 3)
    4
    """
    return offset + bisect_left(astral, offset)


class AstralPositions:
    """Where such characters stand in the documents of one commit, remembered until there is another."""

    def __init__(self) -> None:
        self._seal = ""
        self._known: dict[str, list[int]] = {}

    def of(self, snapshot: Snapshot, document: str) -> list[int]:
        """Those of a document, which is read once; ValueError for one that is not there."""
        if snapshot.seal != self._seal:
            self._seal, self._known = snapshot.seal, {}
        if document not in self._known:
            self._known[document] = astral_positions(snapshot.document(document).text)
        return self._known[document]


class Utf16:
    """Adds `utf16: {start, end}` to the spans of records, by the documents of one snapshot.

    With `certain` the records are known to be of that snapshot. Without it, a span whose words do not stand
    there any more gets None. `known` remembers documents between records; one thread may use it.
    """

    def __init__(
        self, snapshot: Snapshot, certain: bool = True, known: AstralPositions | None = None
    ) -> None:
        self._snapshot, self._certain = snapshot, certain
        self._known = known or AstralPositions()

    def added(self, record: Any, document: str | None = None) -> Any:
        """The record, with the offsets in each part that names a start and an end.

        A part belongs to the document that it names, else to that of the part around it.
        """
        if isinstance(record, list):
            return [self.added(each, document) for each in record]
        if not isinstance(record, dict):
            return record
        named = record.get("document")
        document = named if isinstance(named, str) else document
        made = {
            key: self.added(value, document)
            if isinstance(value, (dict, list)) and value and key != OF_THE_QUESTION
            else value
            for key, value in record.items()
        }
        if document is not None and _is_span(record):
            made["utf16"] = self._offsets(document, record)
        return made

    def _offsets(self, document: str, record: Mapping[str, Any]) -> dict[str, int] | None:
        start, end = record["start"], record["end"]
        try:
            if not (self._certain or self._still_says(document, record)):
                return None
            astral = self._known.of(self._snapshot, document)
        except ValueError:  # the document is gone since
            return None
        return {"start": utf16_offset(astral, start), "end": utf16_offset(astral, end)}

    def _still_says(self, document: str, record: Mapping[str, Any]) -> bool:
        words = self._snapshot.document(document).text[record["start"] : record["end"]]
        return bool(record.get("text", words) == words)


def _is_span(record: Mapping[str, Any]) -> bool:
    start, end = record.get("start"), record.get("end")
    return isinstance(start, int) and isinstance(end, int) and 0 <= start <= end
