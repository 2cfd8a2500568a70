"""TREC runs: the ranked documents of each question, `qid Q0 docid rank score tag`, one line each.

Source: the input format of trec_eval. Its fields are divided by white space, so ids that hold some are
written with it percent-encoded, and "%" too; nothing is decoded when a run is read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator

from .query_table import Row

_UNFIT = re.compile(r"[\s%]")


def trec_id(name: str) -> str:
    """The id as it is written into a run or into judgements; ValueError: an empty one.

    >>> trec_id("My notes/mill.md")
    'My%20notes/mill.md'
    """
    if not name:
        raise ValueError("an id is empty; a run or judgements cannot hold it")
    return _UNFIT.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), name)


def run_lines(question_id: str, ranking: Iterable[tuple[str, float]], tag: str) -> Iterator[str]:
    """The lines of one question, best first, with their ends; ranks count from 1.

    >>> list(run_lines("q1", [("d7", 2.5)], "bm25"))
    ['q1 Q0 d7 1 2.5 bm25\\n']
    """
    for rank, (document, score) in enumerate(ranking, start=1):
        yield f"{trec_id(question_id)} Q0 {trec_id(document)} {rank} {float(score)!r} {trec_id(tag)}\n"


def trec_row(line: bytes) -> Row[float]:
    """The query, the document and the score of a line, ids as they are written.

    The rank and the tag are not looked at. ValueError: not six columns, or a score that is not a number.

    >>> trec_row(b"q1 Q0 d7 1 2.5 bm25")
    ('q1', 'd7', 2.5)
    """
    fields = line.split()  # at ASCII white space alone, as in C
    if len(fields) != 6:
        raise ValueError(f"{len(fields)} columns; expected `qid Q0 docid rank score tag`")
    return fields[0].decode(), fields[2].decode(), _score(fields[4])


def _score(field: bytes) -> float:
    try:
        score = math.nan if b"_" in field else float(field)  # 1_0 is a number to Python alone
    except ValueError:
        score = math.nan
    if math.isnan(score):
        raise ValueError(f"the score is {field.decode()!r}; expected a number")
    return score
