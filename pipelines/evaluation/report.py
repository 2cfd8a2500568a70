"""The report of a result folder: one page that opens without anything else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from spanwise.types import ProgressCallback, no_progress

from ...eval.question_record import QuestionRecord
from .result_folder import METRICS, RECORDS, ResultFolder

REPORT = "report.html"
TOLD_EVERY = 500


def write_report(results: ResultFolder, report: ProgressCallback = no_progress) -> Path:
    """The page made of the folder's settings, records and figures, in place of one that was there.

    An evaluation that has not come to its end is shown as it stands, and the page says so.
    """
    from ...eval.report.page import page

    metrics = results.metrics if is_finished(results) else None
    text = page(results.command, results.settings, _told(results, report), metrics)
    path = results.path / REPORT
    temporary = path.with_suffix(".tmp")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)
    return path


def is_finished(results: ResultFolder) -> bool:
    """True when the figures of the folder are there."""
    return (results.path / METRICS).exists()


def _told(results: ResultFolder, report: ProgressCallback) -> Iterator[QuestionRecord]:
    """The records, one by one, while it is told how many are done."""
    path = results.path / RECORDS
    total = 0
    if path.exists():
        with path.open("rb") as lines:
            total = sum(1 for _ in lines)
    for done, record in enumerate(results.records()):
        if done % TOLD_EVERY == 0:
            report("records", done, total)
        yield record
    report("records", total, total)
