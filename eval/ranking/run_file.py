"""TREC runs in files: what a retriever found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from .evaluate import Run
from .order import trec_order
from .query_table import Row, read_table, write_table
from .trec_run import run_lines, trec_row


def read_run(path: Path) -> dict[str, dict[str, float]]:
    """The score of each document found by query, plain or gzipped; rank and tag are not looked at.

    DataMalformed names the file and the line: other columns, a score that is not a number, a document found
    twice for a query; also a file that cannot be read or holds no lines.
    """
    return read_table(path, _parser)


def write_run(path: Path, run: Run, tag: str = "spanwise") -> None:
    """Write the documents of each query, best first in the order of trec_eval; gzipped where named `.gz`.

    White space in ids is percent-encoded by `trec_id`. `tag` names the system. ValueError: an empty id or a
    score that is not a number.
    """
    write_table(path, _trec(run, tag))


def _parser(first: bytes) -> Callable[[bytes], Row[float]]:
    if len(first.split()) != 6:
        raise ValueError(f"{len(first.split())} columns; expected the six of a TREC run")
    return trec_row


def _trec(run: Run, tag: str) -> Iterator[str]:
    for query, scores in run.items():
        yield from run_lines(query, ((document, scores[document]) for document in trec_order(scores)), tag)
