"""TREC runs: the ranked documents of each question, `qid Q0 docid rank score tag`, one line each.

Source: the input format of trec_eval. Its fields are divided by white space, so ids that hold some are
written with it percent-encoded, and "%" too; nothing is decoded when a run is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_UNFIT = re.compile(r"[\s%]")


def trec_id(name: str) -> str:
    """The id as it is written into a run or into judgements.

    >>> trec_id("My notes/mill.md")
    'My%20notes/mill.md'
    """
    return _UNFIT.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), name)


def run_lines(question_id: str, ranking: Iterable[tuple[str, float]], tag: str) -> Iterator[str]:
    """The lines of one question, best first, with their ends; ranks count from 1.

    >>> list(run_lines("q1", [("d7", 2.5)], "bm25"))
    ['q1 Q0 d7 1 2.5 bm25\\n']
    """
    for rank, (document, score) in enumerate(ranking, start=1):
        yield f"{trec_id(question_id)} Q0 {trec_id(document)} {rank} {score!r} {trec_id(tag)}\n"
