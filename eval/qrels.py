"""Judgements: how relevant documents are to queries, as TREC and as BEIR write them.

TREC (and MS MARCO): `qid 0 docid relevance`, divided by white space. BEIR: a tab-separated file with the
header `query-id corpus-id score`. Source: the input format of trec_eval; the BEIR repository.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Literal

from .query_table import Row, read_table, write_table
from .trec_run import trec_id

_BEIR_HEADER = ("query-id", "corpus-id", "score")


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """The relevance of each judged document by query, from a file of either format, plain or gzipped.

    DataMalformed names the file and the line: other columns, an empty id, a relevance that is not an integer,
    a document judged twice for a query; also a file that cannot be read or holds no judgements.
    """
    return read_table(path, _parser)


def write_qrels(
    path: Path, qrels: Mapping[str, Mapping[str, int]], form: Literal["trec", "beir"] = "trec"
) -> None:
    """Write the judgements; gzipped where the name ends in `.gz`.

    White space in ids is percent-encoded by `trec_id` in TREC's format and kept in BEIR's, which has
    ValueError for an id with a tab or the end of a line.
    """
    write_table(path, _beir_lines(qrels) if form == "beir" else _trec_lines(qrels))


def _parser(first: bytes) -> Callable[[bytes], Row[int] | None]:
    return _beir_row if _is_beir_header(first) else _trec_row
