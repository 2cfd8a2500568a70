"""The report of a result folder: one page that opens without anything else."""

from __future__ import annotations

from pathlib import Path

from .result_folder import METRICS, ResultFolder

REPORT = "report.html"


def write_report(results: ResultFolder) -> Path:
    """The page made of the folder's settings, records and figures, in place of one that was there.

    An evaluation that has not come to its end is shown as it stands, and the page says so.
    """
    from ...eval.report.page import page

    metrics = results.metrics if is_finished(results) else None
    text = page(results.command, results.settings, results.records(), metrics)
    path = results.path / REPORT
    temporary = path.with_suffix(".tmp")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)
    return path


def is_finished(results: ResultFolder) -> bool:
    """True when the figures of the folder are there."""
    return (results.path / METRICS).exists()
