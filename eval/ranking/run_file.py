"""Runs in files: what a retriever found, read from TREC's or MS MARCO's format and written to either."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

from .evaluate import Run
from .msmarco_run import msmarco_lines, msmarco_row
from .order import trec_order
from .query_table import Row, read_table, write_table
from .trec_run import run_lines, trec_row


def read_run(path: Path) -> dict[str, dict[str, float]]:
    """The score of each document found by query, from a file of either format, plain or gzipped.

    Six columns in the first line say TREC, three MS MARCO. TREC's rank and tag are not looked at; MS MARCO's
    rank becomes the score -rank. Ids stay as they are written. DataMalformed names the file and the line:
    other columns, a score that is not a number, a rank below 1, a document found twice for a query; also a
    file that cannot be read or holds no lines.
    """
    return read_table(path, _parser)


def write_run(path: Path, run: Run, tag: str = "spanwise", form: Literal["trec", "msmarco"] = "trec") -> None:
    """Write the documents of each query, best first in the order of trec_eval; gzipped where named `.gz`.

    White space in ids is percent-encoded by `trec_id`. `tag` names the system, in TREC's format alone.
    ValueError: an empty id or a score that is not a number.
    """
    write_table(path, _msmarco(run) if form == "msmarco" else _trec(run, tag))


def _parser(first: bytes) -> Callable[[bytes], Row[float]]:
    columns = len(first.split())
    parsers = {6: trec_row, 3: msmarco_row}
    if columns not in parsers:
        raise ValueError(f"{columns} columns; expected the six of a TREC run or the three of an MS MARCO run")
    return parsers[columns]


def _trec(run: Run, tag: str) -> Iterator[str]:
    for query, scores in run.items():
        yield from run_lines(query, ((document, scores[document]) for document in trec_order(scores)), tag)


def _msmarco(run: Run) -> Iterator[str]:
    for query, scores in run.items():
        yield from msmarco_lines(query, trec_order(scores))
