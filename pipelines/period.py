"""Times of documents, and the stretch of time that a filter takes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta

DATE = "date"  # in the metadata of documents that know their own
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moment_ns(value: date | str) -> int:
    """Nanoseconds since 1970, to the microsecond; a date is its first moment, and local unless it has a zone.

    Raises `ValueError` for what is neither a date nor ISO 8601.

    >>> moment_ns("1970-01-02T00:00+00:00")
    86400000000000
    """
    try:
        moment = datetime.fromisoformat(value if isinstance(value, str) else value.isoformat())
        return (moment.astimezone(UTC) - EPOCH) // timedelta(microseconds=1) * 1000
    except (AttributeError, ValueError, OverflowError, OSError):
        raise ValueError(f"{value!r} is no date: write it as 2024-01-31 or 2024-01-31T18:00") from None


def document_moment_ns(mtime_ns: int, metadata: Mapping[str, str]) -> int | None:
    """The document's own date, else the time of its file; None when it has neither."""
    if DATE in metadata:
        try:
            return moment_ns(metadata[DATE])
        except ValueError:
            pass  # in words or in another order: no reader wrote it
    return mtime_ns or None
