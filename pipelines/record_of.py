"""Any result as plain JSON values, in the shape that the command line prints."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import Any

from spanwise.types import Answer, Hit, Span, Summary, SyncReport

from .explaining.explanation import Explanation
from .explaining.record import explanation_record
from .records import answer_record, hit_record, span_record, sync_record
from .summarize import summary_record
from .verification import Verification


@singledispatch
def record_of(result: object) -> dict[str, Any]:
    """The record of an Answer, Hit, Span, Summary, Explanation, SyncReport, ….

    Offsets are code points. `ValueError` for what no verb prints.
    """
    raise ValueError(f"a result is expected, such as an Answer or a Hit, not {type(result).__name__}")


def _explained(explained: Explanation) -> dict[str, Any]:
    return {**answer_record(explained.answer), "explanation": explanation_record(explained)}


def _verified(found: Verification) -> dict[str, Any]:
    checked = {"documents": found.documents, "passages": found.passages, "bytes": found.bytes}
    checked = {} if found.problems else checked
    return {"index": str(found.index), "problems": list(found.problems), "checked": checked}


_RECORDS: dict[type, Callable[[Any], dict[str, Any]]] = {
    Answer: answer_record,
    Hit: hit_record,
    Span: span_record,
    SyncReport: sync_record,
    Summary: summary_record,
    Explanation: _explained,
    Verification: _verified,
}
for _kind, _record in _RECORDS.items():
    record_of.register(_kind, _record)
