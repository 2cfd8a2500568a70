"""MS MARCO runs: the ranked documents of each query, `qid docid rank`, divided by tabs and without scores.

Source: the submission format of the MS MARCO passage ranking task.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .query_table import Row, integer
from .trec_run import trec_id


def msmarco_row(line: bytes) -> Row[float]:
    """The query, the document and the score of a line: -rank, so that higher is better.

    ValueError: not three columns, or a rank that is not an integer of at least 1.

    >>> msmarco_row(b"q1\\td7\\t2")
    ('q1', 'd7', -2.0)
    """
    fields = line.split()
    if len(fields) != 3:
        raise ValueError(f"{len(fields)} columns; expected `qid docid rank`")
    rank = integer("rank", fields[2])
    if rank < 1:
        raise ValueError(f"the rank is {rank}; expected at least 1")
    return fields[0].decode(), fields[1].decode(), -float(rank)


def msmarco_lines(query: str, ranking: Iterable[str]) -> Iterator[str]:
    """The lines of one query, best first, with their ends; ranks count from 1.

    >>> list(msmarco_lines("q1", ["d7"]))
    ['q1\\td7\\t1\\n']
    """
    for rank, document in enumerate(ranking, start=1):
        yield f"{trec_id(query)}\t{trec_id(document)}\t{rank}\n"
