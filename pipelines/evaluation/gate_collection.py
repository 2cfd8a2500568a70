"""How the present system ranks the documents of a gate's test collection."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...corpora.collections import Collection
from ...eval.ranking.measures import parse_measure
from ..progress import Report, silent
from .result_folder import ResultFolder
from .retrieval import collection_library, evaluate_retrieval
from .scored_files import RUN_MEASURES


def rank_documents_of(
    collection: Collection,
    out: Path,
    retriever: str,
    measures: Sequence[str] = (),
    index: Path | None = None,
    report: Report = silent,
) -> None:
    """Keeps in the result folder `out` how the judged queries are ranked.

    The collection's index is made at `index`, or in `out`, and used again when it is there.
    """
    names = list(measures or RUN_MEASURES)
    settings = {"collection": collection.name, "retriever": retriever, "measures": names}
    parsed, place = [parse_measure(name) for name in names], index or out / "index"
    with (
        ResultFolder.start(out, "gate", settings) as results,
        collection_library(collection, place, [retriever], report=report) as library,
    ):
        evaluate_retrieval(library, collection, [retriever], parsed, results, report=report)
