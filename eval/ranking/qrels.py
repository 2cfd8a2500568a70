"""Judgements: how relevant documents are to queries, as TREC and as BEIR write them.

TREC (and MS MARCO): `qid 0 docid relevance`, divided by white space. BEIR: a tab-separated file with the
header `query-id corpus-id score`. Source: the input format of trec_eval; the BEIR repository.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

from .evaluate import Qrels
from .query_table import Row, integer, read_table, write_table
from .trec_run import trec_id

_BEIR_HEADER = ["query-id", "corpus-id", "score"]


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """The relevance of each judged document by query, from a file of either format, plain or gzipped.

    DataMalformed names the file and the line: other columns, an empty id, a relevance that is not an integer,
    a document judged twice for a query; also a file that cannot be read or holds no judgements.
    """
    return read_table(path, _parser)


def write_qrels(path: Path, qrels: Qrels, form: Literal["trec", "beir"] = "trec") -> None:
    """Write the judgements; gzipped where the name ends in `.gz`.

    White space in ids is percent-encoded by `trec_id` in TREC's format and kept in BEIR's. ValueError: an
    empty id, or for BEIR one with a tab or the end of a line.
    """
    write_table(path, _beir_lines(qrels) if form == "beir" else _trec_lines(qrels))


def _parser(first: bytes) -> Callable[[bytes], Row[int] | None]:
    return _beir_row if _is_beir_header(first) else _trec_row


def _is_beir_header(line: bytes) -> bool:
    return line.split() == [name.encode() for name in _BEIR_HEADER]


def _trec_row(line: bytes) -> Row[int]:
    fields = line.split()  # at ASCII white space alone, as in C
    if len(fields) != 4:
        raise ValueError(f"{len(fields)} columns; expected `qid 0 docid relevance`, or BEIR's header above")
    return fields[0].decode(), fields[2].decode(), integer("relevance", fields[3])


def _beir_row(line: bytes) -> Row[int] | None:
    if _is_beir_header(line):
        return None
    fields = line.split(b"\t")
    if len(fields) != 3 or not all(fields):
        raise ValueError(f"expected {' '.join(_BEIR_HEADER)}, divided by tabs and none of them empty")
    return fields[0].decode(), fields[1].decode(), integer("score", fields[2])


def _trec_lines(qrels: Qrels) -> Iterator[str]:
    for query, judged in qrels.items():
        for document, relevance in judged.items():
            yield f"{trec_id(query)} 0 {trec_id(document)} {relevance}\n"


def _beir_lines(qrels: Qrels) -> Iterator[str]:
    yield "\t".join(_BEIR_HEADER) + "\n"
    for query, judged in qrels.items():
        for document, relevance in judged.items():
            if not query or not document or set("\t\r\n") & set(query + document):
                raise ValueError(f"BEIR's format cannot hold the ids {query!r} and {document!r}")
            yield f"{query}\t{document}\t{relevance}\n"
