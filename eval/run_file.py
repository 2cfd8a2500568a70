"""Runs in files: what a retriever found, read from TREC's or MS MARCO's format and written to either."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal


def read_run(path: Path) -> dict[str, dict[str, float]]:
    """The score of each document found by query, from a file of either format, plain or gzipped.

    Six columns in the first line say TREC, three MS MARCO. TREC's rank and tag are not looked at; MS MARCO's
    rank becomes the score -rank. Ids stay as they are written. DataMalformed names the file and the line:
    other columns, a score that is not a number, a rank below 1, a document found twice for a query; also a
    file that cannot be read or holds no lines.
    """
    raise NotImplementedError


def write_run(
    path: Path,
    run: Mapping[str, Mapping[str, float]],
    tag: str = "spanwise",
    form: Literal["trec", "msmarco"] = "trec",
) -> None:
    """Write the documents of each query, best first in the order of trec_eval; gzipped where named `.gz`.

    White space in ids is percent-encoded by `trec_id`. `tag` names the system, in TREC's format alone.
    """
    raise NotImplementedError
