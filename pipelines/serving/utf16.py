"""Offsets as browsers count them: in UTF-16 code units, where a character beyond the BMP counts twice."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from typing import Any

from ...index.snapshot import Snapshot

_OF_THE_QUESTION = frozenset({"lacks", "unknown_words"})  # their offsets count the question's characters


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


class Utf16:
    """Adds `utf16: {start, end}` to the spans of records, by the documents of one snapshot.

    With `certain` the records are known to be of that snapshot. Without it, a span whose words do not stand
    there any more gets None.
    """

    def __init__(self, snapshot: Snapshot, certain: bool = True) -> None:
        self._snapshot, self._certain = snapshot, certain
        self._known: dict[str, tuple[list[int], str] | None] = {}

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
            key: value if key in _OF_THE_QUESTION and key == "lacks" else self.added(value, document)
            for key, value in record.items()
        }
        if document is not None and _is_span(record):
            made["utf16"] = self._offsets(document, record)
        return made

    def _offsets(self, document: str, record: Mapping[str, Any]) -> dict[str, int] | None:
        if document not in self._known:
            self._known[document] = self._read(document)
        known = self._known[document]
        if known is None:
            return None
        astral, text = known
        start, end = record["start"], record["end"]
        if not self._certain and record.get("text", text[start:end]) != text[start:end]:
            return None
        return {"start": utf16_offset(astral, start), "end": utf16_offset(astral, end)}

    def _read(self, document: str) -> tuple[list[int], str] | None:
        try:
            text = self._snapshot.document(document).text
        except ValueError:  # it is gone since
            return None
        return astral_positions(text), text


def _is_span(record: Mapping[str, Any]) -> bool:
    start, end = record.get("start"), record.get("end")
    return isinstance(start, int) and isinstance(end, int) and 0 <= start <= end
